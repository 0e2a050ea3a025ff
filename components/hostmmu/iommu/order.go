package iommu

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// accept takes requests of an adapter while it has slots, and tells whether
// there was one.
func (u *Unit) accept(now clocked.Time, a *adapter) (took bool) {
	for m := a.ports.Req.Peek(now); m != nil && a.free != none; m = a.ports.Req.Peek(now) {
		n := a.free
		s := &u.slots[n]
		a.free = s.next
		u.inUse++
		*s = request{req: *m, adapter: a.index, next: none}
		a.ports.Req.Pop(now)
		if s.posted() {
			*a.posted.Push() = n
		} else {
			s.behind = a.posted.Tail()
		}
		u.start(now, n)
		took = true
	}
	return took
}

// release frees a request's slot.
func (u *Unit) release(a *adapter, n int32) {
	s := &u.slots[n]
	if s.marked {
		u.draining.requests--
	}
	*s = request{next: a.free}
	a.free = n
	u.inUse--
}

// depart lets requests go, oldest first: all reads that may go are older than
// the oldest posted request.
func (u *Unit) depart(now clocked.Time, a *adapter) {
	u.sendFlushes(now, a)
	u.departReads(now, a)
	for a.posted.Len() > 0 && u.departPosted(now, a) {
		u.departReads(now, a)
	}
}

// departReads sends the reads behind no posted request.
func (u *Unit) departReads(now clocked.Time, a *adapter) {
	kept := a.reads[:0]
	for i, n := range a.reads {
		s := &u.slots[n]
		if a.posted.Holds(s.behind - 1) {
			kept = append(kept, n)
			continue
		}
		if !a.ports.Out.Ready(now) {
			kept = append(kept, a.reads[i:]...)
			break
		}
		a.follow(s)
		u.forward(now, a, s)
		u.release(a, n)
	}
	a.reads = kept
}

// departPosted lets the oldest posted request go, or tells that it cannot.
func (u *Unit) departPosted(now clocked.Time, a *adapter) bool {
	n := *a.posted.Front()
	s := &u.slots[n]
	if s.stage != stageReady {
		return false
	}
	switch s.verdict {
	case drop:
		a.refused = s.refusal
	case respond:
		u.takeMessage(now, a, s)
	default:
		if !a.ports.Out.Ready(now) {
			return false
		}
		a.written++
		u.forward(now, a, s)
	}
	a.posted.Pop()
	u.release(a, n)
	return true
}

// forward hands a request to memory, not before its latency is over.
func (u *Unit) forward(now clocked.Time, a *adapter, s *request) {
	if s.at > now {
		*a.ports.Out.PushAt(now, s.at) = s.req
	} else {
		*a.ports.Out.Push(now) = s.req
	}
}

// sendAnswers hands answers to the root port.
func (u *Unit) sendAnswers(now clocked.Time, a *adapter) {
	for a.answers.Len() > 0 && a.ports.Done.Ready(now) {
		if f := a.answers.Front(); f.at > now {
			*a.ports.Done.PushAt(now, f.at) = f.done
		} else {
			*a.ports.Done.Push(now) = f.done
		}
		a.answers.Pop()
	}
}

// sendMessages hands messages to the root port.
func (u *Unit) sendMessages(now clocked.Time, a *adapter) {
	for a.messages.Len() > 0 && a.ports.Message.Ready(now) {
		*a.ports.Message.Push(now) = a.messages.Pop()
	}
}

// sendEvents hands events to the kernel.
func (u *Unit) sendEvents(now clocked.Time) {
	for u.events.Len() > 0 && u.ports.Events.Ready(now) {
		e := u.events.Pop()
		if e.Kind == msg.EventAbsent {
			u.absent--
		}
		*u.ports.Events.Push(now) = e
	}
}
