package iommu

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// commandRing is the number of commands that wait here ([Linux] intel/dmar.c:
// a ring of 256); more wait on the wire.
const commandRing = 256

// commandUnit executes the kernel's commands in order.
type commandUnit struct {
	commands      clocked.FIFO[*msg.IOMMUCommand]
	phase         commandPhase
	due           clocked.Time // least end of the invalidation under way
	draining      drain
	invalidations clocked.FIFO[outstanding]
	fences        clocked.FIFO[fence]
	armed         clocked.Time // the deadline for which a wake is queued
}

// fence is complete when all invalidations before a number are.
type fence struct {
	command *msg.IOMMUCommand
	before  uint32
}

// commandPhase is how far the command at the front has come.
type commandPhase uint8

const (
	phaseNew       commandPhase = iota
	phaseLeaving                // requests translated before have to leave
	phasePlacing                // what left has to be placed, and answered
	phaseTagWanted              // an ITag is missing
)

func (p commandPhase) String() string {
	return [...]string{"its turn", "translated requests to leave", "memory to place what left", "a free ITag"}[p]
}

// tickCommands takes commands in and executes them as far as they go.
func (u *Unit) tickCommands(now clocked.Time) {
	u.giveUp(now)
	for again := true; again; {
		u.takeCommands(now)
		again = false
		for u.commands.Len() > 0 && u.execute(now, *u.commands.Front()) {
			u.commands.Pop()
			u.phase = phaseNew
			again = true // there may be room for more
		}
	}
	u.giveUp(now)
	u.finishFences()
}

// takeCommands queues commands, and executes at once what is a register.
func (u *Unit) takeCommands(now clocked.Time) {
	for c := u.ports.Commands.Peek(now); c != nil && u.commands.Len() < commandRing; c = u.ports.Commands.Peek(now) {
		u.stats.Commands++
		if (*c).Op == msg.FreeRing {
			u.ring -= min(u.ring, int((*c).Count))
		} else {
			*u.commands.Push() = *c
		}
		u.ports.Commands.Pop(now)
	}
}

// execute goes on with a command and tells whether it is done.
func (u *Unit) execute(now clocked.Time, c *msg.IOMMUCommand) bool {
	if c.Op != msg.Fence && !u.reaches(c) {
		return u.refuseCommand(c)
	}
	switch c.Op {
	case msg.IOTLBInvalidate:
		return u.invalidateIOTLB(now, c)
	case msg.ContextInvalidate:
		return u.invalidateContext(now, c)
	case msg.DevTLBInvalidate:
		return u.sendInvalidate(now, c, ats.Cover(c.First, c.Len))
	case msg.RespondPage:
		u.respond(&u.adapters[c.Adapter], c.Response)
	case msg.Fence:
		*u.fences.Push() = fence{c, u.invalidations.Tail()}
	default:
		return u.refuseCommand(c)
	}
	return true
}

// reaches tells whether there is the adapter that a command names, and it is
// behind this IOMMU where the command is a message to it.
func (u *Unit) reaches(c *msg.IOMMUCommand) bool {
	if int(c.Adapter) >= len(u.adapters) {
		return false
	}
	message := c.Op == msg.DevTLBInvalidate || c.Op == msg.RespondPage
	return !message || u.adapters[c.Adapter].root != nil
}

// refuseCommand tells the kernel that a command cannot be executed; the queue
// goes on.
func (u *Unit) refuseCommand(c *msg.IOMMUCommand) bool {
	c.Refused = true
	u.stats.Refused++
	return true
}

// finishFences returns fences when all before them is complete or given up.
func (u *Unit) finishFences() {
	for u.fences.Len() > 0 && int32(u.invalidations.Head()-u.fences.Front().before) >= 0 {
		*u.events.Push() = msg.IOMMUEvent{Kind: msg.EventFence, Command: u.fences.Pop().command}
	}
}

