package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// merge does what is due at the backup ring, and tells whether that lets
// another go on.
func (r *Responder) merge(now clocked.Time) (moved bool) {
	b := &r.ring
	for r.mergeNext(now) {
		moved = true
	}
	for b.delayed.Len() > 0 && int32(b.delayed.Front().after-b.head) <= 0 && r.Ports.DMA.Ready(now) {
		d := b.delayed.Pop()
		r.qps[d.qp].delayed--
		r.writeReceiveEntry(now, d.qp, d.buffer)
	}
	for b.again.Len() > 0 && r.Ports.Translate.Ready(now) {
		if at := b.again.Front().at; at > now {
			r.wakeAt(&b.alarm, at)
			break
		}
		r.find(now, b.again.Pop().number)
	}
	for b.asked != b.tail && b.open < r.spec.Adapter.BackupAhead && r.Ports.Translate.Ready(now) {
		b.open++
		b.asked++
		r.find(now, b.asked-1)
	}
	return moved
}

// mergeNext brings software's work on and tells whether an entry is merged. Its
// data go to the page by DMA, where software would copy them.
func (r *Responder) mergeNext(now clocked.Time) bool {
	b := &r.ring
	if b.copied == clocked.Never && !r.pick(now) {
		return false
	}
	if b.copied > now || !r.Ports.DMA.Ready(now) {
		return false
	}
	e := &b.entries[b.slot(b.copying)]
	i, op := r.ops.get()
	*op = recvOp{stage: stageMerged, qp: e.qp, handle: e.held, reply: none}
	h := &r.handles.slots[e.held]
	h.refs, h.closed = 1, true
	*r.Ports.DMA.Push(now) = msg.DMA{Kind: msg.KindData, Write: true, Notify: true, PA: e.pa, Len: e.n, Cookie: uint64(i),
		Oracle: e.oracle, Address: e.bus}
	b.copied = clocked.Never
	r.leave(now, e)
	return true
}

// pick gives software the next entry. A number may be in the list twice where
// a translation was called back.
func (r *Responder) pick(now clocked.Time) bool {
	b := &r.ring
	for b.found.Len() > 0 {
		n := b.found.Pop()
		if int32(n-b.head) < 0 || b.entries[b.slot(n)].state != entryFound {
			continue
		}
		b.copying, b.copied = n, now+r.spec.Adapter.BackupCopy
		if b.copied > now {
			r.engine.Wake(r.id, b.copied)
		}
		return true
	}
	return false
}

// leave ends an entry.
func (r *Responder) leave(now clocked.Time, e *entry) {
	b := &r.ring
	e.state = entryDone
	b.open--
	for b.head != b.tail && b.entries[b.slot(b.head)].state == entryDone {
		b.head++
	}
	q := &r.qps[e.qp]
	q.backed--
	if q.backed == 0 && q.stage == stageMerged {
		r.enterStage(now, q, stagePiece)
		r.advance(now, e.qp)
	}
}

// find asks for an entry's page, to be held until it is there. Each buffer of
// the ring has a fault of its own beside those of the QPs, so the answer does
// not depend on what else its QP faults on.
func (r *Responder) find(now clocked.Time, number uint32) {
	e := &r.ring.entries[r.ring.slot(number)]
	if r.ring.overlaps(e.va, e.n, number) {
		*r.ring.again.Push() = retry{at: now + askAgain, number: number}
		return
	}
	e.state = entryAsked
	e.ledger.Open(now)
	*r.Ports.Translate.Push(now) = msg.Translate{Cookie: ringCookie | uint64(number), QP: uint32(len(r.qps)) + r.ring.slot(number),
		PD: r.buffers[e.qp].PD, Key: e.key, Op: e.op, Write: true, Replay: true, Hold: true, VA: e.va, Len: e.n,
		CheckKey: true, CheckVA: e.va, CheckLen: e.n, Page: e.oracle.Page, Ledger: &e.ledger}
}

// found takes the answer. A key that has died since the packet was
// acknowledged, or a fault that failed, is the end of the entry and of its QP.
func (r *Responder) found(now clocked.Time, number uint32, t *msg.Translation) {
	e := &r.ring.entries[r.ring.slot(number)]
	switch t.Outcome {
	case msg.OutcomeOK:
		e.state, e.pa, e.bus = entryFound, t.PA, t.Address
		e.held = r.handles.add(handle{number: t.Handle, qp: none, entry: number, live: true})
		*r.ring.found.Push() = number
	case msg.OutcomeAbsent, msg.OutcomeMoving:
		*r.ring.again.Push() = retry{at: now + askAgain, number: number}
	default:
		r.Stats.BackupLost++
		r.protocol.stop(e.qp)
		r.leave(now, e)
	}
}

// unfind gives a translation back that the TPT wants before its entry's turn.
// One that software is at work on, or whose write is out, ends soon.
func (r *Responder) unfind(i int32) {
	h := &r.handles.slots[i]
	number := h.entry
	if h.closed || number == r.ring.copying && r.ring.copied != clocked.Never {
		return
	}
	r.ring.entries[r.ring.slot(number)].state = entryStored
	h.closed = true
	r.release(i)
	*r.ring.again.Push() = retry{number: number}
}
