package iommu

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/pagetable"
)

// va is the address that a request names.
func (s *request) va() model.VA { return model.VA(s.req.PA) }

// posted tells whether the request is posted: it leaves in order.
func (s *request) posted() bool { return s.req.Write || s.req.Kind == msg.KindMessage }

// stores tells whether the right to store is wanted.
func (s *request) stores() bool { return s.req.Write || s.req.Address.Store }

// start looks a request's context up, and goes on when it is there. Interrupts
// and completions need none.
func (u *Unit) start(now clocked.Time, n int32) {
	s := &u.slots[n]
	switch s.req.Kind {
	case msg.KindMSI: // to the interrupt controller, not to memory
		u.ready(now, n, forward)
		return
	case msg.KindMessage:
		if _, asks := s.req.Body.(*msg.PageRequest); !asks {
			u.ready(now, n, respond)
			return
		}
	}
	if c := u.contexts.lookup(s.adapter, s.pasid()); c != nil {
		u.check(now, n, c)
		return
	}
	u.parkOnContext(now, n)
}

// check applies a request's context; nil: there is none.
func (u *Unit) check(now clocked.Time, n int32, c *context) {
	s := &u.slots[n]
	if s.req.Kind == msg.KindMessage {
		s.broken, s.pri = c == nil, c != nil && c.PRI
		u.ready(now, n, respond)
		return
	}
	switch {
	case c == nil:
		u.count(s, &u.stats.BrokenReads, &u.stats.BrokenWrites)
		u.refuse(now, n, msg.StatusAbort)
	case s.req.Address.Translated:
		u.checkTrust(now, n, c)
	case s.req.Kind == msg.KindATS && !c.ATS:
		u.refuse(now, n, msg.StatusUnsupported)
	default:
		s.refusal = c.refusal
		u.lookup(now, n, c)
	}
}

// checkTrust lets a translated request through if its adapter may make such.
func (u *Unit) checkTrust(now clocked.Time, n int32, c *context) {
	if c.ATS && c.Trusted {
		u.stats.Unchecked++
		u.ready(now, n, forward)
		return
	}
	s := &u.slots[n]
	u.count(s, &u.stats.BlockedReads, &u.stats.BlockedWrites)
	if u.OnBlocked != nil {
		u.OnBlocked(now, s.adapter, &s.req)
	}
	u.refuse(now, n, msg.StatusUnsupported)
}

// count adds a request to one of two counters.
func (u *Unit) count(s *request, reads, writes *uint64) {
	if s.posted() {
		*writes++
	} else {
		*reads++
	}
}

// lookup translates a request or sends it on a walk. An address that no table
// can map is absent without either.
func (u *Unit) lookup(now clocked.Time, n int32, c *context) {
	s := &u.slots[n]
	if !c.identical(s.va()) && !pagetable.Canonical(s.va()) {
		u.decide(now, n, nil)
		return
	}
	fresh := !s.counted
	s.counted = true
	t := u.iotlb.lookup(c.Domain, s.va())
	hit := t != nil && u.serves(t, s)
	if fresh {
		u.stats.Lookups++
	} else {
		u.stats.Replays++
	}
	if hit {
		if fresh {
			u.stats.Hits++
		}
		u.decide(now, n, t)
		return
	}
	counts := s.req.Counts
	if merged := u.miss(now, n, c); fresh {
		u.countMiss(counts, merged)
	}
}

// countMiss books a look-up that missed, for the access that it belongs to too.
func (u *Unit) countMiss(access *measure.Counts, merged bool) {
	u.stats.Misses++
	if merged {
		u.stats.Merged++
	} else {
		u.stats.Walks++
	}
	if access != nil {
		access.IOTLBMisses++
	}
}

// serves tells whether a cached translation has the rights that the request
// wants: a page is stored to only when it is marked dirty, by a walk or by the
// kernel. One that has not is walked again: the table may allow more by now.
func (u *Unit) serves(t *translation, s *request) bool {
	if !s.stores() {
		return true
	}
	return t.write && t.dirty
}

// decide settles a request by its translation; nil: the page is absent.
func (u *Unit) decide(now clocked.Time, n int32, t *translation) {
	s := &u.slots[n]
	switch {
	case s.req.Kind == msg.KindATS:
		u.translated(now, n, t)
	case t == nil || s.req.Write && !(t.write && t.dirty):
		u.reportAbsent(now, s)
		u.refuse(now, n, s.refusal)
	default:
		u.charge(now, s, measure.CauseIOMMU)
		s.req.PA = t.pa + model.PA(uint64(s.va())&(t.shift.Bytes()-1))
		u.ready(now, n, forward)
	}
}

// charge books the time that a request waited here.
func (u *Unit) charge(now clocked.Time, s *request, cause measure.Cause) {
	if l := s.req.Ledger; l != nil && s.waited {
		l.Charge(now, cause)
	}
}

// translated answers a translation request: what the page allows of what was
// asked, and nothing where it is absent.
func (u *Unit) translated(now clocked.Time, n int32, t *translation) {
	s := &u.slots[n]
	u.stats.Translations++
	if l := s.req.Ledger; l != nil {
		l.Charge(now, measure.CauseATS)
	}
	done := u.doneOf(s)
	done.Len = entryBytes
	if t != nil {
		done.Entry = ats.Encode(ats.Translation{PA: t.pa, Shift: t.shift, Read: true, Write: s.req.Address.Store && t.write && t.dirty})
	}
	u.answer(now, n, done)
}

// entryBytes is the size of a translation completion.
const entryBytes = 8

func (u *Unit) doneOf(s *request) msg.MemDone {
	return msg.MemDone{Kind: s.req.Kind, Relaxed: s.req.Relaxed, Tag: s.req.Tag, Adapter: s.req.Adapter, Len: s.req.Len, PA: s.req.PA, Ledger: s.req.Ledger}
}

// refuse answers a read with an error; a posted request is dropped in its turn,
// and a proof answered in its own, when what it proves has left.
func (u *Unit) refuse(now clocked.Time, n int32, status msg.Status) {
	s := &u.slots[n]
	u.charge(now, s, measure.CauseIOMMU)
	if s.posted() || s.req.Kind == msg.KindFlush {
		s.refusal = status
		u.ready(now, n, drop)
		return
	}
	u.answerRefused(now, n, status)
}

func (u *Unit) answerRefused(now clocked.Time, n int32, status msg.Status) {
	done := u.doneOf(&u.slots[n])
	done.Status = status
	u.answer(now, n, done)
}

// answer sends an answer of the IOMMU's own and ends the request.
func (u *Unit) answer(now clocked.Time, n int32, done msg.MemDone) {
	*u.adapters[u.slots[n].adapter].root.answers.Push() = answer{now + u.spec.HitLatency, done}
	u.release(n)
}

// ready lets a request go in its turn.
func (u *Unit) ready(now clocked.Time, n int32, v verdict) {
	s := &u.slots[n]
	s.stage, s.verdict, s.at = stageReady, v, now+u.spec.HitLatency
	if !s.posted() {
		r := u.adapters[s.adapter].root
		r.reads = append(r.reads, n)
	}
}

// reportAbsent tells the kernel of an absent page while the log has room.
func (u *Unit) reportAbsent(now clocked.Time, s *request) {
	u.count(s, &u.stats.AbsentReads, &u.stats.AbsentWrites)
	if u.absent >= u.spec.PageRequests {
		u.stats.EventsLost++
		return
	}
	u.absent++
	*u.events.Push() = msg.IOMMUEvent{Kind: msg.EventAbsent, Adapter: s.adapter, Write: s.req.Write, VA: s.va()}
}
