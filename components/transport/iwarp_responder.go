package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
	"rnicmmu/model/tcp"
)

// iwarpResponder is the host's end of iWARP connections. It stands on a
// Responder, which executes what TCP delivers.
type iwarpResponder struct {
	*Responder
	early   earlies
	held    int64 // bytes of the receive buffer that early segments take
	streams []recvStream
	keeps   bool // early segments
	begun   int  // responses whose READ was dropped in the middle of them
}

// recvStream is the TCP connection of a QP.
type recvStream struct {
	stream
	sent     clocked.FIFO[*msg.Packet] // responses not acknowledged: the adapter keeps them
	cursor   uint32                    // of these, the one that begins at the next byte to send
	ackHead  int32                     // segments executed, in replies, until their point of acknowledgement
	ackTail  int32
	back     *msg.Packet // requests whose ledgers the next packet takes back
	backTail *msg.Packet
	dropped  bool   // the segment expected was dropped for its page and has not come again
	from     uint32 // bytes of a READ that were read before its request was dropped
	more     bool   // the ACK of what was taken last waits for what is taken next
	dead     bool   // nothing is executed any more
	broken   bool   // the bus failed behind a segment that is not acknowledged: none is any more
	ended    bool   // a Terminate message was sent: no response is any more
	gaveUp   bool
}

func newIWARPResponder(r *Responder, first uint32) (*iwarpResponder, error) {
	t := &iwarpResponder{Responder: r, streams: make([]recvStream, r.spec.QPs), keeps: r.spec.TCP.OutOfOrder == "hold"}
	r.drop = true // a paused port would hold the ACKs back that make room
	for i := range t.streams {
		s, err := r.spec.stream(first)
		if err != nil {
			return nil, err
		}
		t.streams[i] = recvStream{stream: s, ackHead: none, ackTail: none}
	}
	return t, nil
}

// buffered is none for what only acknowledges.
func (r *iwarpResponder) buffered(p *msg.Packet) int64 {
	if p.Segment.Bytes == 0 {
		return 0
	}
	return int64(p.WireLen) - gapBytes
}

// arrived lets the acknowledgement of a segment act at once; its data wait for
// their turn.
func (r *iwarpResponder) arrived(now clocked.Time, qp int32, p *msg.Packet) bool {
	r.acknowledged(now, qp, p)
	return p.Segment.Bytes > 0
}

// next puts what was kept and is in order now before the rest.
func (r *iwarpResponder) next(qp int32, q *recvQP) bool {
	s := &r.streams[qp]
	for p := r.early.front(&s.stream); p != nil && !tcp.Before(s.in.Next(), p.Segment.Seq); p = r.early.front(&s.stream) {
		e := r.early.pop(&s.stream)
		r.held -= e.bytes
		if p.Segment.Seq == s.in.Next() {
			r.line(q, arrival{packet: p, qp: qp, bytes: e.bytes, at: p.Ledger.Last}, true)
			break
		}
		r.used -= e.bytes // it came once more meanwhile
		r.pool.Put(p)
	}
	return q.head != none
}

// check is TCP's part: only what is in order is executed.
func (r *iwarpResponder) check(now clocked.Time, qp int32, q *recvQP) {
	s := &r.streams[qp]
	p := r.first(q)
	if s.dead {
		s.reset = s.reset || s.gaveUp
		r.discard(now, q)
		r.wantEmit(qp, q)
		return
	}
	bytes := r.waiting.slots[q.head].bytes
	room := r.keeps && r.held+bytes <= int64(r.spec.Adapter.RxBuffer)/2 // what is missing must find room too
	switch s.in.Arrive(p.Segment.Seq, p.Segment.Bytes, room) {
	case tcp.InOrder:
		r.start(now, qp, q, s)
	case tcp.Kept:
		r.Stats.TCP.Held++
		r.finish(now, q)
		r.used += bytes
		r.held += bytes
		r.early.keep(&s.stream, p, bytes)
		r.duplicateAck(qp, q, s)
	case tcp.Duplicate:
		r.Stats.Duplicates++
		s.seen(p)
		r.pool.Put(p)
		r.finish(now, q)
		r.duplicateAck(qp, q, s)
	default:
		r.discard(now, q)
		r.duplicateAck(qp, q, s)
	}
}

func (r *iwarpResponder) parked() int { return r.begun }

// start starts the execution of the segment that is in order.
func (r *iwarpResponder) start(now clocked.Time, qp int32, q *recvQP, s *recvStream) {
	if s.dropped {
		s.dropped = false
		r.Stats.TCP.Returned++
		if q.open != none {
			r.begun--
		}
	}
	q.offset, s.from = s.from, 0
	o := q.packet.Opcode
	if o.TakesReceive() && !r.posted(now, q) {
		r.terminate(now, qp, q, ddp.NoBuffer())
		return
	}
	r.admit(now, qp, q)
}

// unchecked is what the look-up at va serves: DDP checks each segment of a WRITE
// on its own, and does not know how long the message will be. A READ request
// is checked whole.
func (r *iwarpResponder) unchecked(_ int32, q *recvQP, va model.VA) uint32 {
	if p := r.first(q); p.Op == model.OpWrite {
		return min(p.MsgLen-p.Offset-q.offset, toBoundary(uint64(va), r.spec.AdapterPage.Bytes()))
	}
	return r.rest(0, q)
}

// rest is that of the segment; a READ request tells of all its bytes.
func (r *iwarpResponder) rest(_ int32, q *recvQP) uint32 { return q.packet.Bytes() - q.offset }

// authorize has nothing to add to the key check.
func (r *iwarpResponder) authorize(clocked.Time, int32, *recvQP) bool { return true }

// reconsider has no reason to put anything off.
func (r *iwarpResponder) reconsider(clocked.Time, int32, *recvQP) {}

func (r *iwarpResponder) stop(qp int32) { r.streams[qp].dead = true }

// absent counts an absent page of the head, which is dropped.
func (r *iwarpResponder) absent(now clocked.Time, qp int32, q *recvQP, o msg.Outcome) {
	r.first(q).Access.Counts.TCPDrops++
	if o == msg.OutcomeMoving {
		r.Stats.TCP.DropsMoving++
	} else {
		r.Stats.TCP.DropsAbsent++
	}
	r.putOff(now, qp, q)
}

// putOff drops the head before TCP acknowledges it: the sender's TCP will send
// it again. Responses that a READ has begun are on their way and stay so; when
// the request comes again it goes on behind them.
func (r *iwarpResponder) putOff(now clocked.Time, qp int32, q *recvQP) {
	s := &r.streams[qp]
	p := r.first(q)
	r.letGo(q)
	q.stalled = true
	switch {
	case p.Op == model.OpSend && p.First:
		q.untakeReceive()
	case p.Op == model.OpRead:
		s.from = q.offset
	}
	if q.open != none {
		r.begun++
	}
	s.in.Refuse(p.Segment.Bytes)
	if s.more {
		s.more = false
		r.duplicateAck(qp, q, s) // not a duplicate: those before it have waited for it
	}
	s.dropped = true
	r.pool.Put(p)
	r.finish(now, q)
	if s.closed {
		r.endOpen(qp, q)
	}
}
