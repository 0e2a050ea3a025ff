package iommu

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// accept takes requests of a root port while their adapters have slots, and tells
// whether there was one.
func (u *Unit) accept(now clocked.Time, r *rootPort) (took bool) {
	for m := r.Req.Peek(now); m != nil && u.adapters[m.Adapter].free != none; m = r.Req.Peek(now) {
		a := &u.adapters[m.Adapter]
		n := a.free
		s := &u.slots[n]
		a.free = s.next
		u.inUse++
		*s = request{req: *m, adapter: a.index, next: none}
		r.Req.Pop(now)
		if s.posted() {
			*r.posted.Push() = n
		} else {
			s.behind = r.posted.Tail()
		}
		u.start(now, n)
		took = true
	}
	return took
}

// release frees a request's slot.
func (u *Unit) release(n int32) {
	s := &u.slots[n]
	a := &u.adapters[s.adapter]
	if s.marked {
		u.draining.requests--
	}
	*s = request{next: a.free}
	a.free = n
	u.inUse--
}

// depart lets requests go, oldest first: all reads that may go are older than
// the oldest posted request.
func (u *Unit) depart(now clocked.Time, r *rootPort) {
	u.sendFlushes(now, r)
	u.departReads(now, r)
	for r.posted.Len() > 0 && u.departPosted(now, r) {
		u.departReads(now, r)
	}
}

// departReads sends the reads behind no posted request.
func (u *Unit) departReads(now clocked.Time, r *rootPort) {
	kept := r.reads[:0]
	for i, n := range r.reads {
		s := &u.slots[n]
		if r.posted.Holds(s.behind - 1) {
			kept = append(kept, n)
			continue
		}
		if s.verdict == drop {
			u.adapters[s.adapter].refused.take(s.req.Address.Writer)
			u.answerRefused(now, n, s.refusal)
			continue
		}
		if !r.Out.Ready(now) {
			kept = append(kept, r.reads[i:]...)
			break
		}
		u.adapters[s.adapter].follow(s)
		u.forward(now, r, s)
		u.release(n)
	}
	r.reads = kept
}

// departPosted lets the oldest posted request go, or tells that it cannot.
func (u *Unit) departPosted(now clocked.Time, r *rootPort) bool {
	n := *r.posted.Front()
	s := &u.slots[n]
	if s.stage != stageReady {
		return false
	}
	switch s.verdict {
	case drop:
		u.adapters[s.adapter].refused.add(s.req.Address.Writer, s.refusal)
	case respond:
		u.takeMessage(now, r, s)
	default:
		if !r.Out.Ready(now) {
			return false
		}
		r.written++
		u.forward(now, r, s)
	}
	r.posted.Pop()
	u.release(n)
	return true
}

// forward hands a request to memory, not before its latency is over.
func (u *Unit) forward(now clocked.Time, r *rootPort, s *request) {
	if s.at > now {
		*r.Out.PushAt(now, s.at) = s.req
	} else {
		*r.Out.Push(now) = s.req
	}
}

// sendAnswers hands answers to the root port.
func (u *Unit) sendAnswers(now clocked.Time, r *rootPort) {
	for r.answers.Len() > 0 && r.Done.Ready(now) {
		if f := r.answers.Front(); f.at > now {
			*r.Done.PushAt(now, f.at) = f.done
		} else {
			*r.Done.Push(now) = f.done
		}
		r.answers.Pop()
	}
}

// sendMessages hands messages to the root port.
func (u *Unit) sendMessages(now clocked.Time, r *rootPort) {
	for r.messages.Len() > 0 && r.Message.Ready(now) {
		*r.Message.Push(now) = r.messages.Pop()
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
