package memory

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// waitKind is what waits for a controller.
type waitKind uint8

const (
	waitRead waitKind = iota
	waitWrite
	waitCPU
	waitRound
)

// waiter waits for a controller that tells only when it has served.
type waiter struct {
	kind   waitKind
	behind bool         // of a read: writes before it are not known either
	client int          // of a read or write
	number uint32       // of a write, in its client's queue; of a read: that of the first write after it; of a round: its place
	at     clocked.Time // done on memory at rest
	floor  clocked.Time // of a read: the writes before it that are known are placed
	req    msg.MemReq   // of a read
	op     msg.PageOp   // of the CPU
}

// waiting holds waiters by ticket.
type waiting struct {
	slots []waiter
	free  []int
}

// next is the ticket that put will take.
func (w *waiting) next() int {
	if len(w.free) == 0 {
		w.slots = append(w.slots, waiter{})
		w.free = append(w.free, len(w.slots)-1)
	}
	return w.free[len(w.free)-1]
}

// put keeps a waiter under the ticket that next has told.
func (w *waiting) put(x waiter) {
	w.slots[w.next()] = x
	w.free = w.free[:len(w.free)-1]
}

// take gives a ticket back. The waiter stays as it is until the next put.
func (w *waiting) take(ticket int) *waiter {
	w.free = append(w.free, ticket)
	return &w.slots[ticket]
}

// count is the number of waiters.
func (w *waiting) count() int { return len(w.slots) - len(w.free) }

// collect goes on with what controllers have served. An unloaded latency that is
// shorter than the controller's is not kept.
func (m *Memory) collect(now clocked.Time) {
	for i := range m.sockets {
		dram := m.sockets[i].dram
		for ticket, late, ok := dram.finished(now); ok; ticket, late, ok = dram.finished(now) {
			m.served(now, m.waiting.take(ticket), late)
		}
	}
}

func (m *Memory) served(now clocked.Time, w *waiter, late clocked.Time) {
	at := max(now, w.at+late)
	switch w.kind {
	case waitRead:
		m.readServed(now, w, at)
	case waitWrite:
		m.writeServed(now, w, at)
	case waitCPU:
		m.schedule(now, pageMove{op: w.op}, at)
	case waitRound:
		m.blockServed(now, int(w.number), at)
	}
}

// readServed puts a read among those to answer, behind the writes before it.
func (m *Memory) readServed(now clocked.Time, w *waiter, at clocked.Time) {
	c := &m.clients[w.client]
	if w.behind && c.writes.Holds(w.number-1) {
		c.parked = append(c.parked, parkedRead{at: at, after: w.number, req: w.req})
		return
	}
	m.answer(now, c, max(at, w.floor), &w.req)
}

// parkedRead waits for a write before it whose time no one knew.
type parkedRead struct {
	at    clocked.Time
	after uint32 // number of the first write that it does not wait for
	req   msg.MemReq
}

// unpark releases reads whose last write before them is placed.
func (m *Memory) unpark(now clocked.Time, c *client) {
	kept := c.parked[:0]
	for i := range c.parked {
		if p := &c.parked[i]; c.writes.Holds(p.after - 1) {
			kept = append(kept, *p)
		} else {
			m.answer(now, c, max(now, p.at), &p.req)
		}
	}
	c.parked = kept
}

// writeServed fixes when a write is placed: at that time, or when those before
// it are.
func (m *Memory) writeServed(now clocked.Time, w *waiter, at clocked.Time) {
	c := &m.clients[w.client]
	c.writes.At(w.number).at = at
	c.unknown--
	c.placed = max(c.placed, at)
	m.wake(now, at)
}

// wake ticks the unit again at a time that may be now's.
func (m *Memory) wake(now, at clocked.Time) {
	if at > now {
		m.engine.Wake(m.id, at)
	}
}
