package coverage

import "rnicmmu/components/msg"

// changes follows a command's effect on the adapter's table.
func (c *Collector) changes(a *adapter, cmd *msg.Command) {
	event := 0
	switch {
	case cmd.Op == msg.CmdFill && cmd.Write:
		event = eventFillWrite
	case cmd.Op == msg.CmdFill:
		event = eventFillRead
	case cmd.Op == msg.CmdInvalidate:
		event = eventInvalidate
	case cmd.Op == msg.CmdProtect:
		event = eventProtect
	case cmd.Op == msg.CmdSuspend:
		event = eventSuspend
	case cmd.Op == msg.CmdUnsuspend:
		event = eventUnsuspend
	default:
		return
	}
	first, last := a.rangeOf(cmd)
	for p := first; p <= last && p != msg.NoPage; p++ {
		if cmd.Op == msg.CmdFill && a.entry == a.host && cmd.PA[p-first] == msg.KeepEntry {
			continue
		}
		f := a.at(p)
		c.hit(entryEvent, int(f.state()), event)
		f.apply(cmd)
	}
}

// state is that of the page's entry.
func (f *flight) state() entry {
	switch {
	case f.moving:
		return entryMoving
	case f.suspended > 0:
		return entrySuspended
	}
	return f.entry
}

// apply changes the entry as a command does.
func (f *flight) apply(cmd *msg.Command) {
	switch cmd.Op {
	case msg.CmdFill:
		f.entry, f.moving = entryReadOnly, f.moving && f.suspended > 0
		if cmd.Write {
			f.entry = entryWritable
		}
	case msg.CmdInvalidate:
		f.entry, f.moving = entryAbsent, cmd.Moving
	case msg.CmdProtect:
		f.entry = min(f.entry, entryReadOnly)
	case msg.CmdSuspend:
		f.suspended++
		f.moving = cmd.Moving
		if !cmd.Whole {
			f.entry = entryAbsent
		}
	case msg.CmdUnsuspend:
		if f.suspended -= min(1, f.suspended); f.suspended == 0 {
			f.moving = false
		}
	}
}

// paged: the kernel or the CPU does something to a page's content.
func (c *Collector) paged(m *msg.PageOp) {
	if m.Page == msg.NoPage {
		return
	}
	p := c.page(m.Page)
	c.hit(pageEvent, int(*p), int(m.Kind))
	switch m.Kind {
	case msg.PageZero, msg.PageIn:
		*p = contentPresent
	case msg.PageOut:
		*p = contentSwapped
	case msg.PageFree:
		if *p == contentStored || *p == contentPresent {
			*p = contentSwapped // clean: as it is in swap
		}
	case msg.PageDiscard, msg.PageOrphan:
		*p = contentNone
	}
}
