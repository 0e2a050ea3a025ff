package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/rc"
)

// endPacket ends the head, all of whose pieces are done.
func (r *rcResponder) endPacket(now clocked.Time, qp int32, q *recvQP) bool {
	c := &r.recvs[qp]
	p := r.first(q)
	if p.Op.Responds() {
		r.endRead(now, qp, q)
		return true
	}
	if c.fresh { // no bytes: nothing was looked up
		c.fresh = false
		if a := c.rules.Authorize(q.packet, key.ZeroLength); a.Kind != rc.Continue {
			r.answer(now, qp, q, a)
			return true
		}
	}
	return r.endPieces(now, qp, q)
}

// execute ends the head, a SEND or WRITE packet all of whose bytes are stored.
func (r *rcResponder) execute(now clocked.Time, qp int32, q *recvQP, e rc.Execution) {
	c := &r.recvs[qp]
	a := c.rules.Execute(q.packet, e, 0)
	if a.Kind != rc.Fail {
		executed(r.first(q))
		if q.packet.Opcode.Last() {
			r.Stats.Messages++
		}
	}
	if a.Kind == rc.SendAck {
		r.acknowledge(now, qp, q)
		return
	}
	r.pool.Put(r.first(q))
	r.afterAck(now, qp, q)
}

// owe queues the ACK of the head.
func (r *rcResponder) owe(qp int32, q *recvQP, waits int32) int32 {
	return r.reply(qp, q, r.first(q), r.ack(qp, q), waits)
}

// ack is what acknowledges the head.
func (r *rcResponder) ack(qp int32, q *recvQP) rc.Action {
	return rc.Action{Syndrome: rc.AckUnlimited, PSN: q.packet.PSN, MSN: r.recvs[qp].rules.MSN}
}

// endRead ends a READ all of whose transfers are issued, or an atomic.
func (r *rcResponder) endRead(now clocked.Time, qp int32, q *recvQP) {
	c := &r.recvs[qp]
	p := r.first(q)
	r.letGo(q)
	if c.again {
		if end := q.packet.PSN.Add(rc.Span(p.Op, uint64(p.MsgLen), r.mtu)); c.cut && end == c.rules.Expected {
			c.cut = false
		}
	} else if c.fresh { // no bytes
		if a := c.rules.Execute(q.packet, rc.Done, 0); a.Kind != rc.SendResponse {
			r.answer(now, qp, q, a)
			return
		}
		r.Stats.Messages++
	}
	if p.Op == model.OpRead && p.MsgLen > 0 {
		r.pool.Put(p)
	} else {
		r.reply(qp, q, p, r.ack(qp, q), 0)
	}
	r.finish(now, q)
}

// answer ends the head with the reply that the rules ask for. A READ response
// that was being read becomes that reply.
func (r *rcResponder) answer(now clocked.Time, qp int32, q *recvQP, a rc.Action) {
	p := r.first(q)
	if a.Syndrome == rc.NAKSequence {
		r.Stats.SequenceNaks++
	}
	r.letGo(q)
	if q.open != none {
		rep := &r.replies.slots[q.open]
		rep.open = false
		toResponse(rep.packet, a)
		q.open = none
		r.pool.Put(p)
		r.wantEmit(qp, q)
	} else {
		r.reply(qp, q, p, a, 0)
	}
	r.finish(now, q)
}

func toResponse(p *msg.Packet, a rc.Action) {
	p.Response, p.First, p.Last = true, true, true
	p.Syndrome, p.PSN, p.MSN, p.Payload = uint8(a.Syndrome), uint32(a.PSN), a.MSN, 0
}

// reply queues the request packet p as a response.
func (r *rcResponder) reply(qp int32, q *recvQP, p *msg.Packet, a rc.Action, waits int32) int32 {
	toResponse(p, a)
	i := r.replies.add(reply{packet: p, waits: waits, next: none})
	r.append(qp, q, i)
	return i
}

// label numbers the READ response that holds the head's next byte.
func (r *rcResponder) label(qp int32, q *recvQP, p *msg.Packet) {
	p.PSN, p.MSN, p.Syndrome = uint32(r.responsePSN(q)), r.recvs[qp].rules.MSN, uint8(rc.AckUnlimited)
}

func (r *rcResponder) mayEmit(_ int32, q *recvQP) bool { return r.replyReady(q) }

// emit sends the QP's oldest reply.
func (r *rcResponder) emit(now clocked.Time, qp int32, q *recvQP) {
	c, rep := &r.recvs[qp], r.popReply(q)
	p := rep.packet
	if c.behindNak(p) {
		r.pool.Put(p)
		return
	}
	if rep.status != msg.StatusSuccess {
		c.replace(p, rep.status)
	}
	if rc.Syndrome(p.Syndrome).RNR() {
		r.Stats.RNRSent++
	}
	p.Ledger.Charge(now, measure.CauseResponder)
	r.out.put(now, p, wireLen(p))
}

// blame notes how a read that the reply waited for has ended.
func (r *rcResponder) blame(i int32, status msg.Status) {
	if status == msg.StatusSuccess {
		return
	}
	rep := &r.replies.slots[i]
	if status == msg.StatusRetry && rep.packet.Op == model.OpRead {
		if rep.status == msg.StatusSuccess {
			rep.status = status
			r.countRNR(msg.OutcomeAbsent)
		}
		return
	}
	rep.status = msg.StatusAbort
}

// replace puts the NAK that its status asks for in the place of a reply; the
// rest of a READ's responses are then in vain.
func (c *rcRecv) replace(p *msg.Packet, status msg.Status) {
	c.skip = p.Op == model.OpRead && !p.Last
	psn := rc.PSN(p.PSN)
	if status == msg.StatusRetry {
		toResponse(p, c.rules.PutOff(psn))
		return
	}
	toResponse(p, c.rules.Abort(psn))
}

// behindNak tells whether the reply is a READ response behind one that a NAK
// has replaced. A NAK of its own that ends the QP still goes out.
func (c *rcRecv) behindNak(p *msg.Packet) bool {
	if !c.skip {
		return false
	}
	c.skip = !p.Last
	return !rc.Syndrome(p.Syndrome).Fatal()
}
