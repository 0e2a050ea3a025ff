package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/tpt"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/verify/monitor/dense"
	"rnicmmu/verify/rule"
)

// ringCookie marks requests of the backup ring, which are many at once.
const ringCookie = 1 << 32

// ask is a request that waits, by queue pair.
type ask struct {
	live, kill, write, hold, check, faulted bool
	op                                      model.Op
	qp, pd, key, n, checkN                  uint32
	va, checkVA                             model.VA
	cookie                                  uint64
	accepted                                uint64 // seq
}

// given is a translation from answer to release, by handle.
type given struct {
	live, write bool
	place       uint32 // in Monitor.live
	key, root   uint32 // indexes
	entry       uint64
	page        uint64 // number of the page at PA
}

// none is the entry of a translation that must not be.
const none = ^uint64(0)

// use counts translations given out of a page.
type use struct{ all, write uint16 }

// Translate sees a request leave for the unit.
func (m *Monitor) Translate(now clocked.Time, t *msg.Translate) {
	a := dense.Slot(&m.asks, uint64(t.QP))
	if a.live {
		m.log.Report(Answered, now, "adapter %d: queue pair %d asks for %#x while %#x waits", m.config.Adapter, t.QP, uint64(t.VA), uint64(a.va))
	}
	if !t.Kill && t.Len == 0 {
		m.log.Report(Untouched, now, "adapter %d: queue pair %d asks for no byte at %#x", m.config.Adapter, t.QP, uint64(t.VA))
	}
	*a = ask{live: true, kill: t.Kill, write: t.Write, hold: t.Hold, check: t.CheckKey, op: t.Op, qp: t.QP, pd: t.PD, key: t.Key,
		n: t.Len, checkN: t.CheckLen, va: t.VA, checkVA: t.CheckVA, cookie: t.Cookie, accepted: ^uint64(0)}
	if t.Cookie >= ringCookie {
		m.ring = append(m.ring, t.QP)
	}
	if t.Kill {
		m.kills = append(m.kills, t.Key)
		m.taint(m.lookup(t.Key))
	}
}

// Accepted sees the unit take a request.
func (m *Monitor) Accepted(_ clocked.Time, t *msg.Translate) {
	m.seq++
	if int(t.QP) >= len(m.asks) || !m.sets.on || t.Kill {
		return
	}
	a := &m.asks[t.QP]
	a.accepted = m.seq
	if e, ok := m.place(a); ok {
		m.sets.maybe(m.lineOf(e), m.seq)
	}
}

// place is the entry that translates a request, where the golden table knows.
func (m *Monitor) place(a *ask) (entry uint64, ok bool) {
	r := m.lookup(a.key)
	if r != nil && r.kind == key.Implicit {
		r = m.child(r, a.va)
	}
	if r == nil || a.va < r.base {
		return 0, false
	}
	return m.entryOf(r, a.va), true
}

// find is the request that a cookie answers, or nil.
func (m *Monitor) find(cookie uint64) *ask {
	if cookie < ringCookie {
		if cookie < uint64(len(m.asks)) && m.asks[cookie].live {
			return &m.asks[cookie]
		}
		return nil
	}
	for i, qp := range m.ring {
		if m.asks[qp].cookie == cookie {
			m.ring[i] = m.ring[len(m.ring)-1]
			m.ring = m.ring[:len(m.ring)-1]
			return &m.asks[qp]
		}
	}
	return nil
}

// Translation sees an answer, or a call back, leave the unit.
func (m *Monitor) Translation(now clocked.Time, t *msg.Translation) {
	m.seq++
	if t.Outcome == msg.OutcomeRevoke {
		if int(t.Handle) >= len(m.given) || !m.given[t.Handle].live {
			m.log.Report(Once, now, "adapter %d: handle %d is called back, and not given out", m.config.Adapter, t.Handle)
		}
		return
	}
	a := m.find(t.Cookie)
	if a == nil {
		m.log.Report(Once, now, "adapter %d: an answer for %#x, which waits for none", m.config.Adapter, t.Cookie)
		return
	}
	a.live = false
	switch {
	case a.kill:
		m.killed(now, a, t)
	case t.Outcome == msg.OutcomeOK:
		m.grant(now, a, t)
	}
}

