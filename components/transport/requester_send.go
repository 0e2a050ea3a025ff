package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

func (r *Requester) wantSend(qp int32) {
	if q := &r.qps[qp]; !q.queued && r.protocol.mayEmit(qp) {
		q.queued = true
		*r.sending.Push() = qp
	}
}

// mayEmit tells whether the QP has a packet that may leave.
func (r *Requester) mayEmit(qp int32) bool {
	q := &r.qps[qp]
	next := q.rules.Next
	if q.current == q.admitted || !q.rules.MaySend(1) || int(next.Sub(q.rules.Oldest)) >= r.spec.QP.Window {
		return false
	}
	req := q.sq.At(q.current)
	if q.fenced(req) {
		return false
	}
	if req.wqe.Op.Responds() {
		return q.rules.MaySend(q.missing(req)) && (q.rules.Resending() || q.rules.Reads() < r.spec.QP.MaxRdAtomic)
	}
	return !req.needsPayload() || q.payReady>>(next&63)&1 == 1
}

// send puts packets on the network, one of each QP in turn, when the wire is
// free for the next.
func (r *Requester) send(now clocked.Time) {
	for r.sending.Len() > 0 {
		if free := r.out.free(); free > now {
			r.engine.Wake(r.id, free)
			return
		}
		if !r.Ports.Tx.Ready(now) {
			return
		}
		qp := r.sending.Pop()
		r.qps[qp].queued = false
		r.protocol.emit(now, qp)
	}
}

// emit sends the QP's next packet.
func (r *Requester) emit(now clocked.Time, qp int32) {
	if !r.mayEmit(qp) {
		return
	}
	r.transmit(now, qp, &r.qps[qp])
	r.wantPayload(qp)
	r.wantSend(qp)
}

func (r *Requester) transmit(now clocked.Time, qp int32, q *sendQP) {
	req := q.sq.At(q.current)
	a := req.wqe.Access
	a.Ledger.Charge(now, measure.CauseSendQueue)
	p := r.pool.Get()
	r.fill(p, req, q.rules.Next)
	p.Ledger.Last = now
	p.Resend = q.rules.Resending()
	if q.rules.Next == q.rules.Oldest || r.timers.at[qp] == clocked.Never {
		r.restartTimer(now, qp)
	}
	q.advance(req, p)
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
	q.unasked++
	if p.Last || q.unasked >= max(1, r.spec.QP.Window/4) {
		p.AckReq, q.unasked = true, 0
	}
	r.out.put(now, p, wireLen(p))
	r.Stats.PacketsSent++
}

// fill makes the request packet that has the given PSN. A READ that was
// answered in part asks for what is missing.
func (r *Requester) fill(p *msg.Packet, req *request, psn rc.PSN) {
	w := &req.wqe
	part := uint32(psn.Sub(req.first))
	offset := part * r.mtu
	p.QP, p.Op, p.PSN, p.Key, p.Access = w.QP, w.Op, uint32(psn), w.Key, w.Access
	p.VA = w.VA + model.VA(offset)
	p.Page = pageAt(w.Page, w.VA, p.VA, r.spec.HostPage)
	p.Write = (w.Access.ID+1)<<24 | uint64(part)
	p.MsgLen, p.Offset = w.Len, offset
	if w.Op.Responds() {
		p.MsgLen, p.First, p.Last = w.Len-offset, true, true
		return
	}
	p.Payload = rc.Payload(part, uint64(w.Len), r.mtu)
	p.First, p.Last = part == 0, part == req.count-1
	if p.Last && w.Op == model.OpSend {
		p.Invalidate = w.Invalidate
	}
}

// advance moves behind packet p of the current request.
func (q *sendQP) advance(req *request, p *msg.Packet) {
	n := uint32(1)
	switch {
	case req.wqe.Op.Responds():
		n = q.missing(req)
	case req.needsPayload():
		q.payReady &^= 1 << (q.rules.Next & 63)
		q.payHeld--
	}
	q.rules.Issue(n, req.wqe.Op.Responds())
	if p.Last {
		q.current++
	}
}
