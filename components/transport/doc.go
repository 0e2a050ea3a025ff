// Package transport is the reliable connection (RC) of InfiniBand and RoCE, and
// iWARP: the Requester is the send side of a peer's adapter, the Responder the
// receive side of the host's. The rules are those of model/rc, or of model/tcp
// and model/ddp; here they get their time: in rc_*.go and iwarp_*.go what the two
// protocols do differently (protocol.go), in requester_*.go and responder_*.go
// what they share.
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
//	               stops at its window, at max_rd_atomic and at a fence, behind
//	               which nothing is read or sent before all earlier READs and
//	               atomics are answered
//	               latency: serialization + adapter.tx_pipeline + network.latency
//	answers        an ACK completes everything before it; READ data is written
//	               to the peer's memory, then a 64 B completion entry
//	RNR NAK        nothing leaves before the timer of its code ends; then the QP
//	               goes on from the packet that was refused
//	loss           sequence NAK, skipped response or time-out: go back once a loss
//	budgets        come back in full with any progress; used up, the request fails
//	               and the rest of the QP is flushed
//
// What follows from an answer or a timer is asked of model/rc; the window, the
// order of the QPs and where the timer stands are the unit's own.
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
//	invalidation   of the key that a SEND names: its data are on their way, its
//	               ACK and receive completion follow when the TPT has answered;
//	               a key that is not valid stops the QP without a NAK
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
// # Absent pages that only the bus finds
//
// An IOMMU may answer a read of a READ's data with a retry when later requests
// are long executed. The response becomes an RNR NAK and those behind it do not
// leave; the READ is asked for again from there. An atomic's execution is
// undone. A posted write is answered by nobody: behind each piece that is
// translated at the root complex by process address a read of the same place
// proves that it met its page, and its QP goes on when that is back (1 PCIe read
// a piece, whatever qp.ack_point says). A retry there is an RNR NAK too, but of
// an atomic, which may have taken place, a remote operational error, as is
// every read that the bus ends for good.
//
// # What cannot be read
//
// A read may end without data: refused, aborted, poisoned, or not at all
// (msg.Status). Who asked for it does not ask again, and what it was for ends:
//
//	QP context            the QP stops without a word, as it has nothing left to
//	                      answer by; the peer's retries run out. An asynchronous
//	                      event of the adapter (local catastrophic error), counted
//	receive work request  remote operational error; no receive completes
//	READ data, atomic     remote operational error in the place of the response
//	proof, flush          the same in the place of the ACK: nobody knows whether
//	                      the write is in memory
//	work request          of the requester: its QP sends nothing more from there on;
//	                      what is before it ends as ever, then it ends with a local
//	                      operation error, and the rest is flushed
//	data to send          the same; a local protection error where the bus refuses
//	                      them (which of the two is an assumption)
//
// Under iWARP a Terminate message stands for the NAK, and a reset for the end at
// the requester.
//
// # Backup ring
//
// With fault_response backup the bytes that a WRITE or SEND has for an absent
// page go to a ring in pinned host memory, and the packet counts as placed:
//
//	packet ──DMA──▶ ring ── page there (Translate, held) ── software ──DMA──▶ page
//	          │                                                         │
//	          └ ACK                             receive completion ─────┘
//
// The adapter asks for the pages of the oldest adapter.backup_ahead entries,
// each under a fault of its own, and software merges those that are there, one
// in adapter.backup_copy. What overlaps waits for its turn: a WRITE or SEND over
// bytes in the ring follows them there, a READ or atomic of them meets RNR NAKs,
// as all do when the ring is full. A receive completion, and the invalidation of
// a SEND, waits for the QP's entries. Simplified against software of a real
// host: the merge is a DMA of the adapter's, so that the bytes cross PCIe twice;
// WRITEs to other pages overtake the ring, so that software which polls memory
// may see them first; the CPU may touch a page between its coming and the merge;
// and a region given up before it loses what the ring holds for it, which stops
// the QP.
//
// # Defects of the field
//
// qp.damming and qp.flood reproduce what [Fukuoka21] found in adapters. Damming:
// a request posted during an RNR wait does not leave with the packets that the
// wait held back; the ACK time-out, or a sequence NAK for a later packet, brings
// it out. Flood: READs that met an absent page come again at qp.flood_interval,
// and the QPs learn one after the other, each in qp.flood_update, that it is
// there. There the page is the requester's own, and what comes in vain is data;
// here it is the responder's, and what comes in vain is the READ.
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
// # iWARP
//
// With Spec.TCP the same two units, with the same ports, speak MPA, DDP and
// RDMAP over a TCP connection for each QP. protocol.go says what differs; QP
// contexts, receive work requests, translations, transfers and points of
// acknowledgement are those above.
//
//	request ──▶ DDP segments ──▶ TCP ═══▶ pipeline ──▶ TCP ──▶ receive buffer, execution
//	                              ▲       ACK field      early: kept, or dropped
//	                              │       acts at once   in order: page there? taken : dropped
//	placed ◀── responses ◀────── TCP ◀═══ window, copies until acknowledged ◀── responses, ACKs
//
//	segments       one DDP segment in one TCP segment, of qp.mtu bytes of data, with
//	               IPv4 and the headers of iwarp_stream.go and model/ddp around it; a
//	               QP stops at its congestion window, the offered window, and
//	               max_rd_atomic. qp.window, the RNR, retry and defect parameters
//	               of qp and adapter.rx_full have no meaning
//	WRITE, SEND    complete when TCP has acknowledged their last byte
//	READ, atomics  complete when the last response is placed; responses have a
//	               congestion window of their own and are kept until acknowledged
//	order          requests complete in order: an acknowledged WRITE waits for the
//	               READ before it (send_queue)
//	absent page    the segment is dropped before TCP acknowledges it. The fault
//	               goes on meanwhile; what is behind is early, and TCP's own rules
//	               bring the segment again: fast retransmit when three segments
//	               follow, else the time-out. Of a READ the request is dropped;
//	               responses begun before stay, and it goes on behind them. With
//	               fault_response hold the segment waits in the receive buffer
//	refusal        a Terminate message behind earlier responses; what it refuses is
//	               not acknowledged, so that request ends as terminated and the
//	               rest is flushed. So ends a SEND without a receive buffer, for
//	               there is no RNR NAK, and one whose key to invalidate is not valid
//	give-up        after tcp.retries time-outs in a row: the oldest request ends as
//	               retry_exceeded, and a reset tells the other side
//	receive buffer full, it drops; early segments take half of it at most
//
// That a page which is absent makes the adapter drop a TCP segment is this
// model's own reading of what TCP permits: no published adapter does it, and
// none of the iWARP drivers in [Linux] knows on-demand paging.
//
// On the ledger, the wait for a time-out is rto_wait, for everything in flight;
// what fast retransmit sends again was retransmit up to there; a segment kept
// out of order waits in rx_buffer; an ACK that is delayed in responder. The
// first ACK of a request brings its packet's ledger back.
//
// Of iWARP are not modelled: MPA's markers, connections that open and close,
// more READs than the responder has places for, windows that shrink, and a
// READ that waits for a page which only the IOMMU finds absent, when TCP has
// taken its request: it ends the stream.
//
// End-to-end credits, SRQ, memory windows, immediate data, path migration,
// congestion control, losses on the network itself; placement out of order (a
// packet ahead of its turn meets a sequence NAK or is dropped);
// values of atomics and their exclusion between QPs; a context evicted while its
// packet waits is not read again; faults of the requester's own memory (peers'
// memory is pinned); ACKs are not coalesced by the responder, though the
// requester accepts that; a READ or atomic is counted as executed when it is
// translated, before its data is read.
package transport
