// Package clocked is the simulation substrate: an event engine with integer
// picoseconds, clock domains, registered wires between units and serializers
// for links.
//
//	unit A ──Push(now)──▶ Wire (a register: FIFO, depth ≥ 2) ──Peek/Pop──▶ unit B
//	                        seen at B's first clock edge ≥ now+latency
//	unit A ◀──────────── a freed slot is seen at now+back ─────────────── unit B
//
// What is sent at one instant is never seen at the same instant, in either
// direction. So the order in which units tick within an instant cannot change
// a result, and the engine's Shuffle option exists to prove it.
//
// A unit sleeps until something that concerns it becomes visible: a Push wakes
// the reader when the message is visible, a Pop wakes a writer that found the
// wire full, and Engine.Wake sets a timer. A tick with nothing to do must
// change nothing.
//
// Engine implements Akita v3's sim.Engine, so components written for Akita
// schedule their events on it; Guest lets the whole engine run inside another
// sim.Engine. Akita's float seconds appear only in those two places.
package clocked
