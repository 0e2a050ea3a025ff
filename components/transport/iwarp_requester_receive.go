package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
	"rnicmmu/model/tcp"
)

// receive takes segments of the responder. While data of earlier ones wait for
// the DMA engine they stay on their wire.
func (r *iwarpRequester) receive(now clocked.Time) {
	for r.flushWrites(now) {
		if r.Ports.Rx.Peek(now) == nil {
			return
		}
		p := r.Lose.take(now, r.Ports.Rx, false)
		if int(p.QP) >= len(r.qps) || p.Lost {
			r.pool.Put(p)
			continue
		}
		p.Ledger.Charge(now, measure.CauseNetwork)
		r.segment(now, int32(p.QP), p)
		r.goOn(int32(p.QP))
	}
}

// flushWrites gives data to the DMA engine and tells whether none is left.
func (r *iwarpRequester) flushWrites(now clocked.Time) bool {
	for r.writes.Len() > 0 {
		if !r.Ports.DMA.Ready(now) {
			return false
		}
		*r.Ports.DMA.Push(now) = r.writes.Pop()
	}
	return true
}

func (r *iwarpRequester) segment(now clocked.Time, qp int32, p *msg.Packet) {
	q, s := &r.qps[qp], &r.streams[qp]
	switch {
	case s.dead:
		s.reset = s.reset || p.Segment.Bytes > 0
		r.forget(p.Acked)
	case p.Segment.Reset:
		r.forget(p.Acked)
		r.fail(now, qp, measure.StatusRetryExceeded, nil)
	default:
		r.acknowledged(now, qp, q, s, p)
		if p.Segment.Bytes > 0 {
			r.arrive(now, qp, q, s, p)
			return // which keeps the packet or puts it back
		}
	}
	r.pool.Put(p)
}

// forget puts packets back whose ledgers are of no use any more.
func (r *iwarpRequester) forget(p *msg.Packet) {
	for p != nil {
		next := p.Acked
		r.pool.Put(p)
		p = next
	}
}

// acknowledged takes the acknowledgement of a packet, and the ledgers that it
// brings back.
func (r *iwarpRequester) acknowledged(now clocked.Time, qp int32, q *sendQP, s *sendStream, p *msg.Packet) {
	e := s.out.Ack(int64(now), p.Segment.Ack, p.Segment.Window, p.Segment.Bytes == 0, int64(p.Segment.Echo))
	back := p.Acked
	p.Acked = nil
	for s.segments.Len() > 0 {
		g := s.segments.At(s.segments.Head())
		if tcp.Before(s.out.Una(), g.seq+g.bytes) {
			break
		}
		for back != nil && tcp.Before(back.Segment.Seq, g.seq) {
			back = r.putBack(back)
		}
		if req := q.sq.At(g.request); !g.reads && g.part == req.count-1 {
			part := (*measure.Ledger)(nil)
			if back != nil && back.Segment.Seq == g.seq {
				back.Ledger.Charge(now, measure.CauseNetwork)
				part = &back.Ledger
			}
			req.settle(now, part)
		}
		r.dropSegment(s)
	}
	r.forget(back)
	if e.Resend {
		if e.Fast {
			r.Stats.TCP.FastRetransmits++
		}
		if req := q.sq.At(s.segments.At(s.segments.Head()).request); !req.done {
			req.wqe.Access.Ledger.Charge(now, measure.CauseRetransmit)
		}
	}
	r.retireDone(now, qp, q, s)
}

// putBack puts a packet back and returns the one behind it.
func (r *iwarpRequester) putBack(p *msg.Packet) *msg.Packet {
	next := p.Acked
	r.pool.Put(p)
	return next
}

// dropSegment takes the oldest segment off the books.
func (r *iwarpRequester) dropSegment(s *sendStream) {
	if g := s.segments.Pop(); g.payload == payloadReading || g.payload == payloadHere {
		s.held--
	}
	s.cursor = later(s.cursor, s.segments.Head())
	s.pay = later(s.pay, s.segments.Head())
}

// settle ends the request's wait for the network; part, if not nil, says what
// it was.
func (req *request) settle(now clocked.Time, part *measure.Ledger) {
	a := req.wqe.Access
	if part != nil && part.Last-part.Sum() == a.Ledger.Last {
		a.Ledger.Join(part)
	} else {
		a.Ledger.Charge(now, measure.CauseNetwork) // acknowledged late, or by one sent before a time-out
	}
	req.done = true
}

