package tpt

import (
	"fmt"

	"rnicmmu/components/msg"
)

// Idle tells whether nothing is in flight.
func (u *Unit) Idle() bool {
	return u.inUse == 0 && u.prefetching == 0 && u.dma.Len() == 0 && u.results.Len() == 0 && u.faults.outstanding == 0 && u.commands.idle()
}

// Waits names what the unit is waiting for, for a deadlock dump: nothing when
// it is idle, and something when it is not.
func (u *Unit) Waits() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, u.name+": "+fmt.Sprintf(format, args...)) }
	given := 0
	for i := range u.slots {
		switch s := &u.slots[i]; s.phase {
		case slotParked:
			add("QP %d waits for the translation of va %#x", s.req.QP, uint64(s.req.VA))
		case slotGiven:
			given++
		}
	}
	if given > 0 {
		add("%d translations wait for their release by the responder", given)
	}
	for i := range u.faults.list {
		if f := &u.faults.list[i]; f.live {
			add("QP %d waits for %s fault %d (raised at %v)", f.event.QP, u.endOf(f), i, f.event.Raised)
		}
	}
	if u.prefetching > 0 {
		add("%d prefetches wait for their entries", u.prefetching)
	}
	if u.results.Len() > 0 {
		add("%d results wait for the responder to take them", u.results.Len())
	}
	if u.dma.Len() > 0 {
		add("%d table reads and writes wait for the endpoint", u.dma.Len())
	}
	u.commands.waits(add)
	return out
}

// endOf tells who has to do what for a fault.
func (u *Unit) endOf(f *fault) string {
	switch {
	case u.config.Mode != ATC:
		return "the kernel to resume"
	case len(f.asks) > 0:
		return fmt.Sprintf("the response to page request group %d of", f.asks[0].Group)
	}
	return fmt.Sprintf("%d of %d page request credits for", f.event.Count, u.spec.PageRequests)
}

func (c *commandUnit) waits(add func(string, ...any)) {
	if c.phase == commandIdle {
		return
	}
	add("%s waits for %s; %d more are queued", c.current.name(), c.phase, c.queue.Len())
	if c.phase == commandDraining {
		add("%d translations that it calls back are still out", c.draining)
	}
}

func (j *job) name() string {
	switch cmd := j.command; {
	case j.source == fromIOMMU:
		return fmt.Sprintf("invalidate request %d for va %#x", j.invalidate.ITag, uint64(j.invalidate.Range.VA))
	case j.source == fromPeer:
		return "invalidation of a key by a peer's SEND"
	case cmd.Op == msg.CmdKey:
		return fmt.Sprintf("change of key %#x", uint32(cmd.Change.Key))
	case cmd.Whole:
		return fmt.Sprintf("suspension of key %#x", uint32(cmd.Key))
	default:
		return fmt.Sprintf("command on entries %d+%d", cmd.Entry, cmd.Count)
	}
}

func (p commandPhase) String() string {
	return [...]string{"nothing", "its fetch", "the firmware", "the drain", "nothing more, as it could not be read"}[p]
}
