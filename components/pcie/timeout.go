package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// watch notes when a request times out. One timer at a time is set.
func (u *Endpoint) watch(now clocked.Time, t *tag) {
	if u.timeout == 0 {
		return
	}
	t.deadline = now + u.timeout
	if u.check == clocked.Never {
		u.check = t.deadline
		u.engine.Wake(u.id, u.check)
	}
}

// expire ends requests that have had no completion in time. Their tags rest: a
// completion that comes late must not be taken for another request's.
func (u *Endpoint) expire(now clocked.Time) {
	if now >= u.check {
		u.inspect(now)
	}
}

func (u *Endpoint) inspect(now clocked.Time) {
	u.check = clocked.Never
	for i := range u.tags.at {
		switch t := &u.tags.at[i]; {
		case !t.busy:
		case t.deadline <= now:
			u.abandon(now, int32(i), t)
		default:
			u.check = min(u.check, t.deadline)
		}
	}
	if u.check < clocked.Never {
		u.engine.Wake(u.id, u.check)
	}
}

// abandon ends a request without its completion, which cannot come any more if
// the link is down.
func (u *Endpoint) abandon(now clocked.Time, id int32, t *tag) {
	u.timedOut++
	t.busy, t.late = false, !u.tx.in.isDown(now)
	if !t.late {
		u.release(id)
	}
	u.tx.space += t.left
	t.left = 0
	r := &u.reads.at[t.read]
	r.status = worse(r.status, msg.StatusTimeout)
	u.finish(now, t.read, 0)
}
