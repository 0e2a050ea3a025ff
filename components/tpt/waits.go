package tpt

import "fmt"

// Idle tells whether nothing is in flight.
func (u *Unit) Idle() bool {
	return u.inUse == 0 && u.dma.Len() == 0 && u.results.Len() == 0 && u.faults.outstanding == 0 && u.commands.idle()
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
			add("QP %d waits for the kernel to resume fault %d (raised at %v)", f.event.QP, i, f.event.Raised)
		}
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

func (c *commandUnit) waits(add func(string, ...any)) {
	if cmd := c.current; cmd != nil {
		add("command on entries %d+%d waits for %s; %d more are queued", cmd.Entry, cmd.Count, c.phase, c.queue.Len())
		if c.phase == commandDraining {
			add("%d translations of its range are still out", c.draining)
		}
	}
}

func (p commandPhase) String() string {
	return [...]string{"nothing", "its fetch", "the firmware", "the drain"}[p]
}
