package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// piece goes on with the head's next piece, or ends the packet.
func (r *Responder) piece(now clocked.Time, qp int32, q *recvQP) bool {
	p := r.first(q)
	if q.offset == q.packet.Bytes() {
		return r.protocol.endPacket(now, qp, q)
	}
	va := r.address(q)
	if q.held != none && q.heldPage != r.spec.AdapterPage.Number(va) {
		r.letGo(q)
	}
	if q.held == none {
		r.enterStage(now, q, stageTranslate)
		*r.translates.Push() = qp
		return false
	}
	if !r.protocol.authorize(now, qp, q) {
		return true
	}
	switch {
	case p.Op == model.OpRead:
		return r.wantLoad(now, qp, q)
	case p.Op.Atomic():
		r.want(now, qp, q, stageAtomicLoad)
	default:
		r.want(now, qp, q, stageStore)
	}
	return false
}

// span is how many of the head's bytes at va one look-up serves.
func (r *Responder) span(q *recvQP, va model.VA) uint32 {
	op := q.packet.Opcode.Op()
	n := min(q.packet.Bytes()-q.offset, toBoundary(uint64(va), r.spec.AdapterPage.Bytes()))
	if op == model.OpRead && r.per != perRequest {
		n = min(n, r.mtu-q.offset%r.mtu)
	}
	if r.per == perTLP {
		n = min(n, toBoundary(uint64(va), uint64(r.tlpBytes(op))))
	}
	return n
}

// toBoundary is the distance from at to the next multiple of size, a power of
// two, as far as 32 bits tell.
func toBoundary(at, size uint64) uint32 { return uint32(min(size-at&(size-1), 1<<31)) }

func (r *Responder) tlpBytes(op model.Op) uint32 {
	if op == model.OpRead {
		return r.spec.MRRS
	}
	return r.spec.MPS
}

// askTranslation asks for the page of the head's next byte.
func (r *Responder) askTranslation(now clocked.Time, qp int32) {
	q := &r.qps[qp]
	p := r.first(q)
	if q.stage == stageInvalidate {
		r.invalidate(now, qp, q)
		return
	}
	va := r.address(q)
	n := r.span(q, va)
	t := msg.Translate{Cookie: uint64(qp), QP: uint32(qp), PD: r.buffers[qp].PD, Key: p.Key, Op: p.Op,
		Write: p.Op.Writes(), Replay: va < q.looked || q.counted, Hold: r.hold, VA: va, Len: n, Rest: r.protocol.rest(qp, q),
		Page: r.page(q, va), Access: p.Access, Ledger: &p.Ledger}
	if p.Op == model.OpSend {
		t.Key = r.buffers[qp].Key
	}
	if n := r.protocol.unchecked(qp, q, va); n > 0 {
		t.CheckKey, t.CheckVA, t.CheckLen = true, va, n
	}
	if !q.counted {
		q.looked = max(q.looked, va+model.VA(n))
	}
	p.Ledger.Charge(now, measure.CauseResponder)
	*r.Ports.Translate.Push(now) = t
	r.enterStage(now, q, stageTranslation)
}

// takeTranslations takes answers, and requests to give translations back.
func (r *Responder) takeTranslations(now clocked.Time) {
	for t := r.Ports.Translation.Peek(now); t != nil; t = r.Ports.Translation.Peek(now) {
		answer := *t
		r.Ports.Translation.Pop(now)
		if answer.Outcome == msg.OutcomeRevoke {
			r.revoke(answer.Handle)
			continue
		}
		if answer.Cookie >= ringCookie {
			r.found(now, uint32(answer.Cookie), &answer)
			continue
		}
		r.translated(now, int32(answer.Cookie), &answer)
	}
}

func (r *Responder) translated(now clocked.Time, qp int32, t *msg.Translation) {
	q := &r.qps[qp]
	r.first(q).Ledger.Charge(now, measure.CauseTranslate)
	switch {
	case q.stage == stageInvalidation:
		r.invalidated(now, qp, q, t.Outcome)
	case t.Outcome == msg.OutcomeOK:
		r.granted(now, qp, q, t)
	case t.Outcome == msg.OutcomeAbsent && r.wantBackUp(now, qp, q): // goes to the ring
	case t.Outcome == msg.OutcomeAbsent, t.Outcome == msg.OutcomeMoving:
		r.protocol.absent(now, qp, q, t.Outcome)
	default:
		r.protocol.refuse(now, qp, q, t.Outcome, t.Why)
	}
	r.advance(now, qp)
}

// granted holds a translation.
func (r *Responder) granted(now clocked.Time, qp int32, q *recvQP, t *msg.Translation) {
	va := r.address(q)
	q.checked = true
	q.held = r.handles.add(handle{number: t.Handle, qp: qp, live: true})
	q.heldPage = r.spec.AdapterPage.Number(va)
	q.heldPA = t.PA - model.PA(uint64(va)&(r.spec.AdapterPage.Bytes()-1))
	q.heldAddress = t.Address
	if behindIOMMU(t.Address) {
		q.heldAddress.Writer = uint32(qp) + 1
	}
	r.enterStage(now, q, stagePiece)
	r.protocol.reconsider(now, qp, q)
}

// letGo ends the QP's use of its translation.
func (r *Responder) letGo(q *recvQP) {
	if q.held == none {
		return
	}
	i := q.held
	q.held = none
	r.handles.slots[i].closed = true
	r.release(i)
}

// release gives a translation back when no use of it is outstanding.
func (r *Responder) release(i int32) {
	h := &r.handles.slots[i]
	if !h.closed || h.refs > 0 {
		return
	}
	*r.releases.Push() = h.number
	r.handles.remove(i)
}

// revoke ends the use of a translation that the TPT wants back: transfers
// issued or about to be finish, later packets look up again. A translation
// already given back is none of ours any more.
func (r *Responder) revoke(number uint32) {
	for i := range r.handles.slots {
		h := &r.handles.slots[i]
		if !h.live || h.number != number || h.revoked {
			continue
		}
		h.revoked = true
		r.Stats.Revoked++
		if h.qp == none {
			r.unfind(int32(i))
			return
		}
		q := &r.qps[h.qp]
		if q.held == int32(i) && !q.aboutToUse() {
			q.checked = false
			r.letGo(q)
		}
		return
	}
}

// aboutToUse tells whether the head has only to wait for the DMA wire.
func (q *recvQP) aboutToUse() bool {
	switch q.stage {
	case stageStore, stageLoad, stageAtomicLoad, stageAtomic, stageAtomicStore, stageProve:
		return true
	}
	return false
}
