// Package transport is the reliable connection (RC) of InfiniBand and RoCE: the
// Requester is the send side of a peer's adapter, the Responder the receive
// side of the host's. The rules are those of model/rc; here they get their time.
//
//	            Requester                                       Responder
//	Doorbell ─▶┌──────────────────┐ request packets ┌───────────────────────────┐
//	           │ send queues      │───serializer───▶│ receive buffer, a FIFO a QP│──Translate──▶ TPT
//	DMA ◀──────│ WQE and payload  │                 │ QP context, PSN, receive WQE│◀─Translation─
//	DMADone ──▶│ window, timers   │◀──serializer────│ pieces, DMA, replies in order│──Release────▶
//	           └──────────────────┘   ACK, NAK, data └───────────────────────────┘
//	                                                        │ DMA   ▲ DMADone
//	                                                        ▼       │
//	                                                     the host's endpoint
//
// # Requester, in the order of a request's life
//
//	doorbell       a plain one (8 B) costs a read of the 64 B work request; one
//	               with the work request inside does not, nor does data up to
//	               qp.inline
//	payload        read from the peer's own memory, a packet at a time, up to
//	               qp.payload_ahead packets ahead of sending; read again when the
//	               QP goes back
//	sending        one packet after the other at network.rate, QPs in turn; a QP
//	               stops at its window and at max_rd_atomic
//	               latency: serialization + adapter.tx_pipeline + network.latency
//	answers        an ACK completes everything before it; READ data is written
//	               to the peer's memory, then a 64 B completion entry
//	RNR NAK        nothing leaves before the timer of its code ends; then the QP
//	               goes on from the packet that was refused
//	loss           sequence NAK, skipped response or time-out: go back once a loss
//	budgets        come back in full with any progress; used up, the request fails
//	               and the rest of the QP is flushed
//
// # Responder, in the order of a packet's life
//
//	receive buffer shared by all QPs; full, it pauses the port or drops
//	pipeline       adapter.rx_pipeline from the last bit to the first check
//	QP context     cached; a miss writes the victim back and reads the table
//	rules          PSN, opcode, resources, receive work request (fetched in bulk)
//	translation    a page at a time, in ascending order, see below
//	DMA            writes as soon as a piece is translated; READ responses leave
//	               as their data returns, at most adapter.read_ahead of them wait
//	reply          in PSN order a QP; a WRITE's when qp.ack_point is reached
//
// A QP executes in order, its packets wait for one another; QPs do not wait for
// one another but for the wires and the receive buffer.
//
// # Translations
//
// With translate_per request one look-up serves a page for a whole message: the
// translation is held between packets and given back at the next page, at the
// message's end, when the TPT revokes it, or when no packet has come for
// adapter.hold, so that nobody waits for ever for what a dead or paused sender's
// message holds. With packet and tlp it is given back after each packet or piece. It counts as given
// back when every write that used it is on the PCIe link and every read is
// answered. The first look-up of a request (or packet) asks for the key check
// too, and so does the first after a revocation or an RNR NAK.
//
// An absent page meets an RNR NAK at the packet's PSN, for a READ at the PSN of
// the response that is missing, and what was looked up before is marked Replay
// when it comes again. With fault_response hold the TPT keeps the look-up.
//
// # Times on the ledger
//
// Each request packet opens a ledger when it leaves; the requester charges the
// access's own ledger up to then. The responder charges network, rx_buffer,
// qpc_miss, receive_wqe, responder and dma_queue on the packet's, the TPT and
// the endpoint theirs. The answer brings it back and it is joined; the wait for
// software is charged by the driver. What was sent in vain is retransmit and
// rnr_wait. An access acknowledged by a later packet's ACK, its own being lost,
// is charged network for the whole trip.
//
// # Not modelled
//
// End-to-end credits, SRQ, memory windows, immediate data and send-with-
// invalidate, path migration, congestion control, losses on the network itself;
// values of atomics and their exclusion between QPs; a context evicted while its
// packet waits is not read again; faults of the requester's own memory (peers'
// memory is pinned); ACKs are not coalesced by the responder, though the
// requester accepts that; a READ or atomic is counted as executed when it is
// translated, before its data is read.
package transport
