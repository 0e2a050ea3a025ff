package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

// commandPhase is what the command unit is doing.
type commandPhase uint8

const (
	commandIdle commandPhase = iota
	commandFetching
	commandProcessing
	commandDraining
	commandUnreadable // its work request: the unit has stopped for good
)

// source is who sent a job; each has a share of the queue of its own, so that
// none has to wait because another filled it.
type source uint8

const (
	fromKernel source = iota // table command
	fromIOMMU                // ATS Invalidate Request
	fromPeer                 // SEND with invalidate
	numSources
)

// job is what the command unit does: one of the three.
type job struct {
	source     source
	command    *msg.Command
	invalidate *msg.Invalidate
	slot       int32 // that holds the request of a peer
}

// commandUnit executes jobs one after another, in the order in which they came,
// so that an older zap can never land after a newer fill.
type commandUnit struct {
	queue    clocked.FIFO[job]
	waiting  [numSources]int // in the queue
	current  job
	phase    commandPhase
	until    clocked.Time
	refused  bool // the job changes nothing
	draining int  // translations called back and still out
}

func (c *commandUnit) idle() bool { return c.phase == commandIdle && c.queue.Len() == 0 }

func (c *commandUnit) full(from source, depth int) bool { return c.waiting[from] == depth }

func (c *commandUnit) push(j job) {
	*c.queue.Push() = j
	c.waiting[j.source]++
}

// record is where the steps of the job in execution are stamped, or nil.
func (j *job) record() *measure.Invalidation {
	switch j.source {
	case fromKernel:
		return j.command.Record
	case fromIOMMU:
		return j.invalidate.Record
	}
	return nil
}

const commandBytes = 64 // work request: control, UMR and data segments

// tickCommands takes doorbells and advances the job in execution, until
// neither can go on: what starts makes room for a doorbell.
func (u *Unit) tickCommands(now clocked.Time) {
	for u.takeDoorbell(now) || u.advance(now) {
	}
}

func (u *Unit) takeDoorbell(now clocked.Time) bool {
	m := u.Doorbell.Peek(now)
	if m == nil {
		return false
	}
	c, depth := &u.commands, u.spec.Invalidation.QueueDepth
	switch body := m.Body.(type) {
	case *msg.Command:
		if c.full(fromKernel, depth) {
			return false
		}
		c.push(job{source: fromKernel, command: body})
	case *msg.Invalidate:
		if c.full(fromIOMMU, depth) {
			return false
		}
		if body.Record != nil {
			body.Record.Received = now
		}
		c.push(job{source: fromIOMMU, invalidate: body})
	case *msg.PageResponse:
		u.respondPage(now, &body.PageResponse)
	}
	u.Doorbell.Pop(now)
	return true
}

// queueKill makes a peer's SEND with invalidate wait for its turn.
func (u *Unit) queueKill(now clocked.Time, i int32, m *msg.Translate) {
	s := &u.slots[i]
	s.req, s.phase = *m, slotParked
	u.commands.push(job{source: fromPeer, slot: i})
	u.advance(now)
}

// hung tells whether the command unit has stopped for good. Its queue goes on
// taking what it has room for, or doorbells would stand in the way of data.
func (u *Unit) hung(now clocked.Time) bool {
	at := u.spec.Command.HangAt
	return at > 0 && now >= at
}

// advance does one step of the job in execution if it is due.
func (u *Unit) advance(now clocked.Time) bool {
	c := &u.commands
	switch {
	case u.hung(now):
		return false
	case c.phase == commandIdle && c.queue.Len() > 0:
		c.current = c.queue.Pop()
		c.waiting[c.current.source]--
		u.begin(now)
	case c.phase == commandProcessing && c.until <= now:
		u.apply(now)
	case c.phase == commandDraining && c.draining == 0:
		if r := c.current.record(); r != nil {
			r.Drained = now
		}
		u.complete(now)
	default:
		return false
	}
	return true
}

