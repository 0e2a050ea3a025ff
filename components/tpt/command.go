package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model/mtt"
)

// commandPhase is what the command unit is doing.
type commandPhase uint8

const (
	commandIdle commandPhase = iota
	commandFetching
	commandProcessing
	commandDraining
)

// commandUnit executes table commands one after another, in the order of their
// doorbells, so that an older zap can never land after a newer fill.
type commandUnit struct {
	queue    clocked.FIFO[*msg.Command]
	current  *msg.Command
	phase    commandPhase
	until    clocked.Time
	draining int // translations of the range still out
}

func (c *commandUnit) idle() bool { return c.current == nil && c.queue.Len() == 0 }

const commandBytes = 64 // work request: control, UMR and data segments

// tickCommands takes doorbells and advances the command in execution, until
// neither can go on: what starts makes room for a doorbell.
func (u *Unit) tickCommands(now clocked.Time) {
	for u.takeDoorbell(now) || u.advance(now) {
	}
}

func (u *Unit) takeDoorbell(now clocked.Time) bool {
	m := u.Doorbell.Peek(now)
	if m == nil || u.commands.queue.Len() == u.spec.Invalidation.QueueDepth {
		return false
	}
	*u.commands.queue.Push() = m.Body.(*msg.Command)
	u.Doorbell.Pop(now)
	return true
}

// advance does one step of the command in execution if it is due.
func (u *Unit) advance(now clocked.Time) bool {
	c := &u.commands
	switch {
	case c.current == nil && c.queue.Len() > 0:
		c.current = c.queue.Pop()
		u.fetch()
	case c.phase == commandProcessing && c.until <= now:
		u.apply(now)
	case c.phase == commandDraining && c.draining == 0:
		if r := c.current.Record; r != nil {
			r.Drained = now
		}
		u.complete()
	default:
		return false
	}
	return true
}

// fetch reads the work request and, for a fill, its entries.
func (u *Unit) fetch() {
	c := &u.commands
	c.phase = commandFetching
	bytes := uint32(commandBytes)
	if c.current.Op == msg.CmdFill {
		bytes += c.current.Count * mtt.EntryBytes
	}
	*u.dma.Push() = msg.DMA{Kind: msg.KindCommand, PA: queueArea, Len: bytes, Cookie: cookie(cookieCommand, 0),
		Oracle: msg.Oracle{Page: msg.NoPage}}
}

func (u *Unit) commandFetched(now clocked.Time) {
	c := &u.commands
	if r := c.current.Record; r != nil {
		r.Received = now
	}
	c.phase = commandProcessing
	c.until = u.clock.Next(now + u.processing(c.current))
	u.engine.Wake(u.id, c.until)
}

// processing is the firmware's time for a command.
func (u *Unit) processing(cmd *msg.Command) clocked.Time {
	each := u.spec.Command.Fill
	switch cmd.Op {
	case msg.CmdResume:
		return 0
	case msg.CmdInvalidate:
		each = u.spec.Command.Invalidate
	}
	posts := clocked.Time(max(1, cmd.Posts))
	return posts*each + clocked.Time(max(1, cmd.Count)-1)*u.spec.Command.PerEntry
}

// apply makes the command's change and goes on to draining or completion.
func (u *Unit) apply(now clocked.Time) {
	c := &u.commands
	switch cmd := c.current; cmd.Op {
	case msg.CmdFill:
		u.program(cmd)
		u.complete()
	case msg.CmdInvalidate:
		u.Stats.Invalidates++
		u.zap(cmd)
		u.forget(cmd.Entry, uint64(cmd.Count))
		u.writeTable(cmd)
		u.revoke(now, cmd)
		if cmd.Record != nil {
			cmd.Record.Marked = now
		}
		c.phase = commandDraining
	case msg.CmdResume:
		u.scheduleResume(now, cmd.Token, cmd.Failed)
		u.complete()
	}
}

// zap makes the entries absent. Those of a page that moves are marked, so that
// an access which meets one is told apart from one that meets a page on disk.
func (u *Unit) zap(cmd *msg.Command) {
	if r := cmd.Record; r == nil || r.Trigger != measure.TriggerMigrate {
		u.Stats.EntriesZapped += u.table.Zap(cmd.Entry, uint64(cmd.Count))
		return
	}
	for e := cmd.Entry; e < cmd.Entry+uint64(cmd.Count); e++ {
		if u.table.Get(e).Present() {
			u.Stats.EntriesZapped++
			u.table.Set(e, mtt.Word(0).WithSuspended(true))
		}
	}
}

// program writes entries of a fill.
func (u *Unit) program(cmd *msg.Command) {
	u.Stats.Fills++
	for j, p := range cmd.PA {
		w := mtt.Entry{PA: p, Read: true, Write: cmd.Write, Present: true}.Encode()
		u.table.Set(cmd.Entry+uint64(j), w)
	}
	u.forget(cmd.Entry, uint64(cmd.Count))
	u.writeTable(cmd)
}

// writeTable stores the changed entries where the table lives.
func (u *Unit) writeTable(cmd *msg.Command) {
	if u.spec.Tables == "onboard" {
		return
	}
	*u.dma.Push() = msg.DMA{Kind: msg.KindMTT, Write: true, PA: u.layout.Address(cmd.Entry),
		Len: max(1, cmd.Count) * mtt.EntryBytes, Oracle: msg.Oracle{Page: msg.NoPage}}
}

// forget drops cached copies of the entries and makes walks that have read
// them read again.
func (u *Unit) forget(entry, count uint64) {
	le := uint64(u.spec.MTT.LineEntries)
	firstLine, lastLine := entry/le, (entry+max(1, count)-1)/le
	for i := range u.walks {
		if w := &u.walks[i]; w.busy && w.line >= firstLine && w.line <= lastLine {
			w.stale = true
		}
	}
	if u.spec.MTT.Index == "entry" && lastLine-firstLine < uint64(u.mtt.Lines()) {
		for line := firstLine; line <= lastLine; line++ {
			u.mtt.Invalidate(line, line)
		}
		return
	}
	for at, line := range u.mtt.All() {
		if line >= firstLine && line <= lastLine {
			u.mtt.InvalidateSlot(at)
		}
	}
}

// revoke calls back every translation of the range that was given out.
func (u *Unit) revoke(now clocked.Time, cmd *msg.Command) {
	end := cmd.Entry + uint64(cmd.Count)
	for i := range u.slots {
		s := &u.slots[i]
		if s.phase != slotGiven || s.entry < cmd.Entry || s.entry >= end {
			continue
		}
		s.marked = true
		u.commands.draining++
		u.Stats.Revoked++
		u.answer(now, u.clock.Next(now), msg.Translation{Outcome: msg.OutcomeRevoke, Handle: uint32(i)})
	}
}

// complete acknowledges: the completion entry is a posted write behind every
// write that used the old translations, and so pushes them to memory.
func (u *Unit) complete() {
	c := &u.commands
	cmd := c.current
	*u.dma.Push() = msg.DMA{Kind: msg.KindCQE, Write: true, PA: queueArea, Len: 64, Cookie: uint64(cmd.Owner), Body: cmd,
		Oracle: msg.Oracle{Page: msg.NoPage}}
	c.current, c.phase = nil, commandIdle
}
