package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model/key"
)

// What the bus says of a transfer after it was asked for: an IOMMU may meet an
// absent page, or refuse; data may come marked bad, or not at all.

// contextRead goes on with a QP whose context is here. One that could not be
// read is a catastrophic error of the QP: without it nobody can be answered, so
// the QP stops, and the peer finds out by its time-outs.
func (r *Responder) contextRead(now clocked.Time, qp int32, q *recvQP, status msg.Status) {
	r.first(q).Ledger.Charge(now, measure.CauseQPC)
	if status == msg.StatusSuccess {
		r.enterStage(now, q, stageCheck)
	} else {
		r.Stats.ContextErrors++
		q.silent = true
		r.context.Invalidate(uint64(qp), uint64(qp))
		r.protocol.stop(qp)
		r.letGo(q)
		r.discard(now, q)
	}
	r.advance(now, qp)
}

// receivesRead goes on with a SEND whose receive buffer is known, or refuses it:
// no page is at fault, so that trying again would make no sense.
func (r *Responder) receivesRead(now clocked.Time, qp int32, q *recvQP, status msg.Status) {
	r.first(q).Ledger.Charge(now, measure.CauseReceiveWQE)
	if status == msg.StatusSuccess {
		r.takeReceive(q)
		r.received(now, qp, q)
	} else {
		q.receives = 0
		r.protocol.refuse(now, qp, q, msg.OutcomeRemoteOp, key.OK)
	}
	r.advance(now, qp)
}

// stored goes on behind a write of n bytes. One that an IOMMU translates by the
// process's page table may have met no page, and nobody answers a posted write:
// a read of the same place behind it tells.
func (r *Responder) stored(now clocked.Time, qp int32, q *recvQP, n uint32) {
	if behindIOMMU(q.heldAddress) {
		q.stored = n
		r.want(now, qp, q, stageProve)
		return
	}
	q.offset += n
	r.enterStage(now, q, stagePiece)
	r.usedPiece(q)
}

// behindIOMMU tells whether an IOMMU translates the address by the process's page
// table.
func behindIOMMU(a msg.Address) bool { return a.PASID != 0 && !a.Translated }

// prove reads behind the head's last write.
func (r *Responder) prove(now clocked.Time, qp int32, q *recvQP) {
	p := r.first(q)
	i, _ := r.newOp(stageProof, qp, q)
	p.Ledger.Charge(now, measure.CauseDMAQueue)
	d := r.dataDMA(q, false, flushBytes, i)
	d.Kind, d.PA = msg.KindFlush, d.PA&^(flushBytes-1)
	d.Ledger, d.Counts, d.Oracle = &p.Ledger, nil, msg.Oracle{Page: msg.NoPage}
	*r.Ports.DMA.Push(now) = d
	r.enterStage(now, q, stageProof)
	r.usedPiece(q)
}

// proven ends the piece whose proof is here. An atomic whose write may or may
// not have met its page cannot come again.
func (r *Responder) proven(now clocked.Time, qp int32, q *recvQP, status msg.Status) {
	switch {
	case status == msg.StatusSuccess:
		q.offset += q.stored
		q.unplaced = false
		r.enterStage(now, q, stagePiece)
	case q.packet.Opcode.Op().Atomic():
		r.failed(now, qp, q, msg.StatusAbort)
	default:
		r.failed(now, qp, q, status)
	}
	r.advance(now, qp)
}

// atomicLoaded goes on with the old value, or undoes the execution.
func (r *Responder) atomicLoaded(now clocked.Time, qp int32, q *recvQP, status msg.Status) {
	if status == msg.StatusSuccess {
		r.want(now, qp, q, stageAtomicStore)
		return
	}
	r.protocol.withdraw(qp)
	r.failed(now, qp, q, status)
	r.advance(now, qp)
}

// failed ends the head, whose transfer has found no page, or was refused.
func (r *Responder) failed(now clocked.Time, qp int32, q *recvQP, status msg.Status) {
	if status == msg.StatusRetry {
		r.protocol.absent(now, qp, q, msg.OutcomeAbsent)
		return
	}
	r.protocol.refuse(now, qp, q, msg.OutcomeRemoteOp, key.OK)
}
