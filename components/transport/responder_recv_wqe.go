package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// posted tells whether software has posted the QP's next receive buffer. It is
// asked only for packets that take one.
func (r *Responder) posted(now clocked.Time, q *recvQP) bool {
	return len(q.repost) > 0 && q.repost[q.buffer] <= now
}

// takeReceive gives the head's message the next receive buffer.
func (r *Responder) takeReceive(q *recvQP) {
	q.receives--
	q.repost[q.buffer] = clocked.Never
	q.buffer = (q.buffer + 1) % len(q.repost)
}

// untakeReceive gives the buffer back: the message's first packet is put off
// and will take it again.
func (q *recvQP) untakeReceive() {
	q.receives++
	q.buffer = q.taken()
	q.repost[q.buffer] = 0
}

// taken is the buffer of the message in progress.
func (q *recvQP) taken() int { return (q.buffer + len(q.repost) - 1) % len(q.repost) }

// fetchReceives reads the receive work requests that are posted, as many as
// are fetched at once.
func (r *Responder) fetchReceives(now clocked.Time, qp int32, q *recvQP) {
	n := 1
	for n < min(r.spec.QP.RecvPrefetch, len(q.repost)-q.buffer) && q.repost[q.buffer+n] <= now {
		n++
	}
	q.receives = n
	i, op := r.ops.get()
	*op = recvOp{stage: stageReceive, qp: qp, handle: none, reply: none}
	*r.Ports.DMA.Push(now) = msg.DMA{Kind: msg.KindRecvWQE, PA: r.queueEntry(r.memory.RQ, qp, q.buffer),
		Len: uint32(n) * wqeBytes, Cookie: uint64(i), Oracle: msg.Oracle{Page: msg.NoPage}}
	r.enterStage(now, q, stageReceive)
}

func (r *Responder) queueEntry(base model.PA, qp int32, entry int) model.PA {
	n := uint64(r.memory.Entries)
	return base + model.PA((uint64(qp)*n+uint64(entry)%n)*wqeBytes)
}

// writeReceiveEntry completes the receive into buffer b; software posts it again.
func (r *Responder) writeReceiveEntry(now clocked.Time, qp int32, b int) {
	*r.Ports.DMA.Push(now) = msg.DMA{Kind: msg.KindCQE, Write: true, PA: r.queueEntry(r.memory.CQ, qp, b),
		Len: cqeBytes, Cookie: uint64(qp), Oracle: msg.Oracle{Page: msg.NoPage}}
	r.qps[qp].repost[b] = now + r.spec.QP.Repost
}

// address is where the head's next byte belongs.
func (r *Responder) address(q *recvQP) model.VA {
	p := r.first(q)
	if p.Op != model.OpSend || len(q.repost) == 0 {
		return p.VA + model.VA(q.offset)
	}
	b := &r.buffers[p.QP]
	return b.VA + model.VA(uint64(q.taken())*uint64(b.Len)+uint64(p.Offset+q.offset))
}

// page is the dense number of the process page at va, which belongs to the head.
func (r *Responder) page(q *recvQP, va model.VA) uint32 {
	p := r.first(q)
	if p.Op == model.OpSend {
		b := &r.buffers[p.QP]
		return pageAt(b.Page, b.VA, va, r.spec.HostPage)
	}
	return pageAt(p.Page, p.VA, va, r.spec.HostPage)
}
