package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
	"rnicmmu/model/rc"
)

// endPacket ends the head, all of whose pieces are done: TCP takes it, and
// acknowledges it when the point of acknowledgement is reached. A READ or
// atomic reaches it when its response is being made.
func (r *iwarpResponder) endPacket(now clocked.Time, qp int32, q *recvQP) bool {
	return r.endPieces(now, qp, q)
}

// execute ends the head. A SEND whose key to invalidate is not valid ends the
// stream.
func (r *iwarpResponder) execute(now clocked.Time, qp int32, q *recvQP, e rc.Execution) {
	s := &r.streams[qp]
	p := r.first(q)
	if e != rc.Done {
		r.terminate(now, qp, q, ddp.CannotInvalidate())
		return
	}
	executed(p)
	if p.Last {
		r.Stats.Messages++
	}
	p.AckReq = s.in.Gap() // it fills one: answer at once
	s.in.Accept(p.Segment.Bytes)
	early := r.early.front(&s.stream)
	s.more = early != nil && early.Segment.Seq == s.in.Next()
	if p.Op.Responds() {
		r.respond(qp, q, p)
		r.owe(qp, q, 0)
		r.finish(now, q)
		return
	}
	r.acknowledge(now, qp, q)
}

// withdraw has nothing to undo: an atomic counts as executed when it ends.
func (r *iwarpResponder) withdraw(int32) {}

// blame has one answer to a read that failed, whyever: what TCP has taken
// cannot come again.
func (r *iwarpResponder) blame(reply int32, status msg.Status) {
	if status != msg.StatusSuccess {
		r.replies.slots[reply].status = msg.StatusAbort
	}
}

// respond queues the response of an atomic or of a READ of no bytes; others
// were made as their data were read.
func (r *iwarpResponder) respond(qp int32, q *recvQP, p *msg.Packet) {
	if p.Op == model.OpRead && p.MsgLen > 0 {
		return
	}
	i := r.openResponse(q)
	rep := &r.replies.slots[i]
	rep.open = false
	rep.packet.Ledger = p.Ledger
	rep.packet.First, rep.packet.Last, rep.packet.Payload = true, true, 0
	r.wantEmit(qp, q)
}

// owe lines the head up to be acknowledged, together with what was kept behind
// it, if that is in order now.
func (r *iwarpResponder) owe(qp int32, q *recvQP, waits int32) int32 {
	s := &r.streams[qp]
	i := r.replies.add(reply{packet: r.first(q), waits: waits, open: s.more, next: none})
	r.lineAck(qp, q, s, i)
	return i
}

// duplicateAck asks for an ACK that repeats the last, behind those that are due.
func (r *iwarpResponder) duplicateAck(qp int32, q *recvQP, s *recvStream) {
	r.lineAck(qp, q, s, r.replies.add(reply{next: none}))
}

func (r *iwarpResponder) lineAck(qp int32, q *recvQP, s *recvStream, i int32) {
	if s.ackTail == none {
		s.ackHead = i
	} else {
		r.replies.slots[s.ackTail].next = i
	}
	s.ackTail = i
	r.wantEmit(qp, q)
}

// ackReady tells whether the oldest segment executed is to be acknowledged.
func (r *iwarpResponder) ackReady(s *recvStream) bool {
	return s.ackHead != none && r.replies.slots[s.ackHead].waits == 0
}

// takeAcks moves the acknowledgement on, up to a duplicate.
func (r *iwarpResponder) takeAcks(now clocked.Time, qp int32, q *recvQP, s *recvStream) {
	for r.ackReady(s) {
		if r.replies.slots[s.ackHead].packet == nil && (s.ackNow || s.dups > 0) {
			return // what is due before it leaves first
		}
		rep := r.replies.remove(s.ackHead)
		if s.ackHead = rep.next; s.ackHead == none {
			s.ackTail = none
		}
		p := rep.packet
		if p == nil {
			s.dups++
			continue
		}
		if s.broken || rep.status != msg.StatusSuccess {
			r.fallApart(qp, q, s, p)
			continue
		}
		s.acknowledge(p)
		s.ackNow = !rep.open && s.acks.Took(int64(now), p.AckReq) || s.ackNow
		if s.closed || !p.Last || p.Op.Responds() {
			r.pool.Put(p)
			continue
		}
		p.Acked = nil
		if s.back == nil {
			s.back = p
		} else {
			s.backTail.Acked = p
		}
		s.backTail = p
	}
}

