package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model/tcp"
)

// acknowledged takes the acknowledgement of a segment from the requester.
func (r *iwarpResponder) acknowledged(now clocked.Time, qp int32, p *msg.Packet) {
	q, s := &r.qps[qp], &r.streams[qp]
	switch {
	case s.closed:
		return
	case p.Segment.Reset:
		r.close(qp, q, s)
	default:
		e := s.out.Ack(int64(now), p.Segment.Ack, p.Segment.Window, p.Segment.Bytes == 0, int64(p.Segment.Echo))
		for s.sent.Len() > 0 {
			sent := *s.sent.Front()
			if tcp.Before(s.out.Una(), sent.Segment.Seq+sent.Segment.Bytes) {
				break
			}
			s.sent.Pop()
			r.pool.Put(sent)
		}
		s.cursor = later(s.cursor, s.sent.Head())
		if e.Resend {
			if e.Fast {
				r.Stats.TCP.FastRetransmits++
			}
			(*s.sent.Front()).Ledger.Charge(now, measure.CauseRetransmit)
		}
	}
	r.wantEmit(qp, q)
	r.setTimer(qp, s)
}

// setTimer gives the stream its next deadline.
func (r *iwarpResponder) setTimer(qp int32, s *recvStream) {
	if s.closed {
		r.timers.set(qp, clocked.Never)
		return
	}
	r.timers.set(qp, s.deadline())
}

// expire acts on the timers of a QP's stream.
func (r *iwarpResponder) expire(now clocked.Time, qp int32) {
	q, s := &r.qps[qp], &r.streams[qp]
	if s.expire(now) {
		r.timeOut(now, qp, q, s)
	}
	r.wantEmit(qp, q)
	r.setTimer(qp, s)
}

// timeOut sends all responses again from the oldest on, or gives the stream up.
func (r *iwarpResponder) timeOut(now clocked.Time, qp int32, q *recvQP, s *recvStream) {
	r.Stats.TCP.Timeouts++
	if !s.out.Timeout(int64(now)) {
		r.close(qp, q, s)
		s.gaveUp, s.reset = true, true
		return
	}
	for n := s.sent.Head(); n != s.sent.Tail(); n++ {
		(*s.sent.At(n)).Ledger.Charge(now, measure.CauseRTOWait)
	}
	s.cursor = s.sent.Head()
}