// grant judges a translation that is given out.
func (m *Monitor) grant(now clocked.Time, a *ask, t *msg.Translation) {
	if a.faulted && !m.excused {
		m.log.Report(Stopped, now, "adapter %d: queue pair %d is answered before the resume of its fault", m.config.Adapter, a.qp)
	}
	r := m.lookup(a.key)
	broken := m.judge(r, a.key, a.pd, a.qp, a.op, a.va, a.n)
	if broken == nil && a.check {
		broken = m.judge(r, a.key, a.pd, a.qp, a.op, a.checkVA, a.checkN)
	}
	g := given{live: true, write: t.Write, key: a.key >> 8, page: uint64(t.PA) >> m.config.Shift}
	if broken == nil && r.kind == key.Implicit {
		g.root = g.key
		if r = m.child(r, a.va); r == nil {
			broken = Current
		} else {
			g.key = r.key >> 8
			broken = m.judge(r, r.key, a.pd, a.qp, a.op, a.va, a.n)
		}
	}
	if broken != nil && !m.keyMoves(a, g.key) {
		m.log.Report(broken, now, "adapter %d: queue pair %d, key %#x, domain %d: %v of %d B at %#x is granted", m.config.Adapter, a.qp, a.key, a.pd, a.op, a.n, uint64(a.va))
	}
	if broken == nil {
		g.entry = m.entryOf(r, a.va)
		m.compare(now, a, t, g.entry)
		m.used(g.entry, a.accepted)
	} else {
		g.entry = none
	}
	m.give(now, t.Handle, g)
}

// compare judges what is given out by the golden table.
func (m *Monitor) compare(now clocked.Time, a *ask, t *msg.Translation, entry uint64) {
	offset := model.PA(uint64(a.va) & (m.config.Shift.Bytes() - 1))
	switch m.config.Mode {
	case tpt.ATC:
		m.config.ATC.Given(now, a.va, a.write, t)
		return
	case tpt.Bypass:
		if t.PA != model.PA(a.va) {
			m.log.Report(Current, now, "adapter %d: %#x passes as %#x", m.config.Adapter, uint64(a.va), uint64(t.PA))
		}
		return
	}
	var blank word
	w := m.words.Get(entry)
	if w == nil {
		w = &blank
	}
	var broken *rule.Rule
	switch {
	case w.suspends > 0:
		broken = Open
	case !w.present || w.pa+offset != t.PA:
		broken = Current
	case (a.write || t.Write) && !w.write || a.write && !t.Write:
		broken = Permitted
	}
	if broken != nil && !m.wordMoves(entry, w, t.PA-offset, t.Write, a.write) {
		m.log.Report(broken, now, "adapter %d: queue pair %d, entry %d for %#x: given out as %#x (write %v), the table has %#x (present %v, write %v, %d suspensions)",
			m.config.Adapter, a.qp, entry, uint64(a.va), uint64(t.PA), t.Write, uint64(w.pa), w.present, w.write, w.suspends)
	}
}

// give books a translation.
func (m *Monitor) give(now clocked.Time, handle uint32, g given) {
	s := dense.Slot(&m.given, uint64(handle))
	if s.live {
		m.log.Report(Released, now, "adapter %d: handle %d is given out twice", m.config.Adapter, handle)
		m.take(handle)
	}
	g.place = uint32(len(m.live))
	m.live = append(m.live, handle)
	*s = g
	u := m.uses.At(g.page)
	u.all++
	if g.write {
		u.write++
	}
}

// take ends a translation.
func (m *Monitor) take(handle uint32) {
	s := &m.given[handle]
	if m.config.Mode == tpt.ATC && s.entry != none {
		m.config.ATC.Taken(handle)
	}
	last := m.live[len(m.live)-1]
	m.live[s.place] = last
	m.given[last].place = s.place
	m.live = m.live[:len(m.live)-1]
	s.live = false
	u := m.uses.At(s.page)
	u.all--
	if s.write {
		u.write--
	}
}

// Release sees the unit take a translation back.
func (m *Monitor) Release(now clocked.Time, r *msg.Release) {
	if int(r.Handle) >= len(m.given) || !m.given[r.Handle].live {
		m.log.Report(Released, now, "adapter %d: handle %d comes back, and is not given out", m.config.Adapter, r.Handle)
		return
	}
	m.take(r.Handle)
}

// Data sees a transfer of the responder's.
func (m *Monitor) Data(now clocked.Time, d *msg.DMA) {
	if d.Kind != msg.KindData || d.Oracle.Page == msg.NoPage {
		return
	}
	u := m.uses.Get(uint64(d.PA) >> m.config.Shift)
	if u == nil || u.all == 0 || d.Write && u.write == 0 {
		m.log.Report(Held, now, "adapter %d: %d B at %#x (write %v) by no translation that is given out", m.config.Adapter, d.Len, uint64(d.PA), d.Write)
	}
}
