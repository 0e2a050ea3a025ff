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
// Migration is an eviction whose page is copied to another frame instead.
//
// # Ports
//
//   - Inbox: events (*msg.Event) and interrupts of adapters, completions
//     (*msg.Command); other entries are counted and dropped.
//   - Adapters[i].MMIO: doorbells of adapter i's command queue.
//   - PageOp, PageDone: what happens to frames' content, done by memory.
//
// Swap slots are numbered like process pages. Registration happens before time
// 0; its cost is a closed form in Stats.RegistrationTime.
//
// # Not modelled
//
// Several processes, the lock of a whole region (sequence numbers and locks
// are per page), copy-on-write, huge-page splitting, completion interrupts of
// the command queue, and the CPU time that handlers take from other threads.
package kernel
