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
func (r *Responder) endPacket(now clocked.Time, qp int32, q *recvQP) bool {
	p := r.first(q)
	if p.Op.Responds() {
		r.endRead(now, qp, q)
		return true
	}
	if q.fresh { // no bytes: nothing was looked up
		q.fresh = false
		if a := q.rules.Authorize(q.packet, key.ZeroLength); a.Kind != rc.Continue {
			r.answer(now, qp, q, a)
			return true
		}
	}
	if p.Last || r.per == perPacket {
		r.letGo(q)
	}
	if p.Invalidate != 0 && q.backed > 0 {
		r.enterStage(now, q, stageMerged)
		return false
	}
	if p.Invalidate != 0 {
		r.enterStage(now, q, stageInvalidate)
		*r.translates.Push() = qp
		return false
	}
	r.execute(now, qp, q, rc.Done)
	return true
}

// execute ends the head, a SEND or WRITE packet all of whose bytes are stored.
func (r *Responder) execute(now clocked.Time, qp int32, q *recvQP, e rc.Execution) {
	a := q.rules.Execute(q.packet, e, 0)
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

// executed counts the payload of a packet for its access, unless that has failed
// meanwhile and its place is another's.
func executed(p *msg.Packet) {
	if a := p.Access; a != nil && p.Write>>24 == a.ID+1 {
		a.Placed += p.Payload
	}
}

// acknowledge lets the head, a SEND or WRITE packet that is executed, be
// acknowledged when the point of acknowledgement is reached.
func (r *Responder) acknowledge(now clocked.Time, qp int32, q *recvQP) {
	switch {
	case r.ackAt == ackReceipt, !q.unplaced, q.lastOp == none && r.ackAt == ackIssue:
		r.protocol.owe(qp, q, 0)
	case r.ackAt == ackIssue:
		r.ops.slots[q.lastOp].reply = r.protocol.owe(qp, q, 1)
	default:
		q.flushed = r.protocol.owe(qp, q, 1)
		r.want(now, qp, q, stageFlush)
		return
	}
	r.afterAck(now, qp, q)
}

// owe queues the ACK of the head.
func (r *Responder) owe(qp int32, q *recvQP, waits int32) int32 {
	return r.reply(qp, q, r.first(q), r.ack(q), waits)
}

// ack is what acknowledges the head.
func (r *Responder) ack(q *recvQP) rc.Action {
	return rc.Action{Syndrome: rc.AckUnlimited, PSN: q.packet.PSN, MSN: q.rules.MSN}
}

// afterAck ends a SEND or WRITE packet whose reply is queued.
func (r *Responder) afterAck(now clocked.Time, qp int32, q *recvQP) {
	if o := q.packet.Opcode; o.Op() == model.OpSend && o.Last() {
		if q.backed > 0 || q.delayed > 0 {
			r.ring.delay(qp, q)
			r.finish(now, q)
			return
		}
		r.want(now, qp, q, stageReceiveEntry)
		return
	}
	r.finish(now, q)
}

// endRead ends a READ all of whose transfers are issued, or an atomic.
func (r *Responder) endRead(now clocked.Time, qp int32, q *recvQP) {
	p := r.first(q)
	r.letGo(q)
	if q.again {
		if end := q.packet.PSN.Add(rc.Span(p.Op, uint64(p.MsgLen), r.mtu)); q.cut && end == q.rules.Expected {
			q.cut = false
		}
	} else if q.fresh { // no bytes
		q.fresh = false
		if a := q.rules.Execute(q.packet, rc.Done, 0); a.Kind != rc.SendResponse {
			r.answer(now, qp, q, a)
			return
		}
		r.Stats.Messages++
	}
	if p.Op == model.OpRead && p.MsgLen > 0 {
		r.pool.Put(p)
	} else {
		r.reply(qp, q, p, r.ack(q), 0)
	}
	r.finish(now, q)
}

// answer ends the head with the reply that the rules ask for. A READ response
// that was being read becomes that reply.
func (r *Responder) answer(now clocked.Time, qp int32, q *recvQP, a rc.Action) {
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
func (r *Responder) reply(qp int32, q *recvQP, p *msg.Packet, a rc.Action, waits int32) int32 {
	toResponse(p, a)
	i := r.replies.add(reply{packet: p, waits: waits, next: none})
	r.append(qp, q, i)
	return i
}

// openResponse queues the READ response that holds the head's next byte.
func (r *Responder) openResponse(q *recvQP) int32 {
	p := r.first(q)
	n := r.pool.Get()
	n.QP, n.Op, n.Access, n.Response = p.QP, p.Op, p.Access, true
	n.PSN, n.MSN, n.Syndrome = uint32(r.responsePSN(q)), q.rules.MSN, uint8(rc.AckUnlimited)
	n.Payload = rc.Payload(q.offset/r.mtu, uint64(p.MsgLen), r.mtu)
	n.First, n.Last = q.offset == 0, q.offset+n.Payload == p.MsgLen
	n.Ledger.Last = p.Ledger.Last
	i := r.replies.add(reply{packet: n, open: true, next: none})
	r.append(int32(p.QP), q, i)
	return i
}

func (r *Responder) append(qp int32, q *recvQP, i int32) {
	if q.replyTail == none {
		q.replyHead = i
	} else {
		r.replies.slots[q.replyTail].next = i
	}
	q.replyTail = i
	q.replies++
	r.wantEmit(qp, q)
}

// arrivedFor counts a transfer that a reply waited for.
func (r *Responder) arrivedFor(qp, i int32) {
	r.replies.slots[i].waits--
	r.wantEmit(qp, &r.qps[qp])
}

func (r *Responder) wantEmit(qp int32, q *recvQP) {
	if !q.queued && r.protocol.mayEmit(qp, q) {
		q.queued = true
		*r.sending.Push() = qp
	}
}

func (r *Responder) mayEmit(_ int32, q *recvQP) bool { return r.replyReady(q) }

// replyReady tells whether the QP's oldest reply may leave.
func (r *Responder) replyReady(q *recvQP) bool {
	if q.replyHead == none {
		return false
	}
	rep := &r.replies.slots[q.replyHead]
	return rep.waits == 0 && !rep.open
}

// send puts replies on the network, one of each QP in turn, when the wire is
// free for the next.
func (r *Responder) send(now clocked.Time) bool {
	moved := false
	for r.sending.Len() > 0 {
		if free := r.out.free(); free > now {
			r.wakeAt(&r.linkAlarm, free)
			return moved
		}
		if !r.Ports.Tx.Ready(now) {
			return moved
		}
		qp := r.sending.Pop()
		q := &r.qps[qp]
		q.queued = false
		r.protocol.emit(now, qp, q)
		r.wantEmit(qp, q)
		if q.stage == stageReadAhead {
			r.enterStage(now, q, stagePiece)
			r.advance(now, qp)
		}
		moved = true
	}
	return moved
}

// popReply takes the QP's oldest reply.
func (r *Responder) popReply(q *recvQP) reply {
	rep := r.replies.remove(q.replyHead)
	if q.replyHead = rep.next; q.replyHead == none {
		q.replyTail = none
	}
	q.replies--
	return rep
}

func (r *Responder) emit(now clocked.Time, _ int32, q *recvQP) {
	rep := r.popReply(q)
	p := rep.packet
	if r.behindNak(q, p) {
		r.pool.Put(p)
		return
	}
	if rep.status != msg.StatusSuccess {
		r.replace(q, p, rep.status)
	}
	if rc.Syndrome(p.Syndrome).RNR() {
		r.Stats.RNRSent++
	}
	p.Ledger.Charge(now, measure.CauseResponder)
	r.out.put(now, p, wireLen(p))
}