// mayEmit tells whether the QP has an ACK or a response to send.
func (r *iwarpResponder) mayEmit(qp int32, q *recvQP) bool {
	s := &r.streams[qp]
	if r.ackReady(s) || s.answers() {
		return true
	}
	if s.silent() && r.replyReady(q) {
		return true
	}
	_, ok := r.nextResponse(q, s)
	return ok
}

// silent tells whether new responses are discarded.
func (s *recvStream) silent() bool { return s.closed || s.ended }

// nextResponse is the response that may leave now: one sent before, or nil for
// the QP's next reply.
func (r *iwarpResponder) nextResponse(q *recvQP, s *recvStream) (*msg.Packet, bool) {
	switch {
	case s.closed:
	case s.out.Resend():
		return *s.sent.At(s.sent.Head()), true
	case s.cursor != s.sent.Tail():
		p := *s.sent.At(s.cursor)
		return p, s.out.MaySend(p.Segment.Bytes)
	case !s.ended && r.replyReady(q):
		rep := &r.replies.slots[q.replyHead]
		p := rep.packet
		if rep.status != msg.StatusSuccess {
			toTerminate(p, ddp.Catastrophic(p.Op))
		}
		if p.Segment.Message == ddp.Terminate {
			return nil, s.ackHead == none && s.out.MaySend(fpdu(p)) // it acknowledges all that came before
		}
		return nil, s.out.MaySend(fpdu(p))
	}
	return nil, false
}

func (r *iwarpResponder) label(_ int32, _ *recvQP, p *msg.Packet) {
	p.Segment.Message = ddp.AtomicResponse
	if p.Op == model.OpRead {
		p.Segment.Message = ddp.ReadResponse
	}
}

// emit sends a response or an ACK, unless the ACK may still wait.
func (r *iwarpResponder) emit(now clocked.Time, qp int32, q *recvQP) {
	s := &r.streams[qp]
	r.takeAcks(now, qp, q, s)
	if s.closed {
		s.ackNow, s.dups = false, 0
	}
	if s.silent() && r.replyReady(q) {
		r.pool.Put(r.popReply(q).packet)
	}
	p, ok := r.nextResponse(q, s)
	switch {
	case ok && !s.alone():
		r.sendResponse(now, qp, q, s, p)
	case s.answers():
		r.Stats.TCP.Acks++
		r.put(now, qp, s, r.pool.Get())
	}
	r.setTimer(qp, s)
}

// sendResponse sends p, which was sent before, or the QP's next reply. The
// adapter keeps a copy until it is acknowledged.
func (r *iwarpResponder) sendResponse(now clocked.Time, qp int32, q *recvQP, s *recvStream, p *msg.Packet) {
	if p == nil {
		p = r.popReply(q).packet
		p.Ledger.Charge(now, measure.CauseResponder)
		p.QP = uint32(qp)
		if p.Segment.Message == ddp.Terminate {
			r.Stats.TCP.Terminates++
			s.dead, s.ended = true, true
		}
		p.Segment.Seq, p.Segment.Bytes = s.out.Next(), fpdu(p)
		*s.sent.Push() = p
		if q.stage == stageReadAhead { // its READ may go on now
			r.first(q).Ledger.Charge(now, measure.CauseSendQueue)
		}
	}
	alone := s.out.Resend()
	p.Resend = s.out.Sent(int64(now), p.Segment.Bytes)
	if !alone {
		s.cursor++
	}
	if p.Resend {
		p.Ledger.Charge(now, measure.CauseSendQueue)
		r.Stats.TCP.Resent++
	}
	r.Stats.TCP.Sent++
	c := r.pool.Get()
	*c = *p
	r.put(now, qp, s, c)
}

// put sends a packet with the ledgers of the requests that it acknowledges.
func (r *iwarpResponder) put(now clocked.Time, qp int32, s *recvStream, p *msg.Packet) {
	p.QP, p.Response = uint32(qp), true
	p.Acked, s.back, s.backTail = s.back, nil, nil
	for b := p.Acked; b != nil; b = b.Acked {
		b.Ledger.Charge(now, measure.CauseResponder)
	}
	s.put(now, p, &r.spec, &r.out, &r.Stats.TCP)
}
