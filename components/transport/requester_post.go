package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
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

// finishDMA takes answers of reads.
func (r *Requester) finishDMA(now clocked.Time) {
	for d := r.Ports.DMADone.Peek(now); d != nil; d = r.Ports.DMADone.Peek(now) {
		i, status := int32(d.Cookie), d.Status
		op := *r.ops.slots[i]
		r.ops.put(i)
		r.Ports.DMADone.Pop(now)
		q := &r.qps[op.qp]
		if !q.sq.Holds(op.seq) {
			continue // completed meanwhile, with an error
		}
		switch {
		case status != msg.StatusSuccess:
			r.unreadable(now, op, status)
		case op.kind == msg.KindWQE:
			q.sq.At(op.seq).ready = true
			r.protocol.admit(now, op.qp)
		default:
			r.protocol.payloadRead(now, op)
		}
	}
}

// local is where a byte of the request lies in the requester's own memory.
func (r *Requester) local(w *msg.WQE, offset uint32) model.PA {
	return r.memory.Data + model.PA((uint64(w.VA)+uint64(offset))%r.memory.Bytes)
}
