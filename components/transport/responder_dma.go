package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// transfer gives the DMA wire, which is ready, to a QP.
func (r *Responder) transfer(now clocked.Time, qp int32) {
	q := &r.qps[qp]
	switch q.stage {
	case stageWriteBack:
		*r.Ports.DMA.Push(now) = r.contextDMA(q.victim, true, 0)
		r.Stats.ContextWrites++
		r.want(now, qp, q, stageContextRead)
	case stageContextRead:
		i, op := r.ops.get()
		*op = recvOp{stage: stageContext, qp: qp, handle: none, reply: none}
		*r.Ports.DMA.Push(now) = r.contextDMA(uint64(qp), false, uint64(i))
		r.enterStage(now, q, stageContext)
	case stageReceiveRead:
		r.fetchReceives(now, qp, q)
	case stageStore:
		r.store(now, qp, q)
	case stageLoad:
		r.load(now, qp, q)
	case stageAtomicLoad:
		r.atomicLoad(now, qp, q)
	case stageAtomicStore:
		r.atomicStore(now, qp, q)
	case stageFlush:
		r.flush(now, qp, q)
	case stageProve:
		r.prove(now, qp, q)
	case stageBackUp:
		r.backUp(now, qp, q)
	case stageReceiveEntry:
		r.writeReceiveEntry(now, qp, q.taken())
		r.finish(now, q)
	}
	r.advance(now, qp)
}

func (r *Responder) contextDMA(qp uint64, write bool, cookie uint64) msg.DMA {
	n := uint64(r.spec.Adapter.QPCBytes)
	return msg.DMA{Kind: msg.KindQPC, Write: write, PA: r.memory.QPC + model.PA(qp*n), Len: uint32(n),
		Cookie: cookie, Oracle: msg.Oracle{Page: msg.NoPage}}
}

// pieceLen is the bytes of the next transfer: within the look-up, the host
// page, and for a READ the response.
func (r *Responder) pieceLen(q *recvQP, va model.VA) uint32 {
	p := r.first(q)
	n := min(r.span(q, va), toBoundary(uint64(va), r.spec.HostPage.Bytes()))
	if p.Op == model.OpRead {
		n = min(n, r.mtu-q.offset%r.mtu)
	}
	return n
}

// dataDMA is the transfer of n bytes of the head at its offset.
func (r *Responder) dataDMA(q *recvQP, write bool, n uint32, cookie int32) msg.DMA {
	p := r.first(q)
	va := r.address(q)
	return msg.DMA{Kind: msg.KindData, Write: write, Notify: write, Len: n, Cookie: uint64(cookie), Counts: &p.Access.Counts,
		PA:     q.heldPA + model.PA(uint64(va)&(r.spec.AdapterPage.Bytes()-1)),
		Oracle: r.oracle(q, va), Address: q.heldAddress}
}

// oracle is what the content check needs of the head's transfer at va.
func (r *Responder) oracle(q *recvQP, va model.VA) msg.Oracle {
	p := r.first(q)
	return msg.Oracle{Page: r.page(q, va), Offset: p.Offset + q.offset, Write: p.Write}
}

// newOp records a use of the held translation.
func (r *Responder) newOp(s stage, qp int32, q *recvQP) (int32, *recvOp) {
	i, op := r.ops.get()
	op.stage, op.qp, op.handle, op.reply = s, qp, q.held, none
	r.handles.slots[q.held].refs++
	return i, op
}

// usedPiece ends the piece: the translation goes back where it is not held longer.
func (r *Responder) usedPiece(q *recvQP) {
	switch {
	case q.held == none:
	case r.handles.slots[q.held].revoked:
		q.checked = false
		r.letGo(q)
	case r.per == perTLP:
		r.letGo(q)
	}
}

func (r *Responder) store(now clocked.Time, qp int32, q *recvQP) {
	p := r.first(q)
	n := r.pieceLen(q, r.address(q))
	i, _ := r.newOp(stageStore, qp, q)
	*r.Ports.DMA.Push(now) = r.dataDMA(q, true, n, i)
	p.Ledger.Charge(now, measure.CauseDMAQueue)
	q.lastOp, q.unplaced = i, true
	r.stored(now, qp, q, n)
}

