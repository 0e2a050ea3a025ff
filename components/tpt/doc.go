// Package tpt is the adapter's translation and protection table unit: MPT and
// MTT caches, table walker, fault unit, and the unit that executes commands and
// invalidations.
//
//	              Translate                                   Translation, Revoke
//	responder ───────────────▶┌──────────┐ hit ─────────────────────────────▶ responder
//	                          │ MPT  MTT │
//	          Release ───────▶│ look-up  │ miss ▶ MSHRs ▶ walker ─DMA read──▶ endpoint
//	             │            └──────────┘                 ◀──DMADone──────── endpoint
//	             ▼                 │ absent                        ▲
//	      ┌─────────────┐     ┌────▼──────┐  EQE, MSI, page request│
//	      │ in flight   │     │ fault unit│────────────────────────┤
//	      └──────▲──────┘     └────▲──────┘                        │
//	             │ mark, drain     │ resume, page response         │
//	      ┌──────┴─────────────────┴──────┐ fetch, table write, CQE│
//	─────▶│ command queue, invalidation   │────────────────────────┘
//	Doorbell └────────────────────────────┘  Invalidate Completion
//
// What stands behind the MTT cache is the unit's mode:
//
//	Table   the adapter's own table; an absent entry is reported to the kernel
//	        by an event. The scheme decides what addresses the table holds
//	ATC     the IOMMU, by translation requests (PCIe ATS); the cache is the
//	        address translation cache, its tag the page number. Where the right
//	        is missing, a page request asks for it (PRI)
//	Bypass  nothing: the key is checked, and the address passes as it is
//
// One Translate is accepted a cycle. Latencies, in cycles of tpt.clock:
//
//	hit                   lookup_cycles, of which the last ends in the register
//	                      to the responder
//	hit behind an         lookup_cycles twice: root and its list's entry, child and
//	implicit region       MTT
//	second level          l2_latency more
//	miss                  one DMA read a table level (one round trip each), or one
//	                      translation request, then lookup_cycles again to pass
//	                      the filled entry on
//	command               doorbell → fetch of the work request → the firmware's
//	                      time for its kind → table write → drain → CQE
//	Invalidate Request    doorbell → tpt.command.ats_invalidate → drain → completion
//	SEND with invalidate  tpt.command.local_invalidate → drain → answer
//
// The last three are executed one after another in the order in which they come;
// each sender has a share of the queue of its own. Responses to page requests
// wait for none of them. A resume that names no reported fault is refused.
//
// Rules kept here (numbers of docs/invariants.md): a key refused never causes
// a page-in; a store is never served by an entry without the write right; what
// a walk or a translation request has brought is dropped when a command touches
// the page meanwhile, and is asked for again; an invalidation, a suspension, or
// a change that takes a right or a key away is acknowledged only when every
// translation that was given out before has come back, and the acknowledgement
// is a posted write behind the DMA writes that used them. A request that waits
// here while a key is taken away is checked again before it is answered.
//
// A request that needs a miss register, a slot or room for its answer which is
// not there waits, and those behind it; a hit passes misses that are under way.
// Page requests beyond the credits wait in the order of their faults. A fault asks
// for all pages left of its message (tpt.fault.pages): by the count of its event,
// or by a group of page requests.
//
// An implicit region leads to its children by a list: its entry for the address,
// then the child's key are looked up in the MPT cache for every page, and read
// on a miss. A null entry is answered as an absent one; the fault tells the
// address. A request that was on that way when a key or a list changed goes it
// again.
//
// Absent and null entries are not cached, nor are translations without the right that was
// asked for. A line that holds some absent entries serves the present ones; for
// the others it counts as a miss. The right to store is asked of the IOMMU only
// for stores: what is cached without it serves loads, and a store asks again. Of
// a translation of a larger page the adapter's page is cached.
//
// What cannot be read (an error status, poisoned data, no completion) is not read
// again and not cached. A table's entry, or a translation: all who wait for it
// fail (remote operational error), which ends their queue pairs; no fault is
// raised and no page asked for. A prefetch is dropped. A command: the unit
// executes none any more and acknowledges none, so that the kernel gives the
// adapter up after its time-out.
//
// A suspension of entries makes them forget their frames; a fill under it stays
// suspended. One of a region leaves its entries, and answers as its key is
// checked. Both answer "moving" and raise no fault; absent entries do.
//
// Both caches can have a second level, in which a miss register looks before it
// goes to the table (l2_latency cycles more). It holds all that the first level
// holds, and a command drops a line from both. A line that is hit in the first
// level does not count as used in the second.
//
// A miss of the MTT can read ahead (tpt.mtt.prefetch). A prefetch takes a miss
// register that nobody waits for, keeps to the region, raises no fault, and is
// dropped when a command touches its line; a request for its line joins it.
//
// Tenants can share the ways of the caches (tpt.partition): a QP belongs to its
// number modulo tpt.tenants.
//
// Not modelled: paging-structure caches between the levels of the MTT, other
// indirect keys (refused), implicit ones without a table, translation requests
// for several pages, stop markers, and faults of the adapter's own send side. The
// ATC holds no part of a tpt.page: an answer for less fails.
package tpt
