// Package iommu is the host's IOMMU, between root ports and memory: it
// translates what adapters address by IOVA or process address, answers
// translation requests (ATS), takes page requests (PRI) and executes the
// kernel's invalidations.
//
//	root port i                     ┌───────────────────────────────┐               memory
//	     ──Req──▶ slots ─▶ context ─▶ IOTLB ── hit ──▶ order ──Out──┼─────────────▶ client i
//	               ▲      cache│  miss│                 ▲           │
//	               │ again     ▼      ▼ merge            │ waiters   │
//	               │        context  walk queue ─▶ walkers ──WalkReq┼─────────────▶ client N
//	               └──── invalidated ◀─┘  + paging-structure caches◀┼──WalkDone────
//	     ◀──Done── answers ◀─────────────────────────────── MemDone ┼◀──────────────  client i
//	     ◀─Message─ Invalidate Request, PRG response                │
//	                      command queue, ITags, page request ring ──┼─▶ Events ─▶ kernel
//	                                ▲ Commands ─────────────────────┼─────────────  kernel
//	                                └───────────────────────────────┘
//
// # Stages and latencies
//
//	hit           hit_latency from the input to memory's input
//	context miss  one read of 64 B before the look-up
//	IOTLB miss    walk_overhead, then one read for each level that no
//	              paging-structure cache knows, then as a hit. A read is
//	              two registers and walk_read. Misses of the same 4 KiB join one
//	              walk; walks beyond the walkers queue in order.
//	invalidation  IOTLB and context: from the command command_time, or longer
//	              until every request translated before is in memory
//
// A walk reads an entry when memory's answer is there, so that it sees what
// hardware would, sets the accessed bits on the way and the dirty bit where a
// store waits for it. It starts again, with the context, when an invalidation
// of its range came meanwhile: what it has read fills nothing.
//
// Interrupts (KindMSI) are not translated, but keep their place.
//
// # Shared memory
//
// Page tables are not behind a wire: the kernel writes them at instants of its
// own, and a walk reads and marks them at others. Where both fall on one instant
// the result depends on who ticks first, so the engine has to run this unit
// after the kernel. A table's memory may be freed or used for another table only
// behind an IOTLB invalidation of its range and the fence, as for frames.
//
// # Order
//
// Posted requests of a root port leave in order: one that waits for its walk
// holds back later ones, and reads that arrived behind it, of other adapters
// behind the same root port too. Reads do not wait
// for each other. Walks start on arrival, out of order.
//
// A posted request is never held because its page is absent or may not be
// written: it is dropped, and the kernel is told (EventAbsent). Its writer
// learns by its next read of KindFlush, which is answered with the status of the
// refusal instead of success: the IOMMU keeps, for each adapter, the numbers of the
// writers (msg.Address.Writer) that have one coming. A read of another writer
// takes nobody's, whatever the order in which reads leave. An absent read is
// answered with that status itself.
//
// # Invalidations and what is under way
//
// An IOTLB invalidation drops entries and marks walks at once. It is complete
// when all requests translated before have left, every read among them is
// answered and every write is placed: the IOMMU reads from memory behind the
// writes, through the client of each root port, and memory answers no read before
// the earlier writes of its client are placed. An Invalidate Completion is
// credited in the same way. So a fence means that nothing translated before is
// still under way. All answers of memory therefore pass through this unit.
//
// Commands execute in order, one after the other; a devTLB invalidation is
// done when its request is sent, and a fence holds back only its own event. An
// ITag that timed out is not used again until its late completions have come;
// when none is left that could become free, further invalidations of that
// adapter time out at once.
//
// # Ports, for each root port
//
//   - Req: requests of the root port, each within 4 KiB. Done: to the root
//     port, memory's answers and the IOMMU's own.
//   - Out, MemDone: memory's client of this root port. Tags from 0xFFC0 on are
//     the IOMMU's own.
//   - Message: to the adapter that it names, posted, for its client 1.
//
// # Ports, shared
//
//   - WalkReq, WalkDone: a client of memory of its own.
//   - Commands, Events: the kernel's command queue, and what is written for it.
//
// # Not modelled
//
// Nested translation, five-level tables, privilege and execute rights, global
// pages, the memory traffic of setting accessed bits, of the command queue, the
// page request ring and the log, translation completions of more than one entry,
// the overflow state of the page request queue (each request sees whether the
// ring has room; the next that finds it tells software of those that did not),
// and interrupt remapping.
package iommu
