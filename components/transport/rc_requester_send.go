package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// mayEmit tells whether the QP has a packet that may leave.
func (r *rcRequester) mayEmit(qp int32) bool {
	q, c := &r.qps[qp], &r.sends[qp]
	next := c.rules.Next
	if q.current == q.admitted || !c.rules.MaySend(1) || int(next.Sub(c.rules.Oldest)) >= r.spec.QP.Window {
		return false
	}
	req := q.sq.At(q.current)
	if q.fenced(req) {
		return false
	}
	if req.wqe.Op.Responds() {
		return c.rules.MaySend(c.missing(req)) && (c.rules.Resending() || c.rules.Reads() < r.spec.QP.MaxRdAtomic)
	}
	return !req.needsPayload() || c.payReady>>(next&63)&1 == 1
}

// emit sends the QP's next packet.
func (r *rcRequester) emit(now clocked.Time, qp int32) {
	if !r.mayEmit(qp) {
		return
	}
	r.transmit(now, qp, &r.qps[qp], &r.sends[qp])
	r.wantPayload(qp)
	r.wantSend(qp)
}

func (r *rcRequester) transmit(now clocked.Time, qp int32, q *sendQP, c *rcSend) {
	req := q.sq.At(q.current)
	a := req.wqe.Access
	a.Ledger.Charge(now, measure.CauseSendQueue)
	p := r.pool.Get()
	r.fill(p, req, uint32(c.rules.Next.Sub(req.first)))
	p.PSN = uint32(c.rules.Next)
	p.Ledger.Last = now
	p.Resend = c.rules.Resending()
	if c.rules.Next == c.rules.Oldest || r.timers.at[qp] == clocked.Never {
		r.restartTimer(now, qp)
	}
	c.advance(req)
	if p.Last {
		q.current++
	}
	if req.lost {
		if !p.Resend {
			r.Stats.PacketsDammed++
		}
		r.pool.Put(p)
		return
	}
	if p.Resend {
		r.Stats.PacketsResent++
		a.Counts.Resends++
	}
	c.unasked++
	if p.Last || c.unasked >= max(1, r.spec.QP.Window/4) {
		p.AckReq, c.unasked = true, 0
	}
	r.out.put(now, p, wireLen(p))
	r.Stats.PacketsSent++
}

// advance moves behind a packet of the current request.
func (c *rcSend) advance(req *request) {
	n := uint32(1)
	switch {
	case req.wqe.Op.Responds():
		n = c.missing(req)
	case req.needsPayload():
		c.payReady &^= 1 << (c.rules.Next & 63)
		c.payHeld--
	}
	c.rules.Issue(n, req.wqe.Op.Responds())
}

// missing is how many responses to the current request, a READ or atomic, are
// to be asked for.
func (c *rcSend) missing(r *request) uint32 { return r.count - uint32(c.rules.Next.Sub(r.first)) }
