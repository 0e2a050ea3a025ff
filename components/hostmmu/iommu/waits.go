package iommu

import "fmt"

// Idle tells whether nothing is under way.
func (u *Unit) Idle() bool {
	for i := range u.adapters {
		if u.adapters[i].reads != [2]int{} {
			return false
		}
	}
	for _, r := range u.roots {
		if r.answers.Len()+r.messages.Len()+r.pending.Len() > 0 || r.flushing != 0 {
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
		add(a.reads[0]+a.reads[1], "adapter %d: %d reads wait for memory", i, a.reads[0]+a.reads[1])
		add(a.open, "adapter %d: %d Invalidate Requests wait for their completion", i, a.open)
	}
	for i, r := range u.roots {
		add(r.answers.Len(), "root port %d: %d answers wait", i, r.answers.Len())
		add(r.messages.Len(), "root port %d: %d messages wait", i, r.messages.Len())
		add(r.pending.Len(), "root port %d: %d flushes wait for room at memory", i, r.pending.Len())
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
