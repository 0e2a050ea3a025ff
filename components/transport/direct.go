package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// Lose, when set, is asked for each packet that comes in from the network,
// whether the network has lost it: a directed test's loss.
type Lose func(now clocked.Time, p *msg.Packet) bool

// take removes the packet that comes in next, and marks it where it is lost, or
// there is no room for it.
func (l Lose) take(now clocked.Time, rx *clocked.Wire[*msg.Packet], full bool) *msg.Packet {
	p := *rx.Peek(now)
	p.Lost = full || l != nil && l(now, p)
	rx.Pop(now)
	return p
}

// HoldReceives takes all receive buffers of a QP away, before the run:
// PostReceive gives them back.
func (r *Responder) HoldReceives(qp int) {
	for i := range r.qps[qp].repost {
		r.qps[qp].repost[i] = clocked.Never
	}
}

// PostReceive posts the next receive buffer of a QP, and tells whether there
// was one to post. It is called between runs of the engine.
func (r *Responder) PostReceive(now clocked.Time, qp int) bool {
	q := &r.qps[qp]
	for i := range q.repost {
		if b := (q.buffer + i) % len(q.repost); q.repost[b] == clocked.Never {
			q.repost[b] = now
			return true
		}
	}
	return false
}
