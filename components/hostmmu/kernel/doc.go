// Package kernel is the operating system of a host: page table, pager, swap,
// notifier, the handler of adapters' page faults, and a CPU-side user of memory.
//
//	event, interrupt        ┌──────────────────────┐ zero, in, out, free
//	───Inbox───────────────▶│ event queue          │──────PageOp──────▶ memory
//	                        │   │ contexts, workers│◀─────PageDone─────
//	                        │   ▼                  │
//	                        │ fault job ─▶ CPU fault ─▶ swap device
//	                        │   │ ▲ ▲      ▲   │
//	                        │   │ │ seq    │   frame ◀─ reclaim ─▶ eviction
//	◀──MMIO── command queue │◀──┘ │ │      │                        │
//	  (one an adapter)      │◀────┼─┼──────┼────────────────────────┤
//	───Inbox── completion ─▶│     │ notifier  CPU threads           │
//	                        │     │ │    ▲                          │
//	───Registration────────▶│     │ registrar, prefetch,            │
//	◀──Registered───────────│     │ events, child                   │
//	                        │     group                             ▼
//	page request, absent    │   ring handler            IOMMU commands, fence ──IOMMU──▶
//	───IOMMUEvents─────────▶│                           response, DMA domain
//	                        └──────────────────────┘
//
// # Schemes
//
// Each adapter has its own. What one pins is pinned for all.
//
//	pinned           table filled at registration; nothing leaves
//	odp              table filled by faults
//	suspend          as odp; what a page that moves or leaves needs is suspended meanwhile
//	iommu            as pinned, with IOVAs; the DMA domain maps them
//	iommu, process   no table: the IOMMU walks the process's page table
//	sva              no table: the adapter asks the IOMMU, which walks it
//
// Behind an IOMMU tables of the first three hold IOVAs too. An IOVA is the
// process address. Walks set accessed and dirty bits of the process's page
// table, so that the clock sees what sva adapters ask for; what their own
// caches answer it sees only where clearing a bit flushes them
// (host.pager.flush_on_clear).
//
// # A fault, in order
//
//	interrupt, a context (else the event stays queued), a worker, driver
//	map        wait while the page is being invalidated, note its sequence number,
//	           CPU fault: minor (present, or zero-filled) or major (swap read)
//	update     then, if no sequence number has changed, DMA mapping and CmdFill;
//	           else map again
//	resume     after the fill's completion, CmdResume; the context is free when
//	           that is complete
//
// A fault of several pages holds what it has while it waits for a frame only if
// it is the eldest, so that faults never wait for each other's frames; it gets
// no more at once than memory can hold.
//
// One CPU fault serves all that wait for its page; each event gets a resume of
// its own. An event that no region covers or permits is resumed with an error;
// one that meets invalidations past the deadline is resumed with success, and
// the adapter faults again if it must.
//
// # A page request, in order
//
//	interrupt, a batch off the ring (its places given back), groups made whole
//	a context and a worker as above, driver, CPU faults with the right asked for
//	response   success, or invalid at the first page that the process has not
//
// Nothing is filled in: the adapter asks for the translation again. A page that
// an untranslated request met absent is brought in likewise, without an answer.
// A page that gets the right to store is flushed from the IOTLB first.
//
// # An eviction, in order
//
//	state and sequence number change (mapped or not), checks
//	tables     CmdInvalidate, under suspend CmdSuspend, to every adapter whose
//	           table may hold the page; all acknowledge; bookkeeping
//	unmapping  DMA-domain entry cleared; where an adapter walks the page table,
//	           its entry too
//	IOMMU      in one batch: IOTLB flush of the domain, of the process, devTLB
//	           invalidations, fence
//	           dirty mark: pages that the CPU stored to, an adapter's table let it
//	           store to, or a walk for a store found
//	           page-table entry cleared if it is not, CPU TLBs flushed (record: Done)
//	content    dirty: to the swap slot, device write; clean: dropped
//	frame free
//	suspend    entries absent, suspension ended
//
// A page that nobody maps skips the commands; one that no IOMMU knows, the
// batch. Commands belong to their fault or eviction, or come back with a fence,
// so that neither needs memory to go on. Direct reclaim runs when a fault finds
// no frame; background reclaim between two watermarks. A page is not a victim
// while pinned, while a fault or a CPU access holds it, and in its grace: the time
// after a fault's resume or response, and after an invalidation that overtook the
// fault. Nor is it an event's.
//
// A table entry counts as mapped from the moment its fill is queued. Commands of
// an adapter execute in the order of the queue, so that an invalidation of the
// page lands after the fill, and a later fill after the invalidation.
//
// Deferred unmapping gathers pages that left the DMA domain and flushes the
// IOTLB for all at once. Their frames are free before: DeferredStale tells which
// pages they were. None is mapped again before its flush.
//
// # An adapter that does not answer
//
// When its oldest command, or an invalidation that the IOMMU sent it, is
// unanswered for the time-out, its root port is told to take no more, and gets
// the time to let through what it has taken. Then its commands and faults end,
// invalidations go on without it, and nothing that it says counts.
//
// # Events
//
// Each is an invalidation, with another end, and has an interval under
// host.events and a method of its own:
//
//	migrate   copied to another frame; the old one is free; under suspend the
//	          entries are filled in anew before the suspension ends
//	protect   stays; its entries lose the right to store, and the next store
//	          faults for it. Adapters drop it, or (protect_by) keep it to read.
//	          The way back tells adapters that hold it as not storable
//	fork      stays, as protect, for all pages of a run: shared with a child
//	cow       a store to a shared page: adapters told, content copied to another
//	          frame, then mapped; the old frame is the child's until it exits
//	unmap     content given up in frame and swap: the next touch finds zeros
//	split     stays; 512 leaves instead of one
//	collapse  a split page is copied to another frame, under one leaf
//
// An event that leaves pages in their frames suspends nothing: under suspend
// adapters drop them, as under odp. Where an adapter walks the page table, its
// entries change behind the acknowledgements of tables and before the IOMMU's
// batch. Entries that are dropped leave the DMA domain.
//
// Pinned pages and those in their grace have no events. A store that copies takes a CPU fault's time, and
// a frame; without one it waits as any fault does, or until the child exits. A
// pin breaks sharing first.
//
// The content check knows one owner of a frame. So a shared frame stays the
// parent's, and one that the parent has copied away from belongs to no page
// while the child has it: free + resident + in transit + held are all frames.
// What an unmapping discards is discarded from the expectation too, at the
// instant at which the frame leaves the page: it is no lost write, and what
// reaches the old frame later is stale.
//
// # Prefetch
//
// Advise, or a fault where host.prefetch says so, makes pages of a region
// present and fills their entries, in runs of up to 64, by the sequence rule of
// faults. It takes driver's and update's time and a command a run, in which what
// it does not want keeps its entries. It takes no
// frame below the low watermark or that a fault waits for, holds no page while it
// waits, and never takes a right away. What it cannot have it leaves. For an
// adapter that walks the page table it makes pages present, and no more.
//
// # An implicit region
//
// An adapter under odp can have one region over the whole address space in the
// place of all others (AdapterConfig.Root). A fault or prefetch finds, or makes,
// the child of its GiB and uses it until it ends. Commands for it are posted as
// they are decided, and nobody waits for them: their order in the adapter's
// queue is what counts.
//
//	fault      register the child if there is none; fill; the list's entry, if it
//	           does not name the child; resume
//	last page  behind the zap: the list's entry null; when no fault or prefetch
//	           uses the child, deregister it, which drains. Its key is retired
//	           when that is done, and serves again as another variant
//
// A fault whose child was detached meanwhile walks again, with another one.
// Registration maps no pages.
//
// # Registration as work
//
// A dynamic region is neither pinned nor mapped at time 0. A change of one is
//
//	register (pinned)   the call; frames promised, all or none; page by page CPU
//	                    fault, pin, DMA mapping; the table, a chunk a command; the key
//	register (demand)   the call; the key; in a table the pages that are present
//	deregister          the call; the key, which drains; faults, prefetches and
//	                    invalidations that use the region, with the suspensions
//	                    that they end, are over; the table cleared; DMA unmapping
//	                    and its flush; unpinning
//	fast register,      a key command; pages stay pinned. Of a region with a window
//	local invalidate    it binds and invalidates that: the region gives peers no right
//	remote invalidate   software has seen that a peer's SEND did as much
//	advise              as Advise, of the whole region
//
// Two frames stay unpinned as long as any page may fault. A region has one change
// under way; those of different regions overlap, in their adapter's command queue
// too. Keys keep their index; the variant changes with each deregistration and
// fast registration.
//
// Remap is the process unmapping a dynamic region and mapping fresh memory there.
// A registration that pins is not told: it keeps the old frames, to which its
// peers' DMA goes, stale by design, until it is deregistered. Software gets a
// notice, merged with earlier ones that it has not taken, and the number of the
// mapping.
//
// # Ports
//
//   - Inbox: events (*msg.Event) and interrupts of adapters, completions
//     (*msg.Command); other entries are counted and dropped.
//   - Adapters[i].MMIO: doorbells of adapter i's command queue, and Disable.
//   - PageOp, PageDone: what happens to frames' content, done by memory.
//   - Registration, Registered: changes of dynamic regions and their answers, and
//     notices; nil where no region is dynamic.
//   - IOMMU, IOMMUEvents: the IOMMU's command queue, and fences, page requests
//     and absent pages; nil without an IOMMU.
//
// Swap slots are numbered like process pages. Registration of other regions
// happens before time 0; its cost is a closed form in Stats.RegistrationTime.
//
// # Not modelled
//
// Implicit regions under suspend, several of an adapter, and their registration
// as work; the wait for the command that makes a child. Several processes, the lock of a whole region (sequence numbers and locks
// are per page), completion interrupts of the command queue, ResponseFailure (no
// group lacks memory), the CPU time that handlers take from other threads, and
// an adapter's return to the bus.
//
// A child's stores, more than one child, its copies of pinned pages and its
// share of swapped ones. Paging in units smaller than host.page: a split page is
// one frame and leaves as one, comes back or moves under one leaf, and a collapse
// gathers no scattered frames. Page-table writes take no time of their own.
// Protection domains of advice. System calls that wait for each other, and
// dynamic regions under adapter pages larger than the host's. A remap under a
// registration that pins behind an IOMMU: old and new frame would need the same
// IOVA, and it is refused.
package kernel
