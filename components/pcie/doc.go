// Package pcie is one PCI Express link at transaction level: the adapter's
// Endpoint, the host's RootPort and the two directions between them.
//
//	            Endpoint                    upstream                    RootPort
//	Req 0 ──▶┌───────────┐  ┌────────┐ P  ═══════════════▶ P ┌───────┐
//	Req 1 ──▶│ accept:   │─▶│ writes │─┐  MWr, Msg          │ oldest│──MemReq──▶
//	         │ 1 a cycle │  └────────┘ ├▶[credits]─[serial.]│ first │
//	         │ and client│─▶│ reads  │─┘  MRd            NP └───────┘
//	         └───────────┘  │ + tags │
//	                        └────────┘      downstream       ┌──────────────┐◀─MemDone──
//	Done i ◀── data back ◀── CPL ◀════════════ CplD, Cpl     │ cut by RCB   │◀─Answers──
//	Doorbell i ◀── in order ◀─ P ◀════════════ MWr, Msg      │ cut by 64 B  │◀─MMIO─────
//	                                                         └──────────────┘◀─Message──
//
// Stages and their times:
//
//	accept      at an edge of the adapter's clock: one DMA a client, clients in rotation
//	wait        for a tag and completion space (reads), credits, and the link
//	serialize   wire bytes × the exact rational byte time: the table below
//	link        link_latency: pipelines of both ends and flight; then the whole TLP is there
//	drain       when the memory port, client or completion buffer takes it
//	credit      usable by the sender update_delay later
//	answer      a read: one hop after its last byte; a write: one adapter cycle
//	            after its last byte has left onto the link
//
// Bytes of a TLP on the wire, and of a request for a process (Address.PASID not
// 0, or the PASID that a message's body names) 4 more for its prefix:
//
//	MWr of n bytes, MRd          24 + n, 24
//	CplD of n bytes, Cpl         20 + n, 20
//	translation request          24       (KindATS; its CplD: 20 + 8 a translation)
//	Page Request, PRG Response   24       (KindMessage, up; Message, down)
//	Invalidate Request           24 + 8   (Message, down)
//	Invalidate Completion        24       (KindMessage, up)
//
// Messages are posted: they stay in order with writes, take a header credit and
// for data a data credit, and cannot be held up by translations. A translation
// request is a read with a tag. A request that host memory or the IOMMU answers
// without success ends with a completion that has no data; its read is done when
// all its requests are, with the worst status among them (abort, unsupported,
// retry, success).
//
// Where two wires lead to the root port it takes from them in turn. From the
// instant at which a doorbell with Disable is at the head of MMIO it drops what
// its adapter sends, returns the credits and answers nothing; what memory had
// before is still answered.
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
// wire, replay, link errors, ECRC, relaxed and ID-based ordering, several traffic
// classes (so an invalidation has one completion), Gen6 flits, reads of the
// adapter by the host, switches, and the completion timeout of a read that a
// disabled root port dropped.
package pcie