// retireDone completes requests in their order.
func (r *iwarpRequester) retireDone(now clocked.Time, qp int32, q *sendQP, s *sendStream) {
	for q.sq.Head() != q.admitted && q.sq.Front().done {
		req := q.sq.Front()
		req.wqe.Access.Ledger.Charge(now, measure.CauseSendQueue) // behind a READ that was not answered
		if req.wqe.Op.Responds() {
			s.reads--
		}
		r.retire(now, qp, q, measure.StatusOK, nil)
	}
}

// arrive takes a segment with data.
func (r *iwarpRequester) arrive(now clocked.Time, qp int32, q *sendQP, s *sendStream, p *msg.Packet) {
	switch s.in.Arrive(p.Segment.Seq, p.Segment.Bytes, r.spec.TCP.OutOfOrder == "hold") {
	case tcp.InOrder:
		r.take(now, qp, q, s, p)
		for !s.dead {
			p := r.early.front(&s.stream)
			if p == nil || tcp.Before(s.in.Next(), p.Segment.Seq) {
				break
			}
			if e := r.early.pop(&s.stream); e.packet.Segment.Seq == s.in.Next() {
				r.take(now, qp, q, s, e.packet)
			} else {
				r.pool.Put(e.packet) // it came once more meanwhile
			}
		}
	case tcp.Kept:
		r.Stats.TCP.Held++
		r.early.keep(&s.stream, p, 0)
		s.dups++
	default:
		r.Stats.Duplicates++
		s.seen(p)
		r.pool.Put(p)
		s.dups++
	}
}

// take delivers the segment that is in order.
func (r *iwarpRequester) take(now clocked.Time, qp int32, q *sendQP, s *sendStream, p *msg.Packet) {
	gap := s.in.Gap()
	s.in.Accept(p.Segment.Bytes)
	s.acknowledge(p)
	s.ackNow = s.acks.Took(int64(now), gap) || s.ackNow
	if p.Segment.Message == ddp.Terminate {
		r.Stats.TCP.Terminates++
		r.fail(now, qp, measure.StatusTerminated, &p.Ledger)
	} else {
		r.place(now, q, s, p)
		r.retireDone(now, qp, q, s)
	}
	r.pool.Put(p)
}

// place writes the data of a response to the request that it answers, the
// oldest READ or atomic that is not answered.
func (r *iwarpRequester) place(now clocked.Time, q *sendQP, s *sendStream, p *msg.Packet) {
	s.reply = later(s.reply, q.sq.Head())
	for s.reply != q.admitted && !q.sq.At(s.reply).wqe.Op.Responds() {
		s.reply++
	}
	if int32(s.tried-s.reply) <= 0 {
		return // an answer to nothing
	}
	req := q.sq.At(s.reply)
	if p.Payload > 0 && p.Op == model.OpRead {
		*r.writes.Push() = msg.DMA{Kind: msg.KindData, Write: true, PA: r.local(&req.wqe, s.placed), Len: p.Payload,
			Oracle: msg.Oracle{Page: msg.NoPage}}
		s.placed += p.Payload
		req.wqe.Access.Placed += p.Payload
		r.flushWrites(now)
	}
	if p.Last {
		req.settle(now, &p.Ledger)
		s.placed = 0
		s.reply++
	}
}

// end ends the stream for what its own side could not read.
func (r *iwarpRequester) end(now clocked.Time, qp int32, status measure.Status) {
	if r.streams[qp].dead {
		r.flush(now, qp)
		return
	}
	r.fail(now, qp, status, nil)
	r.goOn(qp)
}

// fail ends the stream: the oldest request has the status, and the ledger of
// the Terminate message if there is one; the rest are flushed. The other side
// is told by a reset.
func (r *iwarpRequester) fail(now clocked.Time, qp int32, status measure.Status, part *measure.Ledger) {
	q, s := &r.qps[qp], &r.streams[qp]
	r.Stats.DeadQPs++
	s.dead, s.reset, s.ackNow, s.dups = true, true, false, 0
	for s.segments.Len() > 0 {
		r.dropSegment(s)
	}
	for r.early.front(&s.stream) != nil {
		r.pool.Put(r.early.pop(&s.stream).packet)
	}
	if q.sq.Head() != q.admitted {
		r.retire(now, qp, q, status, part)
	}
	for n := q.sq.Head(); int32(s.tried-n) > 0; n++ {
		if req := q.sq.At(n); !req.done {
			req.wqe.Access.Ledger.Charge(now, measure.CauseRetransmit)
		}
	}
	r.flush(now, qp)
}
