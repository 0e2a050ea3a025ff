package iommu

import "fmt"

// Idle tells whether nothing is under way.
func (u *Unit) Idle() bool {
	for i := range u.adapters {
		a := &u.adapters[i]
		if a.answers.Len() > 0 || a.messages.Len() > 0 || a.pending.Len() > 0 || a.flushing != 0 || a.inFlight != [2]int{} {
			return false
		}
	}
	return u.inUse == 0 && u.commands.Len() == 0 && u.invalidations.Len() == 0 && u.events.Len() == 0
}

// Waits says in a line each what the unit waits for.
func (u *Unit) Waits() []string {
	var out []string
	add := func(n int, format string, args ...any) {
		if n > 0 {
			out = append(out, u.name+": "+fmt.Sprintf(format, args...))
		}
	}
	for i := range u.slots {
		if s := &u.slots[i]; s.stage != stageFree {
			add(1, "adapter %d: request for %#x waits for %v", s.adapter, uint64(s.req.PA), s.stage)
		}
	}
	for i := range u.adapters {
		a := &u.adapters[i]
		add(a.inFlight[0]+a.inFlight[1], "adapter %d: %d reads wait for memory", i, a.inFlight[0]+a.inFlight[1])
		add(a.answers.Len(), "adapter %d: %d answers wait for the root port", i, a.answers.Len())
		add(a.messages.Len(), "adapter %d: %d messages wait for the root port", i, a.messages.Len())
		add(a.pending.Len(), "adapter %d: %d flushes wait for room at memory", i, a.pending.Len())
		add(a.open, "adapter %d: %d Invalidate Requests wait for their completion", i, a.open)
	}
	if n := u.commands.Len(); n > 0 {
		add(n, "command %d of adapter %d waits for %v; %d more are queued", (*u.commands.Front()).Op, (*u.commands.Front()).Adapter, u.phase, n-1)
	}
	add(u.events.Len(), "%d events wait for the kernel to take them", u.events.Len())
	return out
}

func (s stage) String() string {
	return [...]string{"nothing", "its context", "its walk", "its turn to leave"}[s]
}
