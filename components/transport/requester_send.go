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

// fill makes a packet of the request. A READ that was answered in part asks for
// what is missing.
func (r *Requester) fill(p *msg.Packet, req *request, part uint32) {
	w := &req.wqe
	offset := part * r.mtu
	p.QP, p.Op, p.Key, p.Access = w.QP, w.Op, w.Key, w.Access
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

func (r *Requester) wantPayload(qp int32) {
	if q := &r.qps[qp]; !q.reading && r.protocol.nextPayload(qp) {
		q.reading = true
		*r.payload.Push() = qp
	}
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
