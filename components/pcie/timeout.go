package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// watch notes when a request times out. One timer at a time is set, for the
// oldest request.
func (u *Endpoint) watch(now clocked.Time, id int32, use uint32) {
	if u.timeout == 0 {
		return
	}
	if !u.watched {
		u.watched = true
		u.engine.Wake(u.id, now+u.timeout)
	}
	*u.expiry.Push() = expiry{at: now + u.timeout, tag: id, use: use}
}

// expire ends requests that have had no completion in time. Their tags rest: a
// completion that comes late must not be taken for another request's.
func (u *Endpoint) expire(now clocked.Time) {
	if !u.watched || u.expiry.Front().at > now {
		return
	}
	for u.expiry.Len() > 0 {
		e := u.expiry.Front()
		t := &u.tags.at[e.tag]
		if t.busy && t.use == e.use {
			if e.at > now {
				u.engine.Wake(u.id, e.at)
				return
			}
			u.abandon(now, e.tag, t)
		}
		u.expiry.Pop()
	}
	u.watched = false
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
