// Package kernel is the operating system of a host: page table, pager, swap,
// notifier, the handler of adapters' page faults, and a CPU-side user of memory.
//
//	event, interrupt        ┌──────────────────────┐ zero, in, out, free
//	───Inbox───────────────▶│ event queue          │──────PageOp──────▶ memory
//	                        │   │ contexts, workers│◀─────PageDone─────
//	                        │   ▼                  │
//	                        │ fault job ─▶ CPU fault ─▶ swap device
//	                        │   │   ▲      ▲   │
//	                        │   │   seq    │   frame ◀─ reclaim ─▶ eviction
//	◀──MMIO── command queue │◀──┘   │      │                        │
//	  (one an adapter)      │◀──────┼──────┼────────────────────────┘
//	───Inbox── completion ─▶│   notifier  CPU threads
//	                        │      ▲               │
//	───Registration────────▶│ registrar, prefetch, │
//	◀──Registered───────────│ events, child        │
//	                        └──────────────────────┘
//
// # A fault, in order
//
//	interrupt, a context (else the event stays queued), a worker, driver
//	map        wait while the page is being invalidated, note its sequence number,
//	           CPU fault: minor (present, or zero-filled) or major (swap read)
//	update     then, if no sequence number has changed, CmdFill; else map again
//	resume     after the fill's completion, CmdResume; the context is free when
//	           that is complete
//
// A fault of several pages holds what it has while it waits for a frame only if
// it is the eldest, so that faults never wait for each other's frames.
//
// One CPU fault serves all that wait for its page; each event gets a resume of
// its own. An event that no region covers or permits is resumed with an error;
// one that meets invalidations past the deadline is resumed with success, and
// the adapter faults again if it must.
//
// # An eviction, in order
//
//	state and sequence number change (mapped or not), checks
//	CmdInvalidate to every adapter that may hold the page; all acknowledge
//	bookkeeping, DMA unmap
//	dirty mark: pages that the CPU stored to, or that an adapter could
//	page-table entry cleared, CPU TLBs flushed        (record: Done)
//	dirty: content to the swap slot, device write; clean: dropped
//	frame free
//
// A page that nobody maps skips the commands. Commands belong to their fault or
// eviction, so that neither needs memory to go on. Direct reclaim runs when a
// fault finds no frame; background reclaim between two watermarks. A page is
// not a victim while pinned, while a fault or a CPU access holds it, and for the
// grace time after a fault's resume.
//
// A table entry counts as mapped from the moment its fill is queued. Commands of
// an adapter execute in the order of the queue, so that an invalidation of the
// page lands after the fill, and a later fill after the invalidation.
//
// # Events
//
// Each is an invalidation, with another end, and has an interval under
// host.events and a method of its own:
//
//	migrate   copied to another frame; the old one is free
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
// Pinned pages have no events. A store that copies takes a CPU fault's time, and
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
// faults. It takes driver's and update's time and a command a run. It takes no
// frame below the low watermark or that a fault waits for, holds no page while it
// waits, and never takes a right away. What it cannot have it leaves.
//
// # Registration as work
//
// A dynamic region is neither pinned nor mapped at time 0. A change of one is
//
//	register (pinned)   the call; frames promised, all or none; page by page CPU
//	                    fault, pin, DMA mapping; the table, a chunk a command; the key
//	register (demand)   the call; the key; the pages that are present
//	deregister          the call; the key, which drains; faults, prefetches and
//	                    invalidations that use the region end; the table cleared;
//	                    DMA unmapping; unpinning
//	fast register,      a key command; pages stay pinned
//	local invalidate
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
//   - Adapters[i].MMIO: doorbells of adapter i's command queue.
//   - PageOp, PageDone: what happens to frames' content, done by memory.
//   - Registration, Registered: changes of dynamic regions and their answers, and
//     notices; nil where no region is dynamic.
//
// Swap slots are numbered like process pages. Registration of other regions
// happens before time 0; its cost is a closed form in Stats.RegistrationTime.
//
// # Not modelled
//
// Several processes, the lock of a whole region (sequence numbers and locks
// are per page), completion interrupts of the command queue, and the CPU time
// that handlers take from other threads.
//
// A child's stores, more than one child, its copies of pinned pages and its
// share of swapped ones. Paging in units smaller than host.page: a split page is
// one frame and leaves as one, comes back or moves under one leaf, and a collapse
// gathers no scattered frames. Page-table writes take no time of their own.
// Protection domains of advice. System calls that wait for each other, and
// dynamic regions under adapter pages larger than the host's. Memory of dynamic
// regions that are pinned starts unwritten, whatever host.pager.initial says.
package kernel
