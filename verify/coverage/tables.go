package coverage

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
	"rnicmmu/platform"
	"rnicmmu/verify/wires"
)

// reported is a fault of which the kernel was told.
type reported struct {
	token       msg.FaultToken
	group       uint16
	page, count uint32
}

// watchTables looks at the wires of the translation units.
func (c *Collector) watchTables(s *platform.System) {
	for i, w := range wires.Of[msg.Translate](s, "responder", "tpt") {
		a, depth := &c.adapters[i], w.Wire.Depth()
		w.Wire.OnSent(func(_ clocked.Time, m *msg.Translate) {
			c.asks(a, m)
			c.pushed(wireTranslate, w.Wire.Len(), depth)
		})
	}
	for i, w := range wires.Of[msg.Translation](s, "tpt", "responder") {
		a, depth := &c.adapters[i], w.Wire.Depth()
		w.Wire.OnSent(func(_ clocked.Time, m *msg.Translation) {
			c.answers(a, m)
			c.pushed(wireResults, w.Wire.Len(), depth)
		})
	}
	for i, w := range wires.Of[msg.Release](s, "responder", "tpt") {
		a := &c.adapters[i]
		w.Wire.OnSent(func(_ clocked.Time, m *msg.Release) { c.released(a, m.Handle) })
	}
	for i, w := range wires.Of[msg.DMA](s, "tpt", "") {
		a := &c.adapters[i]
		w.Wire.OnSent(func(_ clocked.Time, m *msg.DMA) { c.tableDMA(a, m) })
	}
	for i, w := range wires.Of[msg.DMADone](s, "", "tpt") {
		a := &c.adapters[i]
		w.Wire.OnTaken(func(_ clocked.Time, m *msg.DMADone) { c.tableDone(a, m) })
	}
}

// asks: a translation is asked for.
func (c *Collector) asks(a *adapter, m *msg.Translate) {
	q := a.question(m.Cookie)
	*q = question{cookie: m.Cookie, page: m.Page, op: m.Op, kill: m.Kill, open: true}
	c.moved(a, queueTranslations, 1)
	if m.Kill {
		first, last := a.keyed(key.Key(m.Key))
		c.begin(a, closing{kind: kindKey, first: first, last: last, qp: m.QP + 1})
		return
	}
	if m.Page == msg.NoPage {
		return
	}
	c.meets(a, m.Page, meetAsked)
	f := a.at(m.Page)
	f.asked++
	event := eventLoad
	if m.Write {
		event = eventStore
	}
	if !a.atc {
		c.hit(entryEvent, int(f.state()), event)
	}
}

// question is the place of one that is asked for, by its cookie.
func (a *adapter) question(cookie uint64) *question {
	if cookie < 1<<32 {
		for uint64(len(a.asked)) <= cookie {
			a.asked = append(a.asked, question{})
		}
		return &a.asked[cookie]
	}
	for i := range a.others {
		if q := &a.others[i]; !q.open || q.cookie == cookie {
			return q
		}
	}
	a.others = append(a.others, question{})
	return &a.others[len(a.others)-1]
}

// answers: a translation is given, refused or called back.
func (c *Collector) answers(a *adapter, m *msg.Translation) {
	if m.Outcome == msg.OutcomeRevoke {
		c.calledBack(a, m.Handle)
		return
	}
	q := a.question(m.Cookie)
	if !q.open || q.cookie != m.Cookie {
		return
	}
	q.open = false
	if q.kill {
		c.killed(a, m)
		return
	}
	c.hit(opOutcome, int(q.op), int(m.Outcome))
	if m.Outcome == msg.OutcomeRemoteAccess {
		c.hit(keyVerdict, 0, int(m.Why))
	}
	given := m.Outcome == msg.OutcomeOK
	if !given {
		c.moved(a, queueTranslations, -1)
	}
	if q.page == msg.NoPage {
		if given {
			a.hold(m.Handle, holding{msg.NoPage, q.op})
		}
		return
	}
	f := a.at(q.page)
	f.asked--
	if given {
		c.meets(a, q.page, meetHeld)
		f.held++
		a.hold(m.Handle, holding{q.page, q.op})
	}
}

