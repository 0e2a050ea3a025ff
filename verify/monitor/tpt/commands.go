package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/tpt"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/verify/monitor/dense"
)

// command is one that the unit has and has not completed.
type command struct {
	p            *msg.Command
	op           msg.CommandOp
	change       msg.KeyOp
	write, whole bool
	count        uint32
	key          uint32
	entry        uint64
	token        msg.FaultToken
}

func (c *command) covers(entry uint64) bool {
	return c.op != msg.CmdResume && c.op != msg.CmdKey && !c.whole && entry >= c.entry && entry-c.entry < uint64(max(1, c.count))
}

// Doorbell sees the unit take a command.
func (m *Monitor) Doorbell(now clocked.Time, d *msg.Doorbell) {
	p, ok := d.Body.(*msg.Command)
	if !ok {
		return
	}
	c := command{p: p, op: p.Op, write: p.Write, whole: p.Whole, count: p.Count, entry: p.Entry, key: uint32(p.Key), token: p.Token}
	if p.Op == msg.CmdKey {
		c.change, c.key = p.Change.Op, uint32(p.Change.Key)
	}
	m.commands = append(m.commands, c)
	switch {
	case p.Op == msg.CmdResume:
		m.resumed(now, p.Token)
	case p.Op == msg.CmdKey || p.Whole:
		m.taint(m.lookup(c.key))
		if p.Op == msg.CmdKey && p.Change.Op != msg.KeyEntry && p.Change.Op != msg.KeyDeregister {
			r := regionOf(&p.Change.Region)
			m.taint(&r)
		}
	default:
		m.spoil(m.lineOf(p.Entry), m.lineOf(p.Entry+uint64(max(1, p.Count))-1))
	}
}

// completed sees the completion of a command leave the unit.
func (m *Monitor) completed(now clocked.Time, p *msg.Command) {
	at := -1
	for i := range m.commands {
		if m.commands[i].p == p {
			at = i
			break
		}
	}
	if at != 0 {
		m.log.Report(Acknowledged, now, "adapter %d: completion of a command that is number %d of those under way (−1: none)", m.config.Adapter, at)
		if at < 0 {
			return
		}
	}
	c := m.commands[at]
	m.commands = append(m.commands[:at], m.commands[at+1:]...)
	if c.op == msg.CmdResume {
		m.resolved(&c)
	}
	if p.Change.Err != nil {
		return
	}
	m.drained(now, &c)
	switch {
	case c.op == msg.CmdResume:
	case c.op == msg.CmdKey:
		m.changeKey(&p.Change)
	case c.whole:
		if r := m.lookup(c.key); r != nil && c.op == msg.CmdSuspend {
			r.suspends++
			if c.count > 0 { // these entries go, or are filled anew, before it opens
				m.changeWords(&command{op: msg.CmdInvalidate, entry: c.entry, count: c.count})
			}
		} else if r != nil && r.suspends > 0 {
			r.suspends--
		}
	default:
		m.changeWords(&c)
	}
}

// drained judges what is given out when a command is completed.
func (m *Monitor) drained(now clocked.Time, c *command) {
	first, last := c.entry, c.entry+uint64(max(1, c.count))-1
	byKey := false
	switch {
	case c.op == msg.CmdKey:
		if c.change != msg.KeyDeregister && c.change != msg.KeyInvalidate {
			return
		}
		byKey = true
	case c.op == msg.CmdSuspend && c.whole:
		r := m.lookup(c.key)
		if r == nil || r.kind == key.Implicit {
			return
		}
		first, last = m.pages(r)
	case c.op != msg.CmdInvalidate && c.op != msg.CmdSuspend && c.op != msg.CmdProtect || m.config.Mode != tpt.Table:
		return
	}
	for _, h := range m.live {
		g := &m.given[h]
		hit := g.entry >= first && g.entry <= last && (c.op != msg.CmdProtect || g.write)
		if byKey {
			hit = g.key == c.key>>8 || g.root != 0 && g.root == c.key>>8
		}
		if hit {
			m.log.Report(Drained, now, "adapter %d: handle %d, entry %d, key %#x is given out at the completion of command %d (entries %d … %d, key %#x)",
				m.config.Adapter, h, g.entry, g.key<<8, c.op, first, last, c.key)
		}
	}
}

