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
// # Akita
//
// Engine implements Akita v3's sim.Engine, Component, Port and Connection its
// interfaces of these names, so that Akita's components and ours meet in one
// system:
//
//	unit ── Component ── Port ──┐                   ┌── any sim.Port ── any sim.Component
//	                            ├── any sim.Connection
//	unit ── Component ── Port ──┘   (Akita's or Connection)
//
// It runs on Engine, or on any other sim.Engine on which Guest has put our
// units. Units keep integer picoseconds; Akita's events keep their float
// seconds to the last bit and run in the order of Akita's serial engine, except
// that equal times are first-in first-out, which Akita leaves to its heap.
//
// Speed: a wake, its place among 64 others and the tick cost about 25 ns for
// units on one clock and 35 ns on as many clocks, without allocation; an event
// of Akita's serial engine costs some thirteen times as much (bench_test.go).
//
// Not modelled: clock periods that are no whole number of picoseconds (they
// are rounded), jitter, metastability between domains.
package clocked
