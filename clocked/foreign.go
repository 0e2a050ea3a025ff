package clocked

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// foreignEvent is a queued Akita event. It keeps its float time: two Akita
// clocks may differ by less than a picosecond, and the event of the earlier one
// comes first, as on Akita's engines.
type foreignEvent struct {
	at        Time // sec to the nearest picosecond
	sec       sim.VTimeInSec
	secondary bool
	order     uint64
	ev        sim.Event
}

func (a *foreignEvent) before(b *foreignEvent) bool {
	if a.sec != b.sec {
		return a.sec < b.sec
	}
	if a.secondary != b.secondary {
		return b.secondary
	}
	return a.order < b.order
}

// foreignHeap is a binary min-heap of Akita events.
type foreignHeap []foreignEvent

func (h *foreignHeap) push(ev foreignEvent) {
	q := append(*h, ev)
	i := len(q) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !ev.before(&q[p]) {
			break
		}
		q[i] = q[p]
		i = p
	}
	q[i] = ev
	*h = q
}

func (h *foreignHeap) pop() foreignEvent {
	q := *h
	top := q[0]
	n := len(q) - 1
	last := q[n]
	q[n] = foreignEvent{} // the event is garbage once handled
	q = q[:n]
	*h = q
	i := 0
	for c := 1; c < n; c = 2*i + 1 {
		if c+1 < n && q[c+1].before(&q[c]) {
			c++
		}
		if !q[c].before(&last) {
			break
		}
		q[i] = q[c]
		i = c
	}
	if n > 0 {
		q[i] = last
	}
	return top
}

// foreignFirst tells whether the next thing to run is an Akita event. A unit's
// tick counts as a primary event at its time in float seconds.
func (e *Engine) foreignFirst() bool {
	if e.queue.count == 0 {
		return true
	}
	f, u := &e.foreign[0], e.queue.peek()
	if f.at != u.at {
		return f.at < u.at
	}
	if sec := u.at.Seconds(); f.sec != sec {
		return f.sec < sec
	}
	return !f.secondary && f.order < u.order()
}

// Schedule queues an Akita event. It must not be earlier than now.
func (e *Engine) Schedule(ev sim.Event) {
	if e.guest != nil {
		e.guest.host.Schedule(ev)
		return
	}
	sec := ev.Time()
	at := FromSeconds(sec)
	if at < e.now {
		panic(fmt.Sprintf("clocked: %T scheduled at %v, before %v", ev, at, e.now))
	}
	e.foreign.push(foreignEvent{at: at, sec: sec, secondary: ev.IsSecondary(), order: e.order(false), ev: ev})
}

func (e *Engine) runForeign() error {
	f := e.foreign.pop()
	e.now, e.nowSec = f.at, f.sec
	if e.NumHooks() == 0 {
		return f.ev.Handler().Handle(f.ev)
	}
	return e.around(f.ev, func() error { return f.ev.Handler().Handle(f.ev) })
}
