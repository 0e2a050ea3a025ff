// Package pcie is PCI Express links from their transactions down to their data
// link layer: the adapter's Endpoint, the host's RootPort, the two lines between
// them, and the Switch that puts several adapters behind one root port. Rules
// without a clock are in model/pcie.
//
//	            Endpoint                      line up                      RootPort
//	Req 0 ──▶┌───────────┐ offers ┌──────┐  ═══════════════▶  ┌───────┐ P ┌───────┐
//	Req 1 ──▶│ accept:   │  P  ──▶│choose│─▶ replay buffer    │ check │──▶│ oldest│──MemReq──▶
//	         │ 1 a cycle │  NP ──▶│ [tag,│   Ack Nak UpdateFC  │  seq. │──▶│ first │
//	         │ and client│        │credit]   of the line down │       │ NP└───────┘
//	         └───────────┘        └──────┘                    └───────┘
//	                      ┌───────┐           line down        ┌──────┐ offers ┌──────────────┐◀─MemDone──
//	Done i ◀── data back ◀│ check │◀═══════════════════════════│choose│◀─ CPL ─│ cut by RCB   │◀─Answers──
//	Doorbell i ◀─ in order│  seq. │  Ack Nak UpdateFC of the   │[credit]◀─ P ──│ cut by 64 B  │◀─MMIO─────
//	                      └───────┘  line up                   └──────┘        └──────────────┘◀─Message──
//
//	                       Switch: a link for each port, as above
//	  root port ══▶┌────────┐                             ┌────────┐══▶ Endpoint 0
//	               │ port 0 │ check ─▶ route ─▶ queue of  │ port 1 │
//	            ◀══│        │ latency   the egress for    │        │◀══
//	               │ choose │◀─ turn ─  each ingress      ├────────┤══▶ Endpoint 1
//	               └────────┘                             │ port 2 │◀══
//	                                                      └────────┘
//
// Stages and their times:
//
//	accept      at an edge of the adapter's clock: one DMA a client, clients in rotation
//	wait        for a tag and completion space (reads), credits, the replay buffer, and the line
//	serialize   bytes on the wire × the exact rational byte time
//	line        link_latency: pipelines of both ends and flight; then the whole TLP (in flit
//	            mode, its last flit) is there and is checked
//	switch      the switch's latency from the arrival on, then as accepted at its egress
//	drain       when the memory port, client, completion buffer or egress of a switch takes it
//	credit      UpdateFC leaves when its timer ends and the line is free, and takes the
//	            line and its latency; Ack likewise
//	answer      a read: one hop after its last byte; a write: one adapter cycle
//	            after its last byte has left onto the line
//
// Sizes are those of model/pcie: 8 bytes of framing and LCRC, a header of 12
// bytes (completions, requests below 4 GiB) or 16 (requests above, messages), 4
// for a PASID's prefix, 4 for ECRC, and the double words that the payload touches:
//
//	MWr of n bytes, MRd          header + n, header
//	CplD of n bytes, Cpl         20 + n, 20
//	translation request          as MRd   (KindATS; its CplD: 20 + 8 a translation)
//	Page Request, PRG Response   24       (KindMessage, up; Message, down)
//	Invalidate Request           24 + 8   (Message, down)
//	Invalidate Completion        24       (KindMessage, up)
//
// Messages are posted: they stay in order with writes, take a header credit and
// for data a data credit, and cannot be held up by translations. A translation
// request is a read with a tag. A request that host memory or the IOMMU answers
// without success ends with a completion that has no data; its read is done when
// all its requests are, with the worst status among them.
//
// A TLP is chosen only when the line is free, so that what is chosen depends on
// what waits at that instant and never on when the sender happened to be awake.
// Among the TLPs that may go, the oldest goes; who may pass whom is the ordering
// table of model/pcie, and what is done where it leaves that open is pcie.pass.
//
// A line works out what its data link layer has sent when either end looks, so
// that Ack, Nak, UpdateFC and SKP take their time on the line and cost no event.
// A link that loses nothing has no replay timer and keeps no copies; the replay
// buffer is only counted. What goes wrong on
// purpose is pcie.inject.
//
// Who sends is a Requester ID, the adapter's number, which requests carry to
// memory and answers, doorbells and messages carry back. MMIO writes go to an
// adapter's window of addresses, which has a part for each client, and so do
// requests of other adapters behind the same switch: writes become doorbells,
// reads are answered at once. The root port serves no window. Each egress of a
// switch has a queue for each ingress, takes from them in rotation, and keeps the
// ordering table within each; docs/pcie.md has the rest.
//
// Where two wires lead to the root port it takes from them in turn. From the
// instant at which a doorbell with Disable is at the head of MMIO it drops what
// that adapter sends to it, returns the credits and answers nothing; what memory had
// before is still answered, and the adapter's requests time out.
//
// A client must take from its Doorbell and Done ports whatever its Req port
// does: a doorbell left standing holds back completions behind it, as in
// hardware. Its own writes wait behind its own reads only if more than
// read_queue reads are accepted and not yet sent.
//
// Not modelled: AtomicOps and other non-posted TLPs with data, several functions of
// an adapter (IDO acts by adapter and PASID), bit errors in what a link sends while
// it retrains and DLLPs lost in it, several traffic classes (so an invalidation has
// one completion), reads of the adapter by the host, the content of what a peer
// reads, the link's training at the start and changes
// of its speed, width or power, L0s and L1, UpdateFC without news (they matter
// only where one was lost), sequence numbers of flits (damage takes the flit, and
// replay goes by TLPs), what DL_Down completes on its own, and a mixture of tags
// of 8 and 10 bits.
package pcie
