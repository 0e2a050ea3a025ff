package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/rc"
)

// rcResponder is the reliable connection at a responder: model/rc in time.
type rcResponder struct {
	*Responder
	recvs   []rcRecv
	updated clocked.Time // qp.flood: when the last QP to learn of its page has
}

// rcRecv is the reliable connection of a QP.
type rcRecv struct {
	fresh  bool      // the head is not authorized yet
	again  bool      // the head is a READ executed before
	before rc.Cursor // of an atomic's execution
	skip   bool      // READ responses up to the last are behind a NAK that took one's place

	cut      bool   // a READ was put off in mid-response, at cutAt
	cutNamed bool   // and the packets behind have had their NAK
	cutAt    rc.PSN // response missing

	freshAt clocked.Time // qp.flood: when the QP learns that its page is there
	flooded bool         // qp.flood: it has not

	rules rc.Responder
}

func newRCResponder(r *Responder, psn uint32) (*rcResponder, error) {
	s := &r.spec
	rules, err := rc.NewResponder(rc.ResponderConfig{MTU: r.mtu, Rights: key.RemoteRead | key.RemoteWrite | key.RemoteAtomic,
		Resources: s.QP.MaxRdAtomic, RNRTimer: uint8(s.QP.RNRTimer), NAKAfterRNR: s.QP.NakAfterRNR == "once"}, rc.PSN(psn))
	if err != nil {
		return nil, err
	}
	t := &rcResponder{Responder: r, recvs: make([]rcRecv, s.QPs)}
	for i := range t.recvs {
		t.recvs[i].rules = *rules
	}
	return t, nil
}

func (r *rcResponder) buffered(p *msg.Packet) int64 { return int64(p.WireLen) - gapBytes }

func (r *rcResponder) arrived(clocked.Time, int32, *msg.Packet) bool { return true }

func (r *rcResponder) next(_ int32, q *recvQP) bool { return q.head != none }

func (r *rcResponder) parked() int { return 0 }

// expire has nothing to do: the timers of a reliable connection are the
// requester's.
func (r *rcResponder) expire(clocked.Time, int32) {}

// check applies the rules that need no memory.
func (r *rcResponder) check(now clocked.Time, qp int32, q *recvQP) {
	c := &r.recvs[qp]
	c.fresh, c.again = true, false
	if c.cut && r.behindCut(now, qp, q) {
		return
	}
	a := c.rules.Admit(q.packet, r.posted(now, q))
	switch a.Kind {
	case rc.Continue:
		r.admit(now, qp, q)
	case rc.ReplayRead:
		r.Stats.Duplicates++
		c.again, q.checked = true, false
		r.enterStage(now, q, stagePiece)
	case rc.SendAck, rc.ReplayAtomic:
		r.Stats.Duplicates++
		if c.cut {
			a.PSN = c.cutAt.Add(1<<24 - 1) // what follows the cut is not acknowledged
		}
		r.answer(now, qp, q, a)
	case rc.SendRNR:
		r.Stats.RNRNoReceive++
		q.stalled = true
		r.answer(now, qp, q, a)
	case rc.SendNAK:
		r.answer(now, qp, q, a)
	default:
		r.discard(now, q)
	}
}

// behindCut refuses what follows a READ that was put off in mid-response; the
// rules alone count that READ as executed.
func (r *rcResponder) behindCut(now clocked.Time, qp int32, q *recvQP) bool {
	c := &r.recvs[qp]
	if q.packet.PSN.Before(c.rules.Expected) {
		return false
	}
	if r.spec.QP.NakAfterRNR == "once" && !c.cutNamed {
		c.cutNamed = true
		r.answer(now, qp, q, rc.Action{Kind: rc.SendNAK, Syndrome: rc.NAKSequence, PSN: c.cutAt, MSN: c.rules.MSN})
		return true
	}
	r.discard(now, q)
	return true
}

// again tells whether the head was executed before, and is not what a cut READ
// is missing.
func (r *rcResponder) again(qp int32) bool { return r.recvs[qp].again && !r.recvs[qp].cut }

// unchecked is the rest of the message, none of which was checked yet, or
// nothing.
func (r *rcResponder) unchecked(qp int32, q *recvQP, _ model.VA) uint32 {
	if q.checked {
		return 0
	}
	return r.rest(qp, q)
}

// rest ends a SEND with its packet: how long it will be is not told.
func (r *rcResponder) rest(qp int32, q *recvQP) uint32 {
	return r.recvs[qp].rules.Remaining(&q.packet) - q.offset
}

// authorize applies the rules that follow the first translation granted to a
// packet; false: it was refused.
func (r *rcResponder) authorize(now clocked.Time, qp int32, q *recvQP) bool {
	c := &r.recvs[qp]
	if !c.fresh {
		return true
	}
	c.fresh = false
	if c.again {
		return true
	}
	a := c.rules.Authorize(q.packet, key.OK)
	if a.Kind == rc.Continue && q.packet.Opcode.Op().Responds() {
		// Executed before the transfer, so that duplicates find it.
		c.before = c.rules.Cursor
		a = c.rules.Execute(q.packet, rc.Done, 0)
		if a.Kind == rc.SendResponse {
			r.Stats.Messages++
			return true
		}
	}
	if a.Kind == rc.Continue {
		return true
	}
	r.letGo(q)
	r.answer(now, qp, q, a)
	return false
}

func (r *rcResponder) refuse(now clocked.Time, qp int32, q *recvQP, o msg.Outcome, _ key.Verdict) {
	r.answer(now, qp, q, r.refusal(qp, q, o))
}

// refusal is the NAK for a key that is refused or a fault that failed. What
// happens to a receive buffer is the responder's own error.
func (r *rcResponder) refusal(qp int32, q *recvQP, o msg.Outcome) rc.Action {
	c := &r.recvs[qp]
	switch {
	case o == msg.OutcomeRemoteOp, q.packet.Opcode.Op() == model.OpSend:
		a := c.rules.Execute(q.packet, rc.ReceiveMalformed, 0)
		a.PSN = r.responsePSN(q)
		return a
	case c.fresh && !c.again:
		return c.rules.Authorize(q.packet, key.NoRight)
	}
	return c.rules.Recheck(r.responsePSN(q), key.NoRight)
}

func (r *rcResponder) tooLong(now clocked.Time, qp int32, q *recvQP) {
	r.answer(now, qp, q, r.recvs[qp].rules.Execute(q.packet, rc.ReceiveTooSmall, 0))
}

// responsePSN is the PSN of the response, or request, that holds the next byte.
func (r *rcResponder) responsePSN(q *recvQP) rc.PSN {
	if q.packet.Opcode.Op() == model.OpRead {
		return q.packet.PSN.Add(q.offset / r.mtu)
	}
	return q.packet.PSN
}

func (r *rcResponder) withdraw(qp int32) {
	c := &r.recvs[qp]
	c.rules.Withdraw(c.before)
	r.Stats.Messages--
}

func (r *rcResponder) stop(qp int32) { r.recvs[qp].rules.Fail() }
