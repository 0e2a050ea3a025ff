package memory

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// write is a posted write on its way to memory.
type write struct {
	at       clocked.Time // when it may be placed; Never: a controller has yet to tell
	lines    int
	length   uint32
	kind     msg.Kind
	poisoned bool
	adapter  uint16
	pa       model.PA
	oracle   msg.Oracle
	cookie   uint64
	body     any
}

// acceptWrite starts a posted write, or tells that the write buffer is full. A
// message is for an IOMMU: where none took it, it ends here.
func (m *Memory) acceptWrite(now clocked.Time, i int, req *msg.MemReq) bool {
	if req.Kind == msg.KindMessage {
		return true
	}
	c := &m.clients[i]
	lines := linesOf(req.PA, req.Len)
	if !m.admit(now, c, lines) {
		return false
	}
	number := c.writes.Tail()
	w := c.writes.Push()
	*w = write{at: clocked.Never, lines: lines, length: req.Len, kind: req.Kind, poisoned: req.Poisoned, adapter: req.Adapter, pa: req.PA,
		oracle: req.Oracle, cookie: req.Cookie, body: req.Body}
	c.held += lines
	late, known := clocked.Time(0), true
	if !req.Poisoned {
		late, known = m.store(now, c.socket, req.PA, lines)
	}
	if known {
		w.at = max(now+late+m.spec.IIO.WriteLatency, c.placed)
		c.placed = w.at
	} else {
		c.unknown++
		m.waiting.put(waiter{kind: waitWrite, client: i, number: number, at: now + late + m.spec.IIO.WriteLatency})
	}
	if notifies(req.Kind) && m.ports.Inbox != nil {
		c.notices++
		if known {
			m.engine.Wake(m.id, w.at)
		}
	}
	m.stats.Writes++
	return true
}

// admit tells whether the write buffer has room. A write larger than all of it
// is taken when it is empty.
func (m *Memory) admit(now clocked.Time, c *client, lines int) bool {
	bound := m.spec.IIO.WriteBuffer
	if bound == 0 || c.held == 0 || c.held+lines <= bound {
		if c.blocked {
			c.blocked = false
			m.stats.WriteBufferWait += now - c.since
		}
		return true
	}
	if !c.blocked {
		c.blocked, c.since = true, now
		m.stats.WriteBufferStalls++
	}
	if at := c.writes.Front().at; at != clocked.Never {
		m.engine.Wake(m.id, at)
	}
	return false
}

// notifies tells whether software learns of a write of this kind.
func notifies(k msg.Kind) bool {
	return k == msg.KindCQE || k == msg.KindEQE || k == msg.KindMSI
}

// settle places the writes that are due, those of a client in order. Nobody sees
// a placement but through this unit, so it needs no event of its own.
func (m *Memory) settle(now clocked.Time) {
	for i := range m.clients {
		c := &m.clients[i]
		for c.writes.Len() > 0 && c.writes.Front().at <= now {
			w := c.writes.Front()
			c.held -= w.lines
			switch {
			case w.poisoned: // the frame keeps what it has, and software knows
				m.stats.Poisoned++
			case w.kind == msg.KindData:
				m.checkWrite(w.pa, w.oracle)
			}
			if notifies(w.kind) && m.ports.Inbox != nil {
				c.notices--
				*c.inbox.Push() = msg.Inbox{Kind: w.kind, Adapter: w.adapter, Cookie: w.cookie, Body: w.body}
			}
			c.writes.Pop()
		}
		if len(c.parked) > 0 {
			m.unpark(now, c)
		}
	}
}

// deliver tells software what adapters wrote for it.
func (m *Memory) deliver(now clocked.Time, i int) {
	c := &m.clients[i]
	for c.inbox.Len() > 0 && m.ports.Inbox.Ready(now) {
		*m.ports.Inbox.Push(now) = *c.inbox.Front()
		c.inbox.Pop()
	}
}
