package coverage

import (
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/platform"
	"rnicmmu/verify/wires"
)

// watchKernel looks at what the kernel and the IOMMU tell adapters, and at what
// comes back.
func (c *Collector) watchKernel(s *platform.System) {
	for _, w := range wires.Of[msg.Doorbell](s, "kernel", "") {
		w.Wire.OnSent(func(_ clocked.Time, m *msg.Doorbell) {
			a := &c.adapters[m.Adapter]
			if cmd, ok := m.Body.(*msg.Command); ok && !a.dead {
				c.told(a, cmd)
			}
			a.dead = a.dead || m.Disable
		})
	}
	for _, w := range wires.Of[msg.Doorbell](s, "iommu", "") {
		w.Wire.OnSent(func(_ clocked.Time, m *msg.Doorbell) { c.messaged(&c.adapters[m.Adapter], m) })
	}
	for _, w := range wires.Of[msg.Inbox](s, "memory", "kernel") {
		depth := w.Wire.Depth()
		w.Wire.OnSent(func(_ clocked.Time, m *msg.Inbox) { // when it is taken, the command is the kernel's again
			c.filled(queueInbox, w.Wire.Len(), depth)
			if cmd, ok := m.Body.(*msg.Command); ok && m.Kind == msg.KindCQE {
				c.seen(&c.adapters[m.Adapter], cmd)
			}
		})
	}
	for _, w := range wires.Of[msg.PageOp](s, "kernel", "memory") {
		w.Wire.OnSent(func(_ clocked.Time, m *msg.PageOp) { c.paged(m) })
	}
}

// told: a command is sent.
func (c *Collector) told(a *adapter, cmd *msg.Command) {
	a.commands = append(a.commands, cmd)
	c.moved(a, queueCommands, 1)
	first, last := a.rangeOf(cmd)
	x := closing{first: first, last: last, command: cmd, record: cmd.Record}
	switch cmd.Op {
	case msg.CmdFill:
		c.filling(a, cmd, first, last, 1)
	case msg.CmdResume:
		c.resumes(a, cmd)
	case msg.CmdUnsuspend:
		for p := first; p <= last && p != msg.NoPage; p++ {
			c.meets(a, p, meetResume)
		}
	case msg.CmdInvalidate:
		x.kind = kindInvalidate
		c.begin(a, x)
	case msg.CmdSuspend:
		x.kind = kindSuspend
		c.begin(a, x)
	case msg.CmdProtect:
		x.kind = kindProtect
		c.begin(a, x)
	case msg.CmdKey:
		if op := cmd.Change.Op; op == msg.KeyDeregister || op == msg.KeyInvalidate {
			x.kind = kindKey
			c.begin(a, x)
		}
	}
	if r := cmd.Record; r != nil {
		c.hit(triggerScheme, int(r.Trigger), a.scheme)
	}
}

// rangeOf is the run of pages that a command names by entries or by key.
func (a *adapter) rangeOf(cmd *msg.Command) (first, last uint32) {
	switch {
	case cmd.Op == msg.CmdResume:
		return msg.NoPage, msg.NoPage
	case cmd.Op == msg.CmdKey:
		return a.keyed(cmd.Change.Key)
	case cmd.Whole:
		return a.keyed(cmd.Key)
	}
	return a.entries(cmd.Entry, uint64(cmd.Count))
}

// keyed is the run of pages of a key's region.
func (a *adapter) keyed(k key.Key) (first, last uint32) {
	for i := range a.byEntry {
		if m := &a.byEntry[i]; m.Key.Index() == k.Index() && m.Length > 0 {
			return m.FirstPage, m.FirstPage + uint32(a.host.Number(m.VA+model.VA(m.Length-1))-a.host.Number(m.VA))
		}
	}
	return msg.NoPage, msg.NoPage
}

// filling: a fill is sent, or is over. One of a page without a fault, which is
// not suspended, is a prefetch.
func (c *Collector) filling(a *adapter, cmd *msg.Command, first, last uint32, n int) {
	for p := first; p <= last && p != msg.NoPage; p++ {
		if a.entry == a.host && cmd.PA[p-first] == msg.KeepEntry {
			continue
		}
		f := a.at(p)
		switch {
		case n < 0 && f.prefetches > 0:
			f.prefetches--
		case n < 0:
			f.fills -= min(1, f.fills)
		case f.faults > 0 || f.suspended > 0:
			f.fills++
			c.meets(a, p, meetFill)
		default:
			f.prefetches++
			c.meets(a, p, meetPrefetch)
		}
	}
}

// resumes: a fault is to end.
func (c *Collector) resumes(a *adapter, cmd *msg.Command) {
	if i := a.faultOf(cmd.Token); i >= 0 {
		c.meets(a, a.faults[i].page, meetResume)
	}
}

func (a *adapter) faultOf(t msg.FaultToken) int {
	return slices.IndexFunc(a.faults, func(f reported) bool { return f.token == t })
}

// fetched: the adapter has the command that is next.
func (c *Collector) fetched(a *adapter) {
	if len(a.commands) == 0 {
		return
	}
	if x := a.of(a.commands[0]); x != nil {
		c.reach(a, x, phaseReceived)
	}
}

// executed: the adapter writes the completion entry of a command.
func (c *Collector) executed(a *adapter, cmd *msg.Command) {
	if i := slices.Index(a.commands, cmd); i >= 0 {
		a.commands = slices.Delete(a.commands, i, i+1)
		c.moved(a, queueCommands, -1)
	}
	c.changes(a, cmd)
	if x := a.of(cmd); x != nil {
		c.reach(a, x, phaseDrained)
	}
}

// seen: a completion entry is on its way to the kernel.
func (c *Collector) seen(a *adapter, cmd *msg.Command) {
	first, last := a.rangeOf(cmd)
	switch cmd.Op {
	case msg.CmdFill:
		c.filling(a, cmd, first, last, -1)
	case msg.CmdResume:
		c.resumed(a, cmd)
	case msg.CmdUnsuspend:
		a.lifted(first, last)
	case msg.CmdKey:
		refused := 0
		if cmd.Change.Err != nil {
			refused = 1
		}
		c.hit(keyChange, int(cmd.Change.Op), refused)
	}
	if x := a.of(cmd); x != nil {
		c.reach(a, x, phaseAcknowledged)
		x.command = nil // it serves others from here on
		c.hit(invalidationEnds, 0, 0)
	}
	a.sweep()
}

// resumed: a fault has ended.
func (c *Collector) resumed(a *adapter, cmd *msg.Command) {
	if i := a.faultOf(cmd.Token); i >= 0 {
		f := a.faults[i]
		for p := f.page; p < f.page+f.count; p++ {
			a.at(p).faults -= min(1, a.at(p).faults)
		}
		a.faults = slices.Delete(a.faults, i, i+1)
		c.moved(a, queueEvents, -1)
	}
}

// lifted: suspensions of the pages have ended.
func (a *adapter) lifted(first, last uint32) {
	for i := 0; i < len(a.live); {
		if x := &a.live[i]; x.kind == kindSuspend && x.phase == phaseAcknowledged && x.first <= last && x.last >= first {
			a.forget(i)
		} else {
			i++
		}
	}
}
