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
func (r *Requester) receive(now clocked.Time) {
	for {
		head := r.Ports.Rx.Peek(now)
		if head == nil {
			return
		}
		p := *head
		if p.Op == model.OpRead && p.Payload > 0 && !r.Ports.DMA.Ready(now) {
			return
		}
		r.Ports.Rx.Pop(now)
		if int(p.QP) < len(r.qps) {
			p.Ledger.Charge(now, measure.CauseNetwork)
			r.response(now, p)
		}
		r.pool.Put(p)
	}
}

// response takes a response as the rules say.
func (r *Requester) response(now clocked.Time, p *msg.Packet) {
	qp := int32(p.QP)
	q := &r.qps[qp]
	psn, s, next := rc.PSN(p.PSN), rc.Syndrome(p.Syndrome), q.rules.Next
	if s.RNR() {
		r.Stats.RNRReceived++
	}
	var o rc.Outcome
	var placed bool
	if s.Ack() && p.Op.Responds() {
		o, placed = q.rules.Respond(psn)
	} else {
		o = q.rules.Acknowledge(s, psn)
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
		if !s.Ack() || psn.Add(1) != q.rules.Oldest {
			gate = nil
		}
		r.settle(now, qp, q, q.rules.Oldest, gate)
	}
	r.act(now, qp, q, o, next, s, p)
}

// place writes the data of a response to the oldest request.
func (r *Requester) place(now clocked.Time, q *sendQP, p *msg.Packet) {
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
func (r *Requester) settle(now clocked.Time, qp int32, q *sendQP, end rc.PSN, gate *measure.Ledger) {
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

// retire completes the oldest request.
func (r *Requester) retire(now clocked.Time, qp int32, q *sendQP, status measure.Status, part *measure.Ledger) {
	seq := q.sq.Head()
	req := q.sq.Pop()
	a := req.wqe.Access
	switch {
	case part != nil && part.Last-part.Sum() == a.Ledger.Last:
		a.Ledger.Join(part)
	case status == measure.StatusOK:
		a.Ledger.Charge(now, measure.CauseNetwork) // acknowledged by a later packet, or by one sent before going back
	default:
		a.Ledger.Charge(now, measure.CauseRetransmit)
	}
	a.Status = status
	if status == measure.StatusOK {
		r.Stats.PacketsNeeded += uint64(req.packets())
	}
	q.admitted = later(q.admitted, q.sq.Head())
	q.current = later(q.current, q.sq.Head())
	q.payRequest = later(q.payRequest, q.sq.Head())
	r.open--
	*r.done.Push() = completion{access: a, pa: r.queueEntry(r.memory.CQ, uint32(qp), seq)}
}

func later(a, b uint32) uint32 {
	if int32(a-b) > 0 {
		return a
	}
	return b
}

// complete writes completion entries, in the order of completion.
func (r *Requester) complete(now clocked.Time) {
	for r.done.Len() > 0 && r.Ports.DMA.Ready(now) {
		c := r.done.Pop()
		*r.Ports.DMA.Push(now) = msg.DMA{Kind: msg.KindCQE, Write: true, PA: c.pa, Len: cqeBytes,
			Cookie: c.access.ID, Body: c.access, Oracle: msg.Oracle{Page: msg.NoPage}}
	}
}
