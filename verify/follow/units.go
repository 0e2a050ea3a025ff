package follow

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/platform"
	"rnicmmu/verify/monitor/dense"
	"rnicmmu/verify/protocol"
	"rnicmmu/verify/wires"
)

// ringCookie marks requests of the backup ring, which are many at once.
const ringCookie = 1 << 32

// ask is a translation that is asked for.
type ask struct {
	cookie uint64
	va     model.VA
	page   uint32
	write  bool
}

func (c *Path) watchUnits(s *platform.System) {
	for _, w := range wires.Of[msg.Translate](s, "responder", "tpt") {
		if a := &c.adapters[w.To]; a.table || a.cache {
			w.Wire.OnSent(func(_ clocked.Time, m *msg.Translate) { a.asked(m) })
		}
	}
	for _, w := range wires.Of[msg.Translation](s, "tpt", "responder") {
		if a := &c.adapters[w.From]; a.table || a.cache {
			w.Wire.OnSent(func(now clocked.Time, m *msg.Translation) { c.answered(now, a, m) })
		}
	}
	for _, w := range wires.Of[msg.DMA](s, "tpt", "") {
		a := &c.adapters[w.From]
		w.Wire.OnSent(func(now clocked.Time, m *msg.DMA) { c.leaves(now, a, m) })
	}
	for _, w := range wires.Of[msg.Release](s, "responder", "tpt") {
		if a := &c.adapters[w.To]; a.table || a.cache {
			w.Wire.OnTaken(func(now clocked.Time, m *msg.Release) { c.released(now, a, m.Handle) })
		}
	}
}

func (c *Path) watchMemory(s *platform.System) {
	for _, w := range wires.Of[msg.MemReq](s, "", "memory") {
		w.Wire.OnTaken(c.data)
	}
}

// leaves: the unit acknowledges a command or an Invalidate Request.
func (c *Path) leaves(now clocked.Time, a *adapter, m *msg.DMA) {
	if a.dead {
		return
	}
	switch body := m.Body.(type) {
	case *msg.Command:
		if m.Kind == msg.KindCQE && a.table {
			c.ended(now, a, body, protocol.Drained)
		}
	case *msg.InvalidateDone:
		for left := body.ITags; left != 0; left &= left - 1 {
			n := bits.TrailingZeros32(left)
			if t := &a.tags[n]; t.out && a.cache {
				c.each(now, t.first, t.end, protocol.Event{Kind: protocol.CompletionSent, Adapter: a.number, Token: uint32(n)}, false)
			}
		}
	}
}

// pageOp: the kernel does something to a page's content.
func (c *Path) pageOp(now clocked.Time, m *msg.PageOp) {
	if m.Page == msg.NoPage {
		return
	}
	p := c.known(m.Page)
	if p == nil {
		return
	}
	e := protocol.Event{Page: m.Page, Frame: m.Frame}
	switch m.Kind {
	case msg.PageZero, msg.PageIn:
		e.Kind = protocol.FrameAssigned
	case msg.PageCopy:
		e.Kind = protocol.FrameCopied
	case msg.PageOut:
		e.Kind = protocol.PagedOut
	case msg.PageFree:
		e.Kind = protocol.FrameFreed
	case msg.PageDiscard:
		e.Kind = protocol.GivenUp
		c.step(now, p, e)
		if m.Frame == msg.NoPage {
			return
		}
		e.Kind = protocol.FrameFreed
	case msg.PageOrphan:
		c.leaveOut(p)
		return
	default:
		return
	}
	c.step(now, p, e)
}

// asked: the responder asks for a translation.
func (a *adapter) asked(m *msg.Translate) {
	x := ask{m.Cookie, m.VA, m.Page, m.Write}
	if m.Kill {
		x.page = msg.NoPage
	}
	if m.Cookie >= ringCookie {
		a.ring = append(a.ring, x)
		return
	}
	*dense.Slot(&a.asks, m.Cookie) = x
}

// find is the request that an answer is for.
func (a *adapter) find(cookie uint64) (x ask, found bool) {
	if cookie < ringCookie {
		if cookie < uint64(len(a.asks)) {
			return a.asks[cookie], true
		}
		return ask{}, false
	}
	for i := range a.ring {
		if x = a.ring[i]; x.cookie == cookie {
			a.ring[i] = a.ring[len(a.ring)-1]
			a.ring = a.ring[:len(a.ring)-1]
			return x, true
		}
	}
	return ask{}, false
}

// answered: the unit gives a translation out.
func (c *Path) answered(now clocked.Time, a *adapter, m *msg.Translation) {
	if m.Outcome == msg.OutcomeRevoke {
		return
	}
	x, found := a.find(m.Cookie)
	if !found || m.Outcome != msg.OutcomeOK {
		return
	}
	held := dense.Slot(&a.given, uint64(m.Handle))
	*held = 0
	if x.page == msg.NoPage {
		return
	}
	p := c.touched(x.page, x.va)
	if p == nil || p.over || a.shift.Number(x.va) != a.shift.Number(p.place.va) {
		return
	}
	*held = x.page + 1
	c.step(now, p, protocol.Event{Kind: protocol.TranslationGiven, Adapter: a.number, Page: x.page, Frame: a.frame(p, m.PA),
		Token: m.Handle, Write: m.Write || x.write})
}

func (c *Path) released(now clocked.Time, a *adapter, handle uint32) {
	if int(handle) < len(a.given) && a.given[handle] > 0 {
		n := a.given[handle] - 1
		a.given[handle] = 0
		c.step(now, c.known(n), protocol.Event{Kind: protocol.TranslationReturned, Adapter: a.number, Page: n, Token: handle})
	}
}

// data: memory takes a transfer. Data that are marked bad it does not place.
func (c *Path) data(now clocked.Time, m *msg.MemReq) {
	if m.Kind != msg.KindData || m.Oracle.Page == msg.NoPage || m.Write && m.Poisoned || c.adapters[m.Adapter].dead {
		return
	}
	if p := c.known(m.Oracle.Page); p != nil {
		c.step(now, p, protocol.Event{Kind: protocol.DMASeen, Adapter: m.Adapter, Page: m.Oracle.Page, Frame: uint32(m.PA >> c.shift), Write: m.Write})
	}
}
