package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// endPieces ends what a packet does to memory, all of whose pieces are done:
// what is left is the invalidation of a key. False: the packet waits for it.
func (r *Responder) endPieces(now clocked.Time, qp int32, q *recvQP) bool {
	p := r.first(q)
	if p.Last || r.per == perPacket {
		r.letGo(q)
	}
	switch {
	case p.Invalidate == 0:
		r.protocol.execute(now, qp, q, rc.Done)
		return true
	case q.backed > 0:
		r.enterStage(now, q, stageMerged)
	default:
		r.enterStage(now, q, stageInvalidate)
		*r.translates.Push() = qp
	}
	return false
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

// openResponse queues the READ response that holds the head's next byte.
func (r *Responder) openResponse(q *recvQP) int32 {
	p := r.first(q)
	n := r.pool.Get()
	n.QP, n.Op, n.Access, n.Response = p.QP, p.Op, p.Access, true
	n.Offset = p.Offset + q.offset
	n.Payload = rc.Payload(q.offset/r.mtu, uint64(p.MsgLen), r.mtu)
	n.First, n.Last = q.offset == 0, q.offset+n.Payload == p.MsgLen
	n.Ledger.Last = p.Ledger.Last
	r.protocol.label(int32(p.QP), q, n)
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
