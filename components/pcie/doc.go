// Package pcie is one PCI Express link at transaction level: the adapter's
// Endpoint, the host's RootPort and the two directions between them.
//
//	            Endpoint                    upstream                    RootPort
//	Req 0 ──▶┌───────────┐  ┌────────┐ P  ═══════════════▶ P ┌───────┐
//	Req 1 ──▶│ accept:   │─▶│ writes │─┐  MWr               │ oldest│──MemReq──▶
//	         │ 1 a cycle │  └────────┘ ├▶[credits]─[serial.]│ first │
//	         │ and client│─▶│ reads  │─┘  MRd            NP └───────┘
//	         └───────────┘  │ + tags │
//	                        └────────┘      downstream       ┌──────────────┐
//	Done i ◀── data back ◀── CPL ◀════════════════ CplD      │ cut by RCB   │◀─MemDone──
//	Doorbell i ◀── in order ◀─ P ◀════════════════ MWr       │ cut by 64 B  │◀─MMIO─────
//	                                                         └──────────────┘
//
// Stages and their times:
//
//	accept      at an edge of the adapter's clock: one DMA a client, clients in rotation
//	wait        for a tag and completion space (reads), credits, and the link
//	serialize   wire bytes × the exact rational byte time; 24+n MWr, 24 MRd, 20+n CplD
//	link        link_latency: pipelines of both ends and flight; then the whole TLP is there
//	drain       when the memory port, client or completion buffer takes it
//	credit      usable by the sender update_delay later
//	answer      a read: one hop after its last byte; a write: one adapter cycle
//	            after its last byte has left onto the link
//
// A TLP is chosen only when the link is free, so that what is chosen depends on
// what waits at that instant and never on when the sender happened to be awake.
// Among the TLPs that may go, the oldest goes: posted ones pass what is blocked,
// completions pass blocked non-posted ones, nothing passes a posted one (PCIe
// Base ordering table with relaxed and ID-based ordering off).
//
// A client must take from its Doorbell and Done ports whatever its Req port
// does: a doorbell left standing holds back completions behind it, as in
// hardware. Its own writes wait behind its own reads only if more than
// read_queue reads are accepted and not yet sent.
//
// Not modelled: data link layer packets (Ack, Nak, UpdateFC) and SKP on the
// wire, replay, link errors, TLP prefixes and ECRC, relaxed ordering, several
// traffic classes, Gen6 flits, reads of the adapter by the host, switches.
package pcie
