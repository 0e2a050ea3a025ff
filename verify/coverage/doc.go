// Package coverage counts which situations runs come to: races, states with what
// meets them, full queues, cuts, sizes and outcomes.
//
//	wires of a system ──▶ Collector ──▶ Report ──▶ coverage.json, coverage.html
//	summary of the run ─▶     │           ▲
//	                          │           └── Merge: of many runs
//	                     counters, one a bin
//
// # Bins
//
// A Group declares its bins before any run; most groups are crosses. A bin that
// cannot be reached is ignored, with the reason; one that must not occur is
// illegal, and fails what runs it. A hit is an increment of a counter: no name is
// built while a run goes on.
//
// # Races
//
// What takes translations away (invalidation, suspension, protection, ATS
// Invalidate, death of a key) goes through five phases. The first is known by
// its message to the adapter, the second by the work request's arrival there, the
// last two by its completion entry as the adapter writes it and as memory tells
// the kernel; that entries are marked, by the time stamped on the invalidation's
// record and by translations called back. A race is counted when something begins at a page in
// a phase, and when a phase begins while something goes on.
//
// Inputs and Corners are configurations for it.
package coverage