func (a *adapter) hold(handle uint32, h holding) {
	for uint32(len(a.held)) <= handle {
		a.held = append(a.held, holding{page: msg.NoPage})
	}
	a.held[handle] = h
}

// calledBack: a translation must come back, so what takes it away has marked it.
func (c *Collector) calledBack(a *adapter, handle uint32) {
	if handle >= uint32(len(a.held)) || a.held[handle].page == msg.NoPage {
		return
	}
	p := a.held[handle].page
	c.hit(opOutcome, int(a.held[handle].op), int(msg.OutcomeRevoke))
	for i := range a.live {
		x := &a.live[i]
		if x.first <= p && p <= x.last && x.phase <= phaseReceived {
			c.enterAt(a, x, p, phaseMarked)
		}
	}
}

func (c *Collector) released(a *adapter, handle uint32) {
	c.moved(a, queueTranslations, -1)
	if handle < uint32(len(a.held)) && a.held[handle].page != msg.NoPage {
		a.at(a.held[handle].page).held--
		a.held[handle].page = msg.NoPage
	}
}

// killed: a peer's SEND has ended a key, or could not.
func (c *Collector) killed(a *adapter, m *msg.Translation) {
	c.moved(a, queueTranslations, -1)
	refused := 0
	if m.Outcome != msg.OutcomeOK {
		refused = 1
	}
	c.hit(keyChange, len(keyChanges)-1, refused)
	for i := range a.live {
		if x := &a.live[i]; x.qp == uint32(m.Cookie)+1 {
			c.reach(a, x, phaseDrained)
			c.reach(a, x, phaseAcknowledged)
			a.forget(i)
			return
		}
	}
}

// tableDMA: the unit reads its tables, asks the IOMMU or tells the kernel.
func (c *Collector) tableDMA(a *adapter, m *msg.DMA) {
	switch {
	case m.Kind == msg.KindMTT && !m.Write && m.PA >= a.table:
		entry := uint64(m.PA-a.table) / mtt.EntryBytes
		first, last := a.entries(entry, uint64(m.Len/mtt.EntryBytes))
		c.walks(a, first, last, m.Cookie)
	case m.Kind == msg.KindATS:
		first, _ := a.addresses(model.VA(m.PA), model.VA(m.PA)+model.VA(a.entry.Bytes()-1))
		c.walks(a, first, first, m.Cookie)
	case m.Kind == msg.KindEQE:
		c.faults(a, m.Body.(*msg.Event))
	case m.Kind == msg.KindCQE:
		c.executed(a, m.Body.(*msg.Command))
	case m.Kind == msg.KindMessage:
		c.replies(a, m)
	}
}

// walk is a table read, or translation request, that is out.
type walk struct {
	cookie      uint64
	first, last uint32
	ahead       bool
}

func (c *Collector) walks(a *adapter, first, last uint32, cookie uint64) {
	if first == msg.NoPage {
		return
	}
	w := walk{cookie: cookie, first: first, last: last, ahead: true}
	for p := first; p <= last; p++ {
		w.ahead = w.ahead && a.at(p).asked == 0
	}
	a.walks = append(a.walks, w)
	for p := first; p <= last; p++ {
		f := a.at(p)
		if w.ahead {
			c.meets(a, p, meetReadAhead)
			f.ahead++
			c.hit(entryEvent, int(f.state()), eventReadAhead)
		} else {
			c.meets(a, p, meetWalk)
			f.walks++
		}
	}
}

// tableDone: an answer to one of those is there.
func (c *Collector) tableDone(a *adapter, m *msg.DMADone) {
	if row := dmaKindRow[m.Kind]; row > 0 && !m.Write {
		c.hit(dmaStatus, int(row-1), int(m.Status))
	}
	switch m.Kind {
	case msg.KindCommand:
		c.fetched(a)
	case msg.KindMTT, msg.KindATS:
		for i := range a.walks {
			w := a.walks[i]
			if w.cookie != m.Cookie {
				continue
			}
			for p := w.first; p <= w.last; p++ {
				if f := a.at(p); w.ahead {
					f.ahead--
				} else {
					f.walks--
				}
			}
			last := len(a.walks) - 1
			a.walks[i] = a.walks[last]
			a.walks = a.walks[:last]
			return
		}
	}
}
