// Package contract holds the tests that Akita's stock components (TLB, MMU,
// ideal memory controller, direct connection) behave on the engine, ports and
// connections of package clocked as on Akita's own, to the last bit of every
// time. It is apart from clocked because those components import Akita's
// tracing, and with it two SQL drivers.
//
//	          ┌──────────── connection ───────────┐
//	agent ────┤ translations      TLB top         │
//	          └───────────────────────────────────┘
//	          ┌──────────── connection ───────────┐
//	          │ TLB bottom        MMU top         │
//	          └───────────────────────────────────┘
//	          ┌──────────── connection ───────────┐
//	agent ────┤ reads, writes     memory top      │
//	          └───────────────────────────────────┘
package contract