// killed ends the invalidation of a key by a peer's SEND.
func (m *Monitor) killed(now clocked.Time, a *ask, t *msg.Translation) {
	for i, k := range m.kills {
		if k == a.key {
			m.kills = append(m.kills[:i], m.kills[i+1:]...)
			break
		}
	}
	if t.Outcome != msg.OutcomeOK {
		return
	}
	m.drained(now, &command{op: msg.CmdKey, change: msg.KeyInvalidate, key: a.key})
	if r := m.lookup(a.key); r != nil {
		r.valid = false
	}
}

// keyMoves tells whether something under way may have changed what a key opens.
func (m *Monitor) keyMoves(a *ask, index uint32) bool {
	for i := range m.commands {
		c := &m.commands[i]
		at := c.key
		if c.op == msg.CmdKey {
			at = uint32(c.p.Change.Key)
		}
		r := m.lookup(a.key)
		if (c.op == msg.CmdKey || c.whole) && (at>>8 == a.key>>8 || at>>8 == index || r != nil && r.under>>8 == at>>8) {
			return true
		}
	}
	for _, k := range m.kills {
		if k>>8 == a.key>>8 || k>>8 == index {
			return true
		}
	}
	return false
}

// wordMoves tells whether something under way may have made an entry what was
// given out.
func (m *Monitor) wordMoves(entry uint64, old *word, pa model.PA, write, store bool) bool {
	may := old.write // rights so far
	for i := range m.commands {
		c := &m.commands[i]
		if !c.covers(entry) {
			continue
		}
		if c.op == msg.CmdFill && c.p.PA[entry-c.entry] == pa {
			may = may || c.write
			if !write && !store || may {
				return true
			}
		}
		if c.op == msg.CmdUnsuspend && old.present && old.pa == pa {
			return true
		}
	}
	return false
}

// token is a fault that was reported.
type token struct {
	live, resuming bool
	use, qp        uint32
	kind           msg.FaultKind
}

// event sees the report of a fault.
func (m *Monitor) event(now clocked.Time, e *msg.Event) {
	t := dense.Slot(&m.tokens, uint64(e.Token.Place))
	f := dense.Slot(&m.faults, uint64(e.QP))
	bit := uint8(1) << e.Kind
	if t.live {
		m.log.Report(Resolved, now, "adapter %d: the place of fault %d serves another before its end", m.config.Adapter, e.Token.Place)
	}
	if *f&bit != 0 {
		m.log.Report(Single, now, "adapter %d: queue pair %d reports a second fault of class %d", m.config.Adapter, e.QP, e.Kind)
	}
	*f |= bit
	*t = token{live: true, use: e.Token.Use, qp: e.QP, kind: e.Kind}
	if int(e.QP) < len(m.asks) {
		if a := &m.asks[e.QP]; a.live && a.hold && a.va == e.VA && a.write == e.Write {
			a.faulted = true
		}
	}
}

// resumed sees a resume come.
func (m *Monitor) resumed(now clocked.Time, k msg.FaultToken) {
	if int(k.Place) >= len(m.tokens) || !m.tokens[k.Place].live || m.tokens[k.Place].use != k.Use || m.tokens[k.Place].resuming {
		m.log.Report(Resolved, now, "adapter %d: a resume of fault %v, which waits for none", m.config.Adapter, k)
		return
	}
	m.tokens[k.Place].resuming = true
}

// resolved sees the completion of a resume.
func (m *Monitor) resolved(c *command) {
	if int(c.token.Place) >= len(m.tokens) {
		return
	}
	t := &m.tokens[c.token.Place]
	if !t.live || t.use != c.token.Use {
		return
	}
	if c.p.Change.Err != nil {
		t.resuming = false
		return
	}
	t.live = false
	m.faults[t.qp] &^= 1 << t.kind
	if int(t.qp) < len(m.asks) {
		m.asks[t.qp].faulted = false
	}
}
