package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// reconsider puts the head off although its page is there: bytes that wait in
// the backup ring come first, and with qp.flood the QP may not know of the page.
func (r *rcResponder) reconsider(now clocked.Time, qp int32, q *recvQP) {
	c := &r.recvs[qp]
	if !c.flooded && r.ring.idle() {
		return
	}
	va := r.address(q)
	behind := r.ring.overlaps(va, r.span(q, va), r.ring.tail)
	switch {
	case c.flooded && !r.learnt(now, c):
		r.Stats.Flooded++
	case !behind:
		return
	case r.wantBackUp(now, qp, q):
		return
	}
	r.countRNR(msg.OutcomeAbsent)
	r.putOff(now, qp, q)
}

// learnt tells whether the QP knows that its page is there. QPs learn it one
// after the other, from their first look-up on that finds it.
func (r *rcResponder) learnt(now clocked.Time, c *rcRecv) bool {
	if c.freshAt == clocked.Never {
		r.updated = max(r.updated, now) + r.spec.QP.FloodUpdate
		c.freshAt = r.updated
	}
	c.flooded = now < c.freshAt
	return !c.flooded
}

// absent counts an absent page of the head, which meets an RNR NAK.
func (r *rcResponder) absent(now clocked.Time, qp int32, q *recvQP, o msg.Outcome) {
	c := &r.recvs[qp]
	if o == msg.OutcomeAbsent && r.spec.QP.Flood && q.packet.Opcode.Op() == model.OpRead {
		c.flooded, c.freshAt = true, clocked.Never
	}
	r.countRNR(o)
	r.putOff(now, qp, q)
}

func (r *rcResponder) countRNR(o msg.Outcome) {
	if o == msg.OutcomeMoving {
		r.Stats.RNRMoving++
	} else {
		r.Stats.RNRAbsent++
	}
}

// putOff answers the head with an RNR NAK. A READ that has begun is cut: it
// counts as executed, its missing responses will be asked for again.
func (r *rcResponder) putOff(now clocked.Time, qp int32, q *recvQP) {
	c := &r.recvs[qp]
	r.letGo(q)
	q.checked, q.stalled = false, true
	op := q.packet.Opcode.Op()
	if op == model.OpSend && q.packet.Opcode.First() {
		q.untakeReceive()
	}
	if c.fresh && !c.again || op != model.OpRead { // a piece already written will be written again
		r.answer(now, qp, q, c.rules.Translate(q.packet, false))
		return
	}
	at := r.responsePSN(q)
	if end := q.packet.PSN.Add(rc.Span(op, uint64(q.packet.Length), r.mtu)); end == c.rules.Expected {
		c.cut, c.cutNamed, c.cutAt = true, false, at
	}
	r.answer(now, qp, q, c.rules.PutOff(at))
}