// wantLoad opens the READ response that the next piece belongs to.
func (r *Responder) wantLoad(now clocked.Time, qp int32, q *recvQP) bool {
	if q.open == none {
		if q.replies >= r.spec.Adapter.ReadAhead {
			r.enterStage(now, q, stageReadAhead)
			return false
		}
		q.open = r.openResponse(q)
	}
	r.want(now, qp, q, stageLoad)
	return false
}

func (r *Responder) load(now clocked.Time, qp int32, q *recvQP) {
	p := r.first(q)
	n := r.pieceLen(q, r.address(q))
	i, op := r.newOp(stageLoad, qp, q)
	p.Ledger.Charge(now, measure.CauseDMAQueue)
	op.reply, op.ledger = q.open, p.Ledger
	d := r.dataDMA(q, false, n, i)
	d.Ledger = &op.ledger
	*r.Ports.DMA.Push(now) = d
	r.replies.slots[q.open].waits++
	q.offset += n
	if q.offset == p.MsgLen || q.offset%r.mtu == 0 {
		r.replies.slots[q.open].open = false
		q.open = none
		if r.per == perPacket {
			r.letGo(q)
		}
	}
	r.enterStage(now, q, stagePiece)
	r.usedPiece(q)
}

func (r *Responder) atomicLoad(now clocked.Time, qp int32, q *recvQP) {
	p := r.first(q)
	i, _ := r.newOp(stageAtomic, qp, q)
	p.Ledger.Charge(now, measure.CauseDMAQueue)
	d := r.dataDMA(q, false, rc.AtomicBytes, i)
	d.Ledger = &p.Ledger
	*r.Ports.DMA.Push(now) = d
	r.enterStage(now, q, stageAtomic)
}

func (r *Responder) atomicStore(now clocked.Time, qp int32, q *recvQP) {
	i, _ := r.newOp(stageStore, qp, q)
	*r.Ports.DMA.Push(now) = r.dataDMA(q, true, rc.AtomicBytes, i)
	r.first(q).Ledger.Charge(now, measure.CauseDMAQueue)
	r.stored(now, qp, q, rc.AtomicBytes)
}

// flush reads behind the head's last write, whose reply waits for the answer.
// Any address pushes the write; the context table's stays valid.
func (r *Responder) flush(now clocked.Time, qp int32, q *recvQP) {
	i, op := r.ops.get()
	op.stage, op.qp, op.handle, op.reply = stageFlush, qp, none, q.flushed
	rep := &r.replies.slots[q.flushed]
	rep.packet.Ledger.Charge(now, measure.CauseDMAQueue)
	*r.Ports.DMA.Push(now) = msg.DMA{Kind: msg.KindFlush, PA: r.memory.QPC, Len: flushBytes, Cookie: uint64(i),
		Ledger: &rep.packet.Ledger, Oracle: msg.Oracle{Page: msg.NoPage}}
	r.afterAck(now, qp, q)
}

// finishDMA takes answers of transfers.
func (r *Responder) finishDMA(now clocked.Time) {
	for d := r.Ports.DMADone.Peek(now); d != nil; d = r.Ports.DMADone.Peek(now) {
		i, status := int32(d.Cookie), d.Status
		if d.Stale {
			r.Stats.StaleReads++
		}
		r.Ports.DMADone.Pop(now)
		op := r.ops.slots[i]
		if op.handle != none {
			r.handles.slots[op.handle].refs--
			r.release(op.handle)
		}
		r.answered(now, op, status)
		r.ops.put(i)
	}
}

func (r *Responder) answered(now clocked.Time, op *recvOp, status msg.Status) {
	q := &r.qps[op.qp]
	switch op.stage {
	case stageContext:
		r.contextRead(now, op.qp, q, status)
	case stageReceive:
		r.receivesRead(now, op.qp, q, status)
	case stageAtomic:
		r.atomicLoaded(now, op.qp, q, status)
	case stageProof:
		r.proven(now, op.qp, q, status)
	case stageStore:
		if q.lastOp != none && r.ops.slots[q.lastOp] == op {
			q.lastOp = none
		}
		if op.reply != none {
			r.replies.slots[op.reply].packet.Ledger.Charge(now, measure.CauseDMAQueue)
			r.arrivedFor(op.qp, op.reply)
		}
	case stageLoad:
		r.replies.slots[op.reply].packet.Ledger = op.ledger
		r.protocol.blame(op.reply, status)
		r.arrivedFor(op.qp, op.reply)
	case stageFlush:
		r.protocol.blame(op.reply, status)
		r.arrivedFor(op.qp, op.reply)
	}
}
