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
//	                        │     │ group                           ▼
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
// while pinned, while a fault or a CPU access holds it, and for the grace time
// after a fault's resume or response.
//
// A table entry counts as mapped from the moment its fill is queued. Commands of
// an adapter execute in the order of the queue, so that an invalidation of the
// page lands after the fill, and a later fill after the invalidation.
//
// Migration is an eviction whose page is copied to another frame instead; under
// suspend the entries are filled in anew before the suspension ends.
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
// # Ports
//
//   - Inbox: events (*msg.Event) and interrupts of adapters, completions
//     (*msg.Command); other entries are counted and dropped.
//   - Adapters[i].MMIO: doorbells of adapter i's command queue, and Disable.
//   - PageOp, PageDone: what happens to frames' content, done by memory.
//   - IOMMU, IOMMUEvents: the IOMMU's command queue, and fences, page requests
//     and absent pages; nil without an IOMMU.
//
// Swap slots are numbered like process pages. Registration happens before time
// 0; its cost is a closed form in Stats.RegistrationTime.
//
// # Not modelled
//
// Several processes, the lock of a whole region (sequence numbers and locks
// are per page), copy-on-write, huge-page splitting, completion interrupts of
// the command queue, ResponseFailure (no group lacks memory), the CPU time that
// handlers take from other threads, and an adapter's return to the bus.
package kernel
