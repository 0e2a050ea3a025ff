package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// post takes doorbells, always: one left standing would hold back the
// completions behind it, on which the DMA engine may wait. A doorbell without
// its work request costs a read of the send queue.
func (r *Requester) post(now clocked.Time) {
	for d := r.Ports.Doorbell.Peek(now); d != nil; d = r.Ports.Doorbell.Peek(now) {
		if w, ok := d.Body.(*msg.WQE); ok && int(w.QP) < len(r.qps) { // else rung for a queue that does not exist
			r.take(now, w, d.Len <= 8)
		}
		r.Ports.Doorbell.Pop(now)
	}
	r.fetch(now)
}

func (r *Requester) take(now clocked.Time, w *msg.WQE, fetch bool) {
	q := &r.qps[w.QP]
	r.open++
	seq := q.sq.Tail()
	req := q.sq.Push()
	*req = request{wqe: *w, ready: !fetch}
	if fetch {
		*r.fetches.Push() = fetchRef{qp: int32(w.QP), seq: seq}
		return
	}
	req.inline = model.Bytes(w.Len) <= r.spec.QP.Inline && !w.Op.Responds()
	r.protocol.admit(now, int32(w.QP))
}

// fetchRef is a work request to be read.
type fetchRef struct {
	qp  int32
	seq uint32
}

// fetch reads work requests, in the order of their doorbells.
func (r *Requester) fetch(now clocked.Time) {
	for r.fetches.Len() > 0 && r.Ports.DMA.Ready(now) {
		f := r.fetches.Pop()
		if q := &r.qps[f.qp]; !q.sq.Holds(f.seq) {
			continue // flushed meanwhile
		}
		i, op := r.ops.get()
		*op = sendOp{kind: msg.KindWQE, qp: f.qp, seq: f.seq}
		*r.Ports.DMA.Push(now) = msg.DMA{Kind: msg.KindWQE, PA: r.queueEntry(r.memory.SQ, uint32(f.qp), f.seq), Len: wqeBytes,
			Cookie: uint64(i), Oracle: msg.Oracle{Page: msg.NoPage}}
	}
}

func (r *Requester) queueEntry(base model.PA, qp, seq uint32) model.PA {
	n := uint64(r.memory.Entries)
	return base + model.PA((uint64(qp)*n+uint64(seq)%n)*wqeBytes)
}

// admit gives PSNs, in order, to the requests that are here.
func (r *Requester) admit(now clocked.Time, qp int32) {
	q := &r.qps[qp]
	for q.admitted != q.sq.Tail() {
		req := q.sq.At(q.admitted)
		if !req.ready {
			break
		}
		req.wqe.Access.Ledger.Charge(now, measure.CausePost)
		req.first = q.end
		req.count = rc.Span(req.wqe.Op, uint64(req.wqe.Len), r.mtu)
		q.end = q.end.Add(req.count)
		q.admitted++
		q.setFence(req)
		if r.spec.QP.Damming && q.rules.Waiting() {
			req.lost = true
			r.Stats.Dammed++
		}
	}
	if q.rules.Failed() {
		r.flush(now, qp)
		return
	}
	r.wantPayload(qp)
	r.wantSend(qp)
}

// finishDMA takes answers of reads.
func (r *Requester) finishDMA(now clocked.Time) {
	for d := r.Ports.DMADone.Peek(now); d != nil; d = r.Ports.DMADone.Peek(now) {
		i := int32(d.Cookie)
		op := *r.ops.slots[i]
		r.ops.put(i)
		r.Ports.DMADone.Pop(now)
		q := &r.qps[op.qp]
		if !q.sq.Holds(op.seq) {
			continue // completed meanwhile, with an error
		}
		req := q.sq.At(op.seq)
		switch {
		case op.kind == msg.KindWQE:
			req.ready = true
			r.protocol.admit(now, op.qp)
		default:
			r.protocol.payloadRead(now, op)
		}
	}
}

// payloadRead takes data to send, unless the QP has gone back meanwhile.
func (r *Requester) payloadRead(now clocked.Time, op sendOp) {
	q := &r.qps[op.qp]
	if op.tag == q.payEpoch {
		req := q.sq.At(op.seq)
		req.wqe.Access.Ledger.Charge(now, measure.CausePayload)
		q.payReady |= 1 << (req.first.Add(op.part) & 63)
		r.wantSend(op.qp)
	}
}

func (r *Requester) wantPayload(qp int32) {
	if q := &r.qps[qp]; !q.reading && r.protocol.nextPayload(qp) {
		q.reading = true
		*r.payload.Push() = qp
	}
}

// nextPayload moves on to the next packet that needs its payload read, and
// tells whether it may be read now.
func (r *Requester) nextPayload(qp int32) bool {
	q := &r.qps[qp]
	for q.payRequest != q.admitted {
		req := q.sq.At(q.payRequest)
		if req.needsPayload() {
			return !q.rules.Failed() && q.payHeld < r.spec.QP.PayloadAhead && q.payNext.Sub(q.rules.Next) < 64 && !q.fenced(req)
		}
		q.skipPayload(req)
	}
	return false
}

func (r *Requester) takePayload(qp int32) sendOp {
	q := &r.qps[qp]
	req := q.sq.At(q.payRequest)
	op := sendOp{kind: msg.KindData, qp: qp, seq: q.payRequest, part: uint32(q.payNext.Sub(req.first)), tag: q.payEpoch}
	q.payHeld++
	q.payNext = q.payNext.Add(1)
	if op.part+1 == req.count {
		q.payRequest++
	}
	return op
}

func (q *sendQP) skipPayload(req *request) {
	q.payRequest++
	q.payNext = req.first.Add(req.count)
}

// readPayload reads data to send, a packet of each QP in turn.
func (r *Requester) readPayload(now clocked.Time) {
	for r.payload.Len() > 0 && r.Ports.DMA.Ready(now) {
		qp := r.payload.Pop()
		q := &r.qps[qp]
		q.reading = false
		if !r.protocol.nextPayload(qp) {
			continue
		}
		i, op := r.ops.get()
		*op = r.protocol.takePayload(qp)
		req := q.sq.At(op.seq)
		*r.Ports.DMA.Push(now) = msg.DMA{Kind: msg.KindData, PA: r.local(&req.wqe, op.part*r.mtu),
			Len: rc.Payload(op.part, uint64(req.wqe.Len), r.mtu), Cookie: uint64(i), Oracle: msg.Oracle{Page: msg.NoPage}}
		if !req.done {
			req.wqe.Access.Ledger.Charge(now, measure.CauseSendQueue)
		}
		r.wantPayload(qp)
	}
}

// local is where a byte of the request lies in the requester's own memory.
func (r *Requester) local(w *msg.WQE, offset uint32) model.PA {
	return r.memory.Data + model.PA((uint64(w.VA)+uint64(offset))%r.memory.Bytes)
}
