// Package tpt is the adapter's translation and protection table unit: MPT and
// MTT caches, table walker, fault unit and invalidation unit.
//
//	              Translate                                   Translation, Revoke
//	responder ───────────────▶┌──────────┐ hit ─────────────────────────────▶ responder
//	                          │ MPT  MTT │
//	          Release ───────▶│ look-up  │ miss ▶ MSHRs ▶ walker ─DMA read──▶ endpoint
//	             │            └──────────┘                 ◀──DMADone──────── endpoint
//	             ▼                 │ absent                        ▲
//	      ┌─────────────┐     ┌────▼──────┐  EQE, MSI-X (DMA write)│
//	      │ in flight   │     │ fault unit│────────────────────────┤
//	      └──────▲──────┘     └────▲──────┘                        │
//	             │ mark, drain     │ resume                        │
//	      ┌──────┴─────────────────┴──────┐ fetch, table write, CQE│
//	─────▶│ command queue, invalidation   │────────────────────────┘
//	Doorbell └────────────────────────────┘
//
// One Translate is accepted a cycle. Latencies, in cycles of tpt.clock:
//
//	hit                   lookup_cycles, of which the last ends in the register
//	                      to the responder
//	miss                  one DMA read a table level (one round trip each), then
//	                      lookup_cycles again to pass the filled entry on
//	command               doorbell → fetch of the work request → the firmware's
//	                      time for its kind → table write → drain → CQE
//
// Rules kept here (numbers of docs/architecture.md): a key refused never causes
// a page-in; a store is never served by an entry without the write right; what
// a walk has read is dropped when a command touches the line meanwhile, and the
// leaf is read again; an invalidation is acknowledged only when every
// translation of its range that was given out before has come back, and the
// acknowledgement is a posted write behind the DMA writes that used them.
//
// A request that needs a miss register, a slot or room for its answer which is
// not there waits, and those behind it; a hit passes misses that are under way.
//
// Absent entries are not cached. A line that holds some absent entries serves
// the present ones; for the others it counts as a miss.
//
// Not modelled: paging-structure caches between the levels of the MTT, indirect
// and implicit keys (refused), and faults of the adapter's own send side.
package tpt