// begin fetches the work request of a command; the others came whole.
func (u *Unit) begin(now clocked.Time) {
	c := &u.commands
	c.refused = false
	switch c.current.source {
	case fromIOMMU:
		u.process(now, u.spec.Command.ATSInvalidate)
	case fromPeer:
		u.process(now, u.spec.Command.LocalInvalidate)
	default:
		c.phase = commandFetching
		*u.dma.Push() = msg.DMA{Kind: msg.KindCommand, PA: u.config.Place.Queues + commandQueue, Len: requestBytes(c.current.command),
			Cookie: cookie(cookieCommand, 0), Oracle: msg.Oracle{Page: msg.NoPage}}
	}
}

// requestBytes is the size of a work request: with the entries of a fill, or
// the protection entry that a key change writes.
func requestBytes(cmd *msg.Command) uint32 {
	switch {
	case cmd.Op == msg.CmdFill:
		return commandBytes + cmd.Count*mtt.EntryBytes
	case cmd.Op == msg.CmdKey && cmd.Change.Op == msg.KeyEntry:
		return commandBytes + key.IndirectBytes
	case cmd.Op == msg.CmdKey && cmd.Change.Op != msg.KeyDeregister && cmd.Change.Op != msg.KeyInvalidate:
		return commandBytes + key.EntryBytes
	}
	return commandBytes
}

// commandFetched starts a command, or stops the unit: what the kernel wants is
// not known, and what is behind must not overtake it. The kernel hears no more of
// this adapter, and cuts it off.
func (u *Unit) commandFetched(now clocked.Time, status msg.Status) {
	if status != msg.StatusSuccess {
		u.commands.phase = commandUnreadable
		return
	}
	cmd := u.commands.current.command
	if cmd.Record != nil {
		cmd.Record.Received = now
	}
	u.process(now, u.processing(cmd))
}

// process takes the given time before the job is applied.
func (u *Unit) process(now, t clocked.Time) {
	c := &u.commands
	c.phase = commandProcessing
	c.until = u.clock.Next(now + t)
	u.engine.Wake(u.id, c.until)
}

// processing is the firmware's time for a command.
func (u *Unit) processing(cmd *msg.Command) clocked.Time {
	each := u.spec.Command.Fill
	switch cmd.Op {
	case msg.CmdResume:
		return 0
	case msg.CmdKey:
		return u.spec.Command.keyChange(cmd.Change.Op)
	case msg.CmdInvalidate, msg.CmdSuspend, msg.CmdProtect:
		each = u.spec.Command.Invalidate
	}
	posts := clocked.Time(max(1, cmd.Posts))
	return posts*each + clocked.Time(max(1, cmd.Count)-1)*u.spec.Command.PerEntry
}

// drain waits until what was called back has come back. An adapter with the
// defect has called nothing back.
func (u *Unit) drain(now clocked.Time) {
	c := &u.commands
	if r := c.current.record(); r != nil {
		r.Marked = now
	}
	c.phase = commandDraining
}

// refuse ends a job that changes nothing.
func (u *Unit) refuse(now clocked.Time, err error) {
	c := &u.commands
	u.Stats.Refused++
	c.refused = true
	if cmd := c.current.command; cmd != nil {
		cmd.Change.Err = err
	}
	u.complete(now)
}

// complete acknowledges. The completion entry of a command is a posted write
// behind every write that used the old translations, and so pushes them to
// memory.
func (u *Unit) complete(now clocked.Time) {
	c := &u.commands
	j := c.current
	c.current, c.phase = job{}, commandIdle
	switch j.source {
	case fromKernel:
		*u.dma.Push() = msg.DMA{Kind: msg.KindCQE, Write: true, PA: u.config.Place.Queues + completionQueue, Len: 64, Cookie: uint64(j.command.Owner),
			Body: j.command, Oracle: msg.Oracle{Page: msg.NoPage}}
	case fromIOMMU:
		u.invalidated(j.invalidate)
	default:
		outcome := msg.OutcomeOK
		if c.refused {
			outcome = msg.OutcomeRemoteOp
		}
		u.dismiss(now, j.slot, &u.slots[j.slot].req, outcome)
	}
}
