package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// suspend makes a notice's command one that suspends: the entries, or the whole
// region.
func (k *Kernel) suspend(s *notice) {
	k.Stats.Suspensions++
	s.cmd.Op = msg.CmdSuspend
	if k.spec.Suspend.Unit == "region" {
		s.cmd.Whole, s.cmd.Key = true, s.region.Key
	}
}

// follow makes a command that follows a suspension.
func (s *notice) follow(n, i int, op msg.CommandOp) *msg.Command {
	c := &s.end[n]
	*c = msg.Command{Op: op, Owner: uint32(refer(actorReopen, i)), Adapter: s.cmd.Adapter, Entry: s.cmd.Entry, Count: s.cmd.Count,
		Moving: s.cmd.Moving, PA: c.PA[:0]}
	return c
}

// suspended tells whether a notice's entries are suspended now.
func (k *Kernel) suspended(s *notice) bool {
	return s.cmd.Op == msg.CmdSuspend && k.adapters[s.cmd.Adapter].state == adapterAlive
}

// zapSuspended makes entries of a suspended region absent, before anyone can
// fill them in again: the end of the suspension never shows the old frames.
// Entries that are themselves suspended have forgotten theirs.
func (k *Kernel) zapSuspended(now clocked.Time, i int) {
	v := k.evictions.items[i]
	for _, s := range v.slots[:v.tables] {
		if k.suspended(s) && s.cmd.Whole {
			v.reopening++
			k.send(now, s.follow(0, i, msg.CmdInvalidate))
		}
	}
}

// refill programs the new frame of a page that has moved into the suspended
// entries.
func (k *Kernel) refill(now clocked.Time, i int) {
	v := k.evictions.items[i]
	for _, s := range v.slots[:v.tables] {
		if !k.suspended(s) {
			continue
		}
		if k.adapters[s.region.Adapter].domain() && k.pages[v.first].flags&pageDMA == 0 {
			k.mapDMA(v.first)
		}
		c := s.follow(0, i, msg.CmdFill)
		k.encode(c, s.region, s.bit, v.first, 1, s.write)
		v.reopening++
		k.send(now, c)
	}
}

// reopen ends the suspensions.
func (k *Kernel) reopen(now clocked.Time, i int) {
	v := k.evictions.items[i]
	for _, s := range v.slots[:v.tables] {
		if k.suspended(s) {
			c := s.follow(1, i, msg.CmdUnsuspend)
			c.Whole, c.Key = s.cmd.Whole, s.cmd.Key
			v.reopening++
			k.send(now, c)
		}
	}
}

// reopened: a command that ends a suspension is complete.
func (k *Kernel) reopened(i int, timedOut bool) {
	v := k.evictions.items[i]
	if timedOut {
		for _, s := range v.slots[:v.tables] {
			s.abandoned = s.abandoned || k.Dead(int(s.cmd.Adapter))
		}
	}
	v.reopening--
	k.retire(i)
}
