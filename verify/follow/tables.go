package follow

import (
	"sort"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/platform"
	"rnicmmu/verify/monitor/dense"
	"rnicmmu/verify/protocol"
	"rnicmmu/verify/wires"
)

func (c *Path) watchKernel(s *platform.System) {
	for _, w := range wires.Of[msg.Doorbell](s, "kernel", "") {
		w.Wire.OnSent(c.doorbell)
	}
	for _, w := range wires.Of[msg.Inbox](s, "memory", "kernel") {
		w.Wire.OnSent(c.inbox)
	}
	for _, w := range wires.Of[msg.PageOp](s, "kernel", "memory") {
		w.Wire.OnSent(c.pageOp)
	}
}

// doorbell: the kernel posts a command, or cuts an adapter off.
func (c *Path) doorbell(now clocked.Time, d *msg.Doorbell) {
	a := &c.adapters[d.Adapter]
	if d.Disable {
		c.cutOff(now, a)
		return
	}
	m, ok := d.Body.(*msg.Command)
	if !ok || !a.table || a.dead {
		return
	}
	e := protocol.Event{Adapter: a.number}
	switch m.Op {
	case msg.CmdFill:
		e.Kind, e.Write = protocol.FillSent, m.Write
	case msg.CmdInvalidate:
		e.Kind = protocol.ZapSent
		if m.Moving {
			e.Kind = protocol.MoveZapSent
		}
	case msg.CmdSuspend:
		e.Kind = protocol.SuspendSent
	case msg.CmdUnsuspend:
		e.Kind = protocol.UnsuspendSent
	case msg.CmdProtect:
		e.Kind = protocol.ProtectSent
	case msg.CmdResume:
		c.resume(now, a, m.Token)
		return
	default:
		return
	}
	c.covered(now, a, m, e)
}

// cutOff sees the kernel give an adapter up.
func (c *Path) cutOff(now clocked.Time, a *adapter) {
	a.dead = true
	c.pages.Each(0, allPages, func(n uint64, at **page) {
		if *at != nil {
			c.step(now, *at, protocol.Event{Kind: protocol.CutOff, Adapter: a.number, Page: uint32(n)})
		}
	})
}

// covered gives an event of a command to each page in whose place it has an entry.
func (c *Path) covered(now clocked.Time, a *adapter, m *msg.Command, e protocol.Event) {
	end := m.Entry + uint64(m.Count)
	i := sort.Search(len(a.byEntry), func(i int) bool { return a.byEntry[i].FirstEntry > m.Entry })
	for i = max(i-1, 0); i < len(a.byEntry) && a.byEntry[i].FirstEntry < end; i++ {
		x := &a.byEntry[i]
		from, to := m.Entry, min(end, x.FirstEntry+a.shift.Span(x.VA, x.Length))
		if from < x.FirstEntry {
			from = x.FirstEntry
		}
		if from < to {
			c.run(now, a, x, m, from, to, e)
		}
	}
}

// run is what a command does to a run of one mapping's entries.
func (c *Path) run(now clocked.Time, a *adapter, x *platform.Mapping, m *msg.Command, from, to uint64, e protocol.Event) {
	number := a.shift.Number(x.VA)
	va := max(x.VA, model.VA((number+from-x.FirstEntry)<<a.shift))
	end := min(x.VA+model.VA(x.Length), model.VA((number+to-x.FirstEntry)<<a.shift))
	for n := a.pageOf(x, va); n <= a.pageOf(x, end-1); n++ {
		p := c.at(n, max(va, a.base(x, n)))
		if p.over || p.place.va < va || p.place.va >= end {
			continue
		}
		if m.Op == msg.CmdFill {
			pa := m.PA[a.entryOf(x, p.place.va)-m.Entry]
			if pa == msg.KeepEntry {
				continue
			}
			if e.Kind == protocol.FillSent {
				e.Frame = a.frame(p, pa)
			}
		}
		e.Page = n
		c.step(now, p, e)
	}
}

// token is a fault's number for a follower.
func token(t msg.FaultToken) uint32 { return t.Use<<16 ^ t.Place }

func (c *Path) resume(now clocked.Time, a *adapter, t msg.FaultToken) {
	if int(t.Place) >= len(a.faults) || a.faults[t.Place] == 0 {
		return
	}
	n := a.faults[t.Place] - 1
	c.step(now, c.known(n), protocol.Event{Kind: protocol.ResumeSent, Adapter: a.number, Page: n, Token: token(t)})
}

// inbox: a fault, or a command's completion, has come to the kernel. What a
// command holds the kernel has not changed yet.
func (c *Path) inbox(now clocked.Time, m *msg.Inbox) {
	a := &c.adapters[m.Adapter]
	if !a.table || a.dead {
		return
	}
	switch body := m.Body.(type) {
	case *msg.Event:
		if p := c.touched(body.Page, body.VA); p != nil {
			*dense.Slot(&a.faults, uint64(body.Token.Place)) = body.Page + 1
			c.step(now, p, protocol.Event{Kind: protocol.FaultSeen, Adapter: a.number, Page: body.Page, Token: token(body.Token)})
		}
	case *msg.Command:
		c.ended(now, a, body, protocol.CommandCompleted)
	}
}

// ended gives an event of a command's end to the pages of its entries.
func (c *Path) ended(now clocked.Time, a *adapter, m *msg.Command, kind protocol.Kind) {
	switch m.Op {
	case msg.CmdFill, msg.CmdInvalidate, msg.CmdSuspend, msg.CmdUnsuspend, msg.CmdProtect:
		c.covered(now, a, m, protocol.Event{Kind: kind, Adapter: a.number})
	}
}
