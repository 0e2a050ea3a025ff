package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

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

// flush completes what waits in a dead QP, also work requests not fetched yet.
func (r *Requester) flush(now clocked.Time, qp int32) {
	q := &r.qps[qp]
	for q.sq.Len() > 0 {
		cause := measure.CauseSendQueue
		if q.sq.Head() == q.admitted {
			cause = measure.CausePost
		}
		q.sq.Front().wqe.Access.Ledger.Charge(now, cause)
		r.retire(now, qp, q, measure.StatusFlushed, nil)
	}
}
