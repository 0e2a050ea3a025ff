package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/ddp"
	"rnicmmu/model/key"
)

func (r *iwarpResponder) refuse(now clocked.Time, qp int32, q *recvQP, o msg.Outcome, why key.Verdict) {
	reason := ddp.Refusal(r.first(q).Op, why)
	if o == msg.OutcomeRemoteOp {
		reason = ddp.Catastrophic(r.first(q).Op)
	}
	r.terminate(now, qp, q, reason)
}

func (r *iwarpResponder) tooLong(now clocked.Time, qp int32, q *recvQP) {
	r.terminate(now, qp, q, ddp.TooLong())
}

// terminate answers the head with a Terminate message, behind the responses of
// earlier requests. TCP does not acknowledge the head, so its request cannot
// complete before the message arrives.
func (r *iwarpResponder) terminate(now clocked.Time, qp int32, q *recvQP, reason ddp.Reason) {
	s := &r.streams[qp]
	r.letGo(q)
	p := r.first(q)
	t := p
	if q.open != none { // the response that was being read takes the message
		t = r.replies.slots[q.open].packet
		r.replies.slots[q.open].open = false
		q.open = none
		r.pool.Put(p)
	} else {
		i := r.replies.add(reply{packet: t, next: none})
		r.append(qp, q, i)
	}
	toTerminate(t, reason)
	s.dead = true
	r.forgetEarly(s)
	r.wantEmit(qp, q)
	r.finish(now, q)
}

// toTerminate makes a packet a Terminate message.
func toTerminate(p *msg.Packet, reason ddp.Reason) {
	p.Response, p.First, p.Last, p.Payload = true, true, true, 0
	p.Segment.Message, p.Segment.Reason = ddp.Terminate, reason
}

// forgetEarly drops what was kept.
func (r *iwarpResponder) forgetEarly(s *recvStream) {
	s.in.Forget()
	for r.early.front(&s.stream) != nil {
		e := r.early.pop(&s.stream)
		r.held -= e.bytes
		r.used -= e.bytes
		r.pool.Put(e.packet)
	}
}

// fallApart ends the stream at a segment behind which the bus has failed. It
// and what follows is not acknowledged.
func (r *iwarpResponder) fallApart(qp int32, q *recvQP, s *recvStream, p *msg.Packet) {
	if s.closed {
		r.pool.Put(p)
		return
	}
	s.broken, s.dead = true, true
	r.forgetEarly(s)
	toTerminate(p, ddp.Catastrophic(p.Op))
	r.append(qp, q, r.replies.add(reply{packet: p, next: none}))
}

// close ends a stream that the other side has closed or that is given up. What
// is under way ends on its own and goes nowhere.
func (r *iwarpResponder) close(qp int32, q *recvQP, s *recvStream) {
	s.closed, s.dead, s.ackNow, s.dups = true, true, false, 0
	r.forgetEarly(s)
	for s.sent.Len() > 0 {
		r.pool.Put(s.sent.Pop())
	}
	s.cursor = s.sent.Head()
	for s.back != nil {
		next := s.back.Acked
		r.pool.Put(s.back)
		s.back = next
	}
	s.backTail = nil
	if q.stage == stageIdle {
		r.endOpen(qp, q)
	}
}

// endOpen ends the response of a READ that will not go on.
func (r *iwarpResponder) endOpen(qp int32, q *recvQP) {
	if q.open != none {
		r.begun--
		r.replies.slots[q.open].open = false
		q.open = none
		r.wantEmit(qp, q)
	}
}
