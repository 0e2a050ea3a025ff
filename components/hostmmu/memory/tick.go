package memory

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// Tick places what is due, answers, and then takes in what has arrived.
func (m *Memory) Tick(now clocked.Time) {
	m.collect(now)
	m.settle(now)
	m.finishPageOps(now)
	for i := range m.clients {
		m.answerReads(now, i)
		m.deliver(now, i)
		m.accept(now, i)
	}
	m.acceptPageOps(now)
}

// accept takes the requests of a client in order.
func (m *Memory) accept(now clocked.Time, i int) {
	wire := m.ports.Clients[i].Req
	for req := wire.Peek(now); req != nil; req = wire.Peek(now) {
		if req.Write {
			if !m.acceptWrite(now, i, req) {
				return
			}
		} else {
			m.acceptRead(now, i, req)
		}
		wire.Pop(now)
	}
}

// acceptRead starts a read; its content is looked at when the answer leaves. It
// pushes the writes before it, unless it is relaxed: it is never answered before
// they are placed.
func (m *Memory) acceptRead(now clocked.Time, i int, req *msg.MemReq) {
	c := &m.clients[i]
	lines := linesOf(req.PA, req.Len)
	late, known := m.load(now, c.socket, req.PA, lines)
	at := now + c.service + clocked.Time(lines-1)*m.lineTime + late
	m.stats.Reads++
	floor, behind := c.placed, c.unknown > 0
	if req.Relaxed {
		floor, behind = 0, false
	}
	if known && !behind {
		m.answer(now, c, max(at, floor), req)
		return
	}
	w := waiter{kind: waitRead, behind: behind, client: i, number: c.writes.Tail(), at: at, floor: floor, req: *req}
	if known {
		m.readServed(now, &w, at)
	} else {
		m.waiting.put(w)
	}
}

// answer has a read answered at a time that may be now's.
func (m *Memory) answer(now clocked.Time, c *client, at clocked.Time, req *msg.MemReq) {
	*c.reads.insert(at) = *req
	m.wake(now, at)
}

// answerReads sends the answers that are due.
func (m *Memory) answerReads(now clocked.Time, i int) {
	c, done := &m.clients[i], m.ports.Clients[i].Done
	for req := c.reads.due(now); req != nil && done.Ready(now); req = c.reads.due(now) {
		stale := false
		if req.Kind == msg.KindData {
			stale = m.checkRead(req.PA, req.Oracle.Page)
		}
		if req.Ledger != nil {
			req.Ledger.Charge(now, measure.CauseHostMemory)
		}
		*done.Push(now) = msg.MemDone{Kind: req.Kind, Stale: stale, Relaxed: req.Relaxed, Tag: req.Tag, Adapter: req.Adapter, Len: req.Len, PA: req.PA, Ledger: req.Ledger}
		c.reads.pop()
	}
}
