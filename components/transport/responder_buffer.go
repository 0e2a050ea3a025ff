package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// accept takes packets into the receive buffer. When one does not fit the port
// is paused, or the packet is lost. It tells whether it took any.
func (r *Responder) accept(now clocked.Time) (moved bool) {
	waited := r.paused
	for {
		head := r.Ports.Rx.Peek(now)
		if head == nil {
			return moved
		}
		p := *head
		bytes := r.protocol.buffered(p)
		full := r.used+bytes > int64(r.spec.Adapter.RxBuffer)
		if full && !r.drop {
			r.pause(now)
			return moved
		}
		moved = true
		r.resume(now)
		r.Lose.take(now, r.Ports.Rx, full)
		r.Stats.Packets++
		switch {
		case full:
			r.Stats.RxDrops++
			r.pool.Put(p)
		case p.Lost:
			r.pool.Put(p)
		case int(p.QP) >= len(r.qps) || p.Response:
			r.Stats.Dropped++
			r.pool.Put(p)
		default:
			r.enter(now, p, bytes, waited)
		}
	}
}

func (r *Responder) pause(now clocked.Time) {
	if !r.paused {
		r.paused, r.pausedAt = true, now
		r.Stats.Pauses++
	}
}

func (r *Responder) resume(now clocked.Time) {
	if r.paused {
		r.paused = false
		r.Stats.PausedTime += now - r.pausedAt
	}
}

// enter puts a packet into the receive buffer and into the pipeline. One that
// has waited for a paused port says when it arrived.
func (r *Responder) enter(now clocked.Time, p *msg.Packet, bytes int64, waited bool) {
	if waited && p.Arrived > p.Ledger.Last && p.Arrived < now {
		p.Ledger.Charge(p.Arrived, measure.CauseNetwork)
		p.Ledger.Charge(now, measure.CauseRxBuffer)
	}
	p.Ledger.Charge(now, measure.CauseNetwork)
	r.used += bytes
	r.Stats.BufferPeak = max(r.Stats.BufferPeak, r.used)
	*r.pipe.Push() = arrival{packet: p, qp: int32(p.QP), bytes: bytes, at: now + r.spec.Adapter.RxPipeline}
}

// startChecks takes packets out of the pipeline and tells whether there were any.
func (r *Responder) startChecks(now clocked.Time) (moved bool) {
	for r.pipe.Len() > 0 {
		if at := r.pipe.Front().at; at > now {
			r.wakeAt(&r.pipeAlarm, at)
			return moved
		}
		moved = true
		a := r.pipe.Pop()
		if !r.protocol.arrived(now, a.qp, a.packet) {
			r.pool.Put(a.packet)
			continue
		}
		r.line(&r.qps[a.qp], a, false)
		r.advance(now, a.qp)
	}
	return moved
}

// line puts a packet before or behind the others of its QP.
func (r *Responder) line(q *recvQP, a arrival, before bool) {
	i := r.waiting.add(node{arrival: a, next: none})
	switch {
	case q.tail == none:
		q.head, q.tail = i, i
	case before:
		r.waiting.slots[i].next = q.head
		q.head = i
	default:
		r.waiting.slots[q.tail].next = i
		q.tail = i
	}
}
