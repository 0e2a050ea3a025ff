package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model/ddp"
)

// nextSegment is the segment that may leave now, nil if none may.
func (r *iwarpRequester) nextSegment(q *sendQP, s *sendStream) *segment {
	if s.dead {
		return nil
	}
	at := s.cursor
	if s.out.Resend() {
		at = s.segments.Head()
	}
	if at == s.segments.Tail() {
		return nil
	}
	g := s.segments.At(at)
	switch {
	case g.payload != payloadHere && g.payload != payloadFree, !s.out.MaySend(g.bytes):
		return nil
	case g.sent:
		return g
	case g.reads && s.reads >= r.spec.QP.MaxRdAtomic, q.fenced(q.sq.At(g.request)):
		return nil
	}
	return g
}

// mayEmit tells whether the QP has an ACK or a segment to send.
func (r *iwarpRequester) mayEmit(qp int32) bool {
	s := &r.streams[qp]
	return s.answers() || r.nextSegment(&r.qps[qp], s) != nil
}

// emit sends a segment or an ACK, unless the ACK may still wait.
func (r *iwarpRequester) emit(now clocked.Time, qp int32) {
	s := &r.streams[qp]
	g := r.nextSegment(&r.qps[qp], s)
	switch {
	case g != nil && !s.alone():
		r.transmit(now, qp, s, g)
	case s.answers():
		r.Stats.TCP.Acks++
		p := r.pool.Get()
		p.QP = uint32(qp)
		s.put(now, p, &r.spec, &r.out, &r.Stats.TCP)
	}
	r.goOn(qp)
}

// transmit sends a segment of the oldest byte that is due.
func (r *iwarpRequester) transmit(now clocked.Time, qp int32, s *sendStream, g *segment) {
	req := r.qps[qp].sq.At(g.request)
	a := req.wqe.Access
	p := r.pool.Get()
	r.fill(p, req, g.part)
	p.PSN = g.seq
	p.Segment = msg.Segment{Seq: g.seq, Bytes: g.bytes, Message: ddp.Request(req.wqe.Op)}
	a.Ledger.Charge(now, measure.CauseSendQueue)
	p.Ledger.Last = now
	alone := s.out.Resend()
	if p.Resend = s.out.Sent(int64(now), g.bytes); p.Resend {
		r.Stats.PacketsResent++
		a.Counts.Resends++
	}
	if !alone {
		s.cursor++
	}
	if g.payload == payloadHere {
		g.payload = payloadNone // an adapter keeps no copy of what it sent
		s.held--
	}
	if !g.sent && g.reads {
		s.reads++
	}
	g.sent = true
	s.tried = later(s.tried, g.request+1)
	r.Stats.PacketsSent++
	s.put(now, p, &r.spec, &r.out, &r.Stats.TCP)
}

// expire acts on the timers of a QP's stream.
func (r *iwarpRequester) expire(now clocked.Time, qp int32) {
	s := &r.streams[qp]
	if s.expire(now) {
		r.timeOut(now, qp, s)
	}
	r.goOn(qp)
}

// timeOut sends everything again from the oldest byte on, or gives up. All that
// is not acknowledged has waited for the timer.
func (r *iwarpRequester) timeOut(now clocked.Time, qp int32, s *sendStream) {
	q := &r.qps[qp]
	for n := q.sq.Head(); int32(s.tried-n) > 0; n++ {
		if req := q.sq.At(n); !req.done {
			req.wqe.Access.Ledger.Charge(now, measure.CauseRTOWait)
		}
	}
	r.Stats.Timeouts++
	if !s.out.Timeout(int64(now)) {
		r.fail(now, qp, measure.StatusRetryExceeded, nil)
		return
	}
	s.cursor, s.pay = s.segments.Head(), s.segments.Head()
}
