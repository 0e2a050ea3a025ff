package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// receive takes responses. READ data needs the DMA engine; when it is busy the
// response stays on its wire.
func (r *rcRequester) receive(now clocked.Time) {
	for {
		head := r.Ports.Rx.Peek(now)
		if head == nil {
			return
		}
		if p := *head; p.Op == model.OpRead && p.Payload > 0 && !r.Ports.DMA.Ready(now) {
			return
		}
		p := r.Lose.take(now, r.Ports.Rx, false)
		if int(p.QP) < len(r.qps) && !p.Lost {
			p.Ledger.Charge(now, measure.CauseNetwork)
			r.response(now, p)
		}
		r.pool.Put(p)
	}
}

// response takes a response as the rules say.
func (r *rcRequester) response(now clocked.Time, p *msg.Packet) {
	qp := int32(p.QP)
	q, c := &r.qps[qp], &r.sends[qp]
	psn, s, next := rc.PSN(p.PSN), rc.Syndrome(p.Syndrome), c.rules.Next
	if s.RNR() {
		r.Stats.RNRReceived++
	}
	var o rc.Outcome
	var placed bool
	if s.Ack() && p.Op.Responds() {
		o, placed = c.rules.Respond(psn)
	} else {
		o = c.rules.Acknowledge(s, psn)
	}
	if o == (rc.Outcome{}) {
		r.Stats.Duplicates++
		return
	}
	if placed {
		r.settle(now, qp, q, psn, nil)
		r.place(now, q, p)
	}
	if o.Advanced {
		gate := &p.Ledger
		if !s.Ack() || psn.Add(1) != c.rules.Oldest {
			gate = nil
		}
		r.settle(now, qp, q, c.rules.Oldest, gate)
	}
	if next.Before(c.rules.Next) { // what was to be sent again was acknowledged: its payload is not needed
		c.seek(q)
		r.wantPayload(qp)
	}
	r.act(now, qp, o, next, s, p)
}

// place writes the data of a response to the oldest request.
func (r *rcRequester) place(now clocked.Time, q *sendQP, p *msg.Packet) {
	if p.Payload == 0 || p.Op != model.OpRead {
		return
	}
	req := q.sq.Front()
	req.wqe.Access.Placed += p.Payload
	offset := uint32(rc.PSN(p.PSN).Sub(req.first)) * r.mtu
	*r.Ports.DMA.Push(now) = msg.DMA{Kind: msg.KindData, Write: true, PA: r.local(&req.wqe, offset),
		Len: p.Payload, Oracle: msg.Oracle{Page: msg.NoPage}}
}

// settle completes the requests that end before PSN end; gate, when not nil, is
// the ledger of the one that ends just before.
func (r *rcRequester) settle(now clocked.Time, qp int32, q *sendQP, end rc.PSN, gate *measure.Ledger) {
	for q.sq.Head() != q.admitted {
		last := q.sq.Front().last()
		if !last.Before(end) {
			return
		}
		part := gate
		if last.Add(1) != end {
			part = nil
		}
		r.retire(now, qp, q, measure.StatusOK, part)
	}
}

// last is the PSN that completes the request.
func (r *request) last() rc.PSN { return r.first.Add(r.count - 1) }
