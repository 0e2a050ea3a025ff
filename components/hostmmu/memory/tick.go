package memory

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// Tick places what is due, answers, and then takes in what has arrived.
func (m *Memory) Tick(now clocked.Time) {
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
	c := &m.clients[i]
	for req := m.ports.Clients[i].Req.Peek(now); req != nil; req = m.ports.Clients[i].Req.Peek(now) {
		if req.Write {
			if !m.acceptWrite(now, c, req) {
				return
			}
		} else {
			m.acceptRead(now, c, req)
		}
		m.ports.Clients[i].Req.Pop(now)
	}
}

// acceptWrite starts a posted write, or tells that the write buffer is full. A
// message is for an IOMMU: where none took it, it ends here.
func (m *Memory) acceptWrite(now clocked.Time, c *client, req *msg.MemReq) bool {
	if req.Kind == msg.KindMessage {
		return true
	}
	lines := linesOf(req.PA, req.Len)
	if bound := m.spec.IIO.WriteBuffer; bound > 0 && c.held > 0 && c.held+lines > bound {
		if !c.blocked {
			c.blocked, c.since = true, now
			m.stats.WriteBufferStalls++
		}
		m.engine.Wake(m.id, c.writes.next())
		return false
	}
	if c.blocked {
		c.blocked = false
		m.stats.WriteBufferWait += now - c.since
	}
	at := now
	if !req.Poisoned {
		at = m.storeTurn(now, req.PA, lines)
	}
	at += m.spec.IIO.WriteLatency
	if !req.Relaxed {
		at = max(at, c.placed)
	}
	c.placed = max(c.placed, at)
	c.held += lines
	*c.writes.insert(at) = write{lines: lines, length: req.Len, kind: req.Kind, poisoned: req.Poisoned, pa: req.PA,
		oracle: req.Oracle, cookie: req.Cookie, body: req.Body}
	if notifies(req.Kind) && m.ports.Inbox != nil {
		*c.inbox.insert(at) = msg.Inbox{Kind: req.Kind, Adapter: req.Adapter, Cookie: req.Cookie, Body: req.Body}
		m.engine.Wake(m.id, at)
	}
	m.stats.Writes++
	return true
}

// notifies tells whether software learns of a write of this kind.
func notifies(k msg.Kind) bool {
	return k == msg.KindCQE || k == msg.KindEQE || k == msg.KindMSI
}

// storeTurn is when a device write gets its turn: at once where the LLC takes
// it, with the lines that it pushes out charged to their channels.
func (m *Memory) storeTurn(now clocked.Time, pa model.PA, lines int) clocked.Time {
	if m.ddio == nil {
		return m.dram.access(now, pa, lines)
	}
	first := uint64(pa) >> lineShift
	for line := first; line < first+uint64(lines); line++ {
		if _, out, evicted := m.ddio.Fill(line, line); evicted {
			m.dram.occupy(now, m.dram.channelOf(model.PA(out<<lineShift)), 1)
			m.stats.Writebacks++
		}
	}
	return now
}

// acceptRead starts a read: its time is known now, its content is looked at
// when the answer leaves.
func (m *Memory) acceptRead(now clocked.Time, c *client, req *msg.MemReq) {
	lines := linesOf(req.PA, req.Len)
	at := now + c.service + clocked.Time(lines-1)*m.dram.lineTime
	if m.inLLC(req.PA, lines) {
		at -= m.spec.LLC.Saving
		m.stats.LLCHits++
	} else {
		at += m.dram.access(now, req.PA, lines) - now
	}
	// A read pushes the writes before it, unless it is relaxed: never answered before they are placed.
	if !req.Relaxed {
		at = max(at, c.placed)
	}
	*c.reads.insert(at) = *req
	m.engine.Wake(m.id, at)
	m.stats.Reads++
}

func (m *Memory) inLLC(pa model.PA, lines int) bool {
	if m.ddio == nil {
		return false
	}
	first := uint64(pa) >> lineShift
	for line := first; line < first+uint64(lines); line++ {
		if _, hit := m.ddio.Lookup(line, line); !hit {
			return false
		}
	}
	return true
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

// deliver tells software what adapters wrote for it.
func (m *Memory) deliver(now clocked.Time, i int) {
	c := &m.clients[i]
	for entry := c.inbox.due(now); entry != nil && m.ports.Inbox.Ready(now); entry = c.inbox.due(now) {
		*m.ports.Inbox.Push(now) = *entry
		c.inbox.pop()
	}
}

// settle places the writes that are due. Nobody sees a placement but through
// this unit, so it needs no event of its own.
func (m *Memory) settle(now clocked.Time) {
	for i := range m.clients {
		c := &m.clients[i]
		for w := c.writes.due(now); w != nil; w = c.writes.due(now) {
			c.held -= w.lines
			switch {
			case w.poisoned: // the frame keeps what it has, and software knows
				m.stats.Poisoned++
			case w.kind == msg.KindData:
				m.checkWrite(w.pa, w.oracle)
			}
			c.writes.pop()
		}
	}
}