// invalidateIOTLB drops a range, and is done when nothing translated before is
// under way and its time is over.
func (u *Unit) invalidateIOTLB(now clocked.Time, c *msg.IOMMUCommand) bool {
	if u.phase == phaseNew {
		u.dropDomains(c, pages(c.First, c.Len))
		u.beginDrain(now)
	}
	if !u.drained(now) {
		return false
	}
	if c.Record != nil {
		c.Record.IOTLB = now
	}
	return true
}

// invalidateContext drops a context and all that was cached by it: here and,
// where it may hold any, in the adapter.
func (u *Unit) invalidateContext(now clocked.Time, c *msg.IOMMUCommand) bool {
	if u.phase == phaseNew {
		u.dropDomains(c, span{last: ^uint64(0)})
		u.contexts.tags.Invalidate(0, contextKey(c.Adapter, c.PASID))
		u.forget(c.Adapter, c.PASID)
		u.beginDrain(now)
	}
	if u.phase != phaseTagWanted && !u.drained(now) {
		return false
	}
	return !u.adapters[c.Adapter].everATS || u.sendInvalidate(now, c, ats.Cover(0, 0))
}

// sendInvalidate sends an Invalidate Request or tells that the queue has to wait
// for a tag.
func (u *Unit) sendInvalidate(now clocked.Time, c *msg.IOMMUCommand, r ats.Range) bool {
	if u.invalidateDevTLB(now, c, r) != waits {
		return true
	}
	if u.phase != phaseTagWanted {
		u.phase = phaseTagWanted
		u.stats.TagsStalled++
	}
	return false
}

func (u *Unit) beginDrain(now clocked.Time) {
	u.markTranslated()
	u.phase, u.due = phaseLeaving, now+u.spec.CommandTime
	if u.due > now {
		u.engine.Wake(u.id, u.due)
	}
}

// drained goes on with the drain and tells whether the invalidation is done.
func (u *Unit) drained(now clocked.Time) bool {
	if u.phase == phaseLeaving && u.draining.requests == 0 {
		u.phase = phasePlacing
		u.place()
	}
	return u.phase == phasePlacing && u.draining.done() && now >= u.due
}

// pages is the span of pages that a command's range touches; length 0 is all.
func pages(first model.VA, length uint64) span {
	if length == 0 {
		return span{last: ^uint64(0)}
	}
	last := first + model.VA(min(length-1, ^uint64(first)))
	return span{first: pageNumber(first), last: pageNumber(last)}
}

// dropDomains drops the span in the domain of the command's context. Where the
// adapter named has none, the PASID's contexts of all adapters count, and without
// any the span is dropped in every domain.
func (u *Unit) dropDomains(c *msg.IOMMUCommand, r span) {
	if u.dropDomain(c.Adapter, c.PASID, r) {
		return
	}
	found := false
	for i := range u.adapters {
		found = u.dropDomain(uint16(i), c.PASID, r) || found
	}
	if !found {
		r.all = true
		u.drop(r)
	}
}

// dropDomain drops the span in the domain of a context, of the one in memory and
// of the one that is cached, and tells whether there is one.
func (u *Unit) dropDomain(adapter uint16, pasid uint32, r span) bool {
	stored, cached := u.inMemory(adapter, pasid), u.contexts.peek(adapter, pasid)
	if stored != nil {
		r.domain = stored.Domain
		u.drop(r)
	}
	if cached != nil && (stored == nil || cached.Domain != stored.Domain) {
		r.domain = cached.Domain
		u.drop(r)
	}
	return stored != nil || cached != nil
}

// drop drops a span from the caches, and makes void what walks have read of it.
func (u *Unit) drop(r span) {
	u.iotlb.drop(r)
	u.psc.drop(r)
	for _, i := range u.walkers {
		if i == none {
			continue
		}
		if w := &u.walks[i]; r.covers(tagOf(w.context.Domain, w.va, model.Shift4K), model.Shift4K) {
			w.stale = true
		}
	}
}
