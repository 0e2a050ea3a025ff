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

func (r *Requester) response(now clocked.Time, p *msg.Packet) {
	qp := int32(p.QP)
	q := &r.qps[qp]
	psn := rc.PSN(p.PSN)
	if q.state == sendDead || psn.Before(q.una) || !psn.Before(q.high) {
		r.Stats.Duplicates++
		return
	}
	switch s := rc.Syndrome(p.Syndrome); {
	case s.Ack() && p.Op.Responds():
		r.data(now, qp, q, p)
	case s.Ack():
		if r.acknowledge(now, qp, q, psn.Add(1), &p.Ledger) {
			r.impliedNak(now, qp, q)
		}
	case r.acknowledge(now, qp, q, psn, nil):
		r.impliedNak(now, qp, q)
	case s.RNR():
		r.notReady(now, qp, q, s)
	case s == rc.NAKSequence:
		r.Stats.SequenceNaks++
		r.loss(now, qp, q)
	default:
		r.fail(now, qp, nakStatus(s), &p.Ledger)
	}
}

func nakStatus(s rc.Syndrome) measure.Status {
	switch s {
	case rc.NAKRemoteAccess:
		return measure.StatusRemoteAccess
	case rc.NAKRemoteOp:
		return measure.StatusRemoteOp
	}
	return measure.StatusInvalidReq
}

// data takes a READ or atomic response.
func (r *Requester) data(now clocked.Time, qp int32, q *sendQP, p *msg.Packet) {
	psn := rc.PSN(p.PSN)
	if r.acknowledge(now, qp, q, psn, nil) {
		r.impliedNak(now, qp, q)
		return
	}
	req := q.sq.Front()
	if req.wqe.Op != p.Op {
		r.Stats.Duplicates++
		return
	}
	if p.Payload > 0 && p.Op == model.OpRead {
		offset := uint32(psn.Sub(req.first)) * r.mtu
		*r.Ports.DMA.Push(now) = msg.DMA{Kind: msg.KindData, Write: true, PA: r.local(&req.wqe, offset),
			Len: p.Payload, Oracle: msg.Oracle{Page: msg.NoPage}}
	}
	if psn == req.last() {
		r.retire(now, qp, q, measure.StatusOK, &p.Ledger)
	}
	r.progress(now, qp, q, psn.Add(1))
}

// acknowledge completes the requests below PSN end, whose ledger gate is. It
// stops before a READ or atomic that is not answered and then returns true.
func (r *Requester) acknowledge(now clocked.Time, qp int32, q *sendQP, end rc.PSN, gate *measure.Ledger) (skipped bool) {
	una := q.una
	for una != end && q.sq.Len() > 0 {
		req := q.sq.Front()
		if req.wqe.Op.Responds() {
			skipped = true
			break
		}
		if req.last().Sub(end) >= 0 {
			una = end // within the message
			break
		}
		una = req.last().Add(1)
		part := gate
		if una != end {
			part = nil
		}
		r.retire(now, qp, q, measure.StatusOK, part)
	}
	if una != q.una {
		r.progress(now, qp, q, una)
	}
	return skipped
}

// progress moves the oldest unacknowledged PSN, gives the QP its retries back
// and restarts its timer.
func (r *Requester) progress(now clocked.Time, qp int32, q *sendQP, una rc.PSN) {
	q.una = una
	q.retry, q.rnrRetry, q.retried = r.spec.QP.Retry, r.spec.QP.RNRRetry, false
	if q.una.Sub(q.next) > 0 {
		q.seek(q.una) // it had gone back too far
	}
	if q.state == sendRun {
		r.restartTimer(now, qp)
	}
	r.wantPayload(qp)
	r.wantSend(qp)
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
	if req.wqe.Op.Responds() && seq != q.current && q.reads > 0 {
		q.reads--
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
