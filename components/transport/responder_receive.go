package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/rc"
)

// advance takes the QP's packets on until one must wait.
func (r *Responder) advance(now clocked.Time, qp int32) {
	q := &r.qps[qp]
	for {
		moved := false
		switch q.stage {
		case stageIdle:
			moved = r.protocol.next(qp, q)
			if moved {
				r.begin(now, qp, q)
			}
		case stageCheck:
			r.protocol.check(now, qp, q)
			moved = true
		case stagePiece:
			moved = r.piece(now, qp, q)
		}
		if !moved {
			return
		}
	}
}

func (r *Responder) enterStage(now clocked.Time, q *recvQP, s stage) { q.stage, q.since = s, now }

// want lines the QP up for the DMA wire.
func (r *Responder) want(now clocked.Time, qp int32, q *recvQP, s stage) {
	r.enterStage(now, q, s)
	*r.transfers.Push() = qp
}

// begin looks the context up for the packet at the head.
func (r *Responder) begin(now clocked.Time, qp int32, q *recvQP) {
	n := &r.waiting.slots[q.head]
	n.packet.Ledger.Charge(min(n.at, now), measure.CauseResponder)
	n.packet.Ledger.Charge(now, measure.CauseRxBuffer)
	q.packet = rulesView(n.packet)
	q.offset, q.counted, q.lastOp, q.unplaced = 0, false, none, false
	tag := uint64(qp)
	if _, hit := r.context.Lookup(tag, tag); hit {
		r.enterStage(now, q, stageCheck)
		return
	}
	r.Stats.ContextMisses++
	_, victim, evicted := r.context.Fill(tag, tag)
	if evicted { // every packet changes its context, so every victim is dirty
		q.victim = victim
		r.want(now, qp, q, stageWriteBack)
		return
	}
	r.want(now, qp, q, stageContextRead)
}

// rulesView is the packet as model/rc sees it.
func rulesView(p *msg.Packet) rc.Packet {
	i, n := uint32(1), uint32(3)
	switch {
	case p.First && p.Last:
		i, n = 0, 1
	case p.First:
		i, n = 0, 2
	case p.Last:
		i, n = 1, 2
	}
	extra := rc.NoExtra
	if p.Invalidate != 0 {
		extra = rc.WithInvalidate
	}
	return rc.Packet{Opcode: rc.RequestOpcode(p.Op, extra, i, n), AckRequest: p.AckReq, PSN: rc.PSN(p.PSN),
		Payload: p.Payload, Length: p.MsgLen, Key: key.Key(p.Key), VA: p.VA}
}

// admit starts a packet that is in order.
func (r *Responder) admit(now clocked.Time, qp int32, q *recvQP) {
	o := q.packet.Opcode
	if o.First() {
		q.checked = false
		if !q.stalled {
			q.looked = 0
		}
	}
	q.stalled = false
	if r.per != perRequest {
		q.checked = false
	}
	switch {
	case o.TakesReceive() && q.receives == 0:
		r.want(now, qp, q, stageReceiveRead)
		return
	case o.TakesReceive():
		r.takeReceive(q)
	}
	r.received(now, qp, q)
}

// received goes on with a packet whose receive buffer, if it needs one, is known.
func (r *Responder) received(now clocked.Time, qp int32, q *recvQP) {
	o := q.packet.Opcode
	if o.Op() == model.OpSend && uint64(r.first(q).Offset)+uint64(q.packet.Payload) > uint64(r.buffers[qp].Len) {
		r.protocol.tooLong(now, qp, q)
		return
	}
	r.enterStage(now, q, stagePiece)
}

// first is the packet at the head.
func (r *Responder) first(q *recvQP) *msg.Packet { return r.waiting.slots[q.head].packet }

// finish takes the head out of the receive buffer; its packet has gone on as a
// reply or back to the pool.
func (r *Responder) finish(now clocked.Time, q *recvQP) {
	n := r.waiting.remove(q.head)
	r.used -= n.bytes
	q.head = n.next
	if q.head == none {
		q.tail = none
	}
	r.enterStage(now, q, stageIdle)
	if q.held != none {
		r.beginHold(now, n.qp)
	}
}

// beginHold limits how long a translation waits for its message's next packet.
func (r *Responder) beginHold(now clocked.Time, qp int32) {
	at := now + r.spec.Adapter.Hold
	if r.holds.Len() == 0 {
		r.wakeAt(&r.holdAlarm, at)
	}
	*r.holds.Push() = hold{until: at, qp: qp}
}

// endHolds gives back what has been held in vain.
func (r *Responder) endHolds(now clocked.Time) {
	for r.holds.Len() > 0 {
		h := *r.holds.Front()
		if h.until > now {
			r.wakeAt(&r.holdAlarm, h.until)
			return
		}
		r.holds.Pop()
		if q := &r.qps[h.qp]; q.stage == stageIdle && q.since+r.spec.Adapter.Hold <= now {
			r.letGo(q)
		}
	}
}

func (r *Responder) discard(now clocked.Time, q *recvQP) {
	r.Stats.Dropped++
	r.pool.Put(r.first(q))
	r.finish(now, q)
}
