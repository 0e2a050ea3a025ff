package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

var noWaiters = waiters{none, none}

func (u *Unit) enqueue(w *waiters, s int32) {
	u.slots[s].next = none
	if w.head == none {
		w.head = s
	} else {
		u.slots[w.tail].next = s
	}
	w.tail = s
}

func (u *Unit) dequeue(w *waiters) int32 {
	s := w.head
	w.head = u.slots[s].next
	return s
}

func (u *Unit) vacate(i int32) {
	s := &u.slots[i]
	s.phase, s.marked = slotFree, false
	s.next = u.freeSlot
	u.freeSlot = i
	u.inUse--
}

// takeReleases frees translations that the responder gives back.
func (u *Unit) takeReleases(now clocked.Time) {
	for m := u.Release.Peek(now); m != nil; m = u.Release.Peek(now) {
		s := &u.slots[m.Handle]
		if u.OnHazard != nil {
			u.OnHazard(now - s.at)
		}
		if s.marked {
			u.commands.draining--
		}
		u.vacate(int32(m.Handle))
		u.Release.Pop(now)
	}
}

// accept takes one request a cycle. A request that needs a register which is
// taken blocks those behind it; hits pass misses that are under way.
func (u *Unit) accept(now clocked.Time) {
	m := u.Translate.Peek(now)
	if m == nil || now < u.nextAccept || u.results.Len() > 0 {
		return // a refusal holds no slot: only this bounds how many wait for the responder
	}
	if u.freeSlot == none || u.mustWait(m) {
		if !u.headBlocked {
			u.headBlocked = true
			u.chargeBehind(m)
			m.Ledger.Charge(now, measure.CauseTranslate)
		}
		return // a read's answer or a release ticks the unit again
	}
	if u.headBlocked {
		u.headBlocked = false
		u.unblocked = now
		m.Ledger.Charge(now, measure.CauseMSHR)
	} else {
		u.chargeBehind(m)
	}
	i := u.freeSlot
	s := &u.slots[i]
	u.freeSlot, s.counted, s.via = s.next, false, via{}
	u.inUse++
	u.start(now, i, m)
	u.Translate.Pop(now)
	u.nextAccept = now + u.clock.Period()
	if u.Translate.Peek(now) != nil {
		u.engine.Wake(u.id, u.nextAccept)
	}
}

// chargeBehind charges the time that a request stood behind a blocked one.
func (u *Unit) chargeBehind(m *msg.Translate) {
	if m.Ledger.Last < u.unblocked {
		m.Ledger.Charge(u.unblocked, measure.CauseMSHR)
	}
}

// mustWait tells whether the request would miss and find no register for it.
func (u *Unit) mustWait(m *msg.Translate) bool {
	if m.Kill {
		return u.commands.full(fromPeer, u.spec.Invalidation.QueueDepth)
	}
	if m.CheckKey {
		k := key.Key(m.Key)
		if _, hit := u.mpt.Peek(uint64(k.Index()), uint64(k.Index())); !hit {
			return u.keyMiss(uint64(k.Index())) == nil && u.freeKeyMiss() < 0
		}
	}
	r := u.keys.Lookup(key.Key(m.Key))
	if r == nil || u.config.Mode == Bypass || !r.Kind.Direct() {
		return false // what an implicit region leads to is waited for in a slot
	}
	entry := u.entryOf(r, m.VA)
	if u.cached(m, entry) {
		return false
	}
	line, _ := mtt.Line(entry, u.spec.MTT.LineEntries)
	return u.stalled.head != none || u.walkOf(line) < 0 && u.freeWalk() < 0
}

// entryOf is the table entry that translates va or, without a table, the number
// of its page.
func (u *Unit) entryOf(r *key.Region, va model.VA) uint64 {
	if u.config.Mode == Table {
		return r.MTT + r.Page(va)
	}
	return u.shift.Number(va)
}

// cached tells whether the MTT cache holds the entry, present. A cached answer
// of the IOMMU was perhaps asked for without the right to store, and so does not
// tell that a store is forbidden.
func (u *Unit) cached(m *msg.Translate, entry uint64) bool {
	line, first := mtt.Line(entry, u.spec.MTT.LineEntries)
	at, hit := u.mtt.Peek(u.setOf(m, line), line)
	if !hit {
		return false
	}
	w := u.mtt.at(at)[entry-first]
	return w.Present() && (u.config.Mode != ATC || w.Allows(m.Write))
}

// setOf chooses the set: by the line's place in the table, as hardware that
// caches memory does, or by the page number.
func (u *Unit) setOf(m *msg.Translate, line uint64) uint64 {
	if u.spec.MTT.Index == "page" {
		return u.shift.Number(m.VA) / uint64(u.spec.MTT.LineEntries)
	}
	return line
}

// start is the protection stage: the MPT look-up of a request that asks for it.
func (u *Unit) start(now clocked.Time, i int32, m *msg.Translate) {
	switch {
	case m.Kill:
		u.queueKill(now, i, m)
		return
	case !m.CheckKey || u.mptHit(m, uint64(key.Key(m.Key).Index())):
		u.protect(now, i, m)
		return
	}
	u.park(now, i, m)
	u.parkOnKey(now, i, uint64(key.Key(m.Key).Index()), !m.Replay, m.Access)
}

// mptHit looks in the MPT cache for a key, or an entry of a list.
func (u *Unit) mptHit(m *msg.Translate, tag uint64) bool {
	_, hit := u.mpt.Lookup(tag, tag)
	if m.Replay {
		u.Stats.MPT.Replays++
		return hit
	}
	u.Stats.MPT.Lookups++
	if t := u.tenant(m.QP); t != nil && hit {
		t.MPTHits++
	} else if t != nil {
		t.MPTMisses++
	}
	if hit {
		u.Stats.MPT.Hits++
		if m.Access != nil {
			m.Access.Counts.MPTHits++
		}
		return true
	}
	u.Stats.MPT.Misses++
	if m.Access != nil {
		m.Access.Counts.MPTMisses++
	}
	return false
}

// protect applies the key rules, then goes to the translation stage.
func (u *Unit) protect(now clocked.Time, i int32, m *msg.Translate) {
	if u.permit(now, i, m) {
		u.translate(now, i, m)
	}
}

// permit applies the key rules, to the whole access if the request asks for it
// and else to its own bytes: the region may have changed since the access was
// checked. A request that they refuse is answered.
func (u *Unit) permit(now clocked.Time, i int32, m *msg.Translate) bool {
	k := key.Key(m.Key)
	r := u.keys.Lookup(k)
	va, n := m.VA, m.Len
	if m.CheckKey {
		va, n = m.CheckVA, m.CheckLen
	}
	switch v := key.Check(r, k, key.PD(m.PD), m.QP, m.Op, va, uint64(n)); {
	case v == key.SuspendedNow:
		u.dismiss(now, i, m, msg.OutcomeMoving)
		return false
	case !v.Granted() || r == nil || !u.leads(r) || r.State != key.Valid || !r.Contains(m.VA, uint64(m.Len)):
		u.deny(now, i, m, v)
		return false
	}
	if r.Kind == key.Implicit {
		if r = u.descend(now, i, m, r); r == nil {
			return false
		}
	}
	s := &u.slots[i]
	s.entry, s.key, s.epoch = u.entryOf(r, m.VA), r.Key.Index(), u.epoch
	return true
}

// still tells whether a parked request may go on with its entry. Where rights
// were taken away since its check it is checked again (FRW-1): refused, it is
// answered, and where its key stands for another place now it starts again.
func (u *Unit) still(now clocked.Time, i int32) bool {
	s := &u.slots[i]
	if s.epoch == u.epoch {
		return true
	}
	entry := s.entry
	switch {
	case !u.permit(now, i, &s.req):
		return false
	case s.entry != entry:
		u.translate(now, i, &s.req)
		return false
	}
	return true
}

// translate is the translation stage: an MTT hit answers, a miss walks.
func (u *Unit) translate(now clocked.Time, i int32, m *msg.Translate) {
	s := &u.slots[i]
	if u.config.Mode == Bypass {
		u.bypass(now, i, m)
		return
	}
	line, first := mtt.Line(s.entry, u.spec.MTT.LineEntries)
	if u.prefetcher != prefetchNone {
		u.observe(m, line)
	}
	if u.cached(m, s.entry) {
		at, _ := u.mtt.Lookup(u.setOf(m, line), line)
		u.countMTT(s, m, true)
		u.used(at)
		u.resolve(now, i, m, u.mtt.at(at)[s.entry-first])
		return
	}
	u.park(now, i, m)
	u.parkOnWalk(now, i, line, first)
}

func (u *Unit) countMTT(s *slot, m *msg.Translate, hit bool) {
	if s.counted {
		return
	}
	s.counted = true
	if m.Replay {
		u.Stats.MTT.Replays++
		return
	}
	u.Stats.MTT.Lookups++
	if t := u.tenant(m.QP); t != nil && hit {
		t.MTTHits++
	} else if t != nil {
		t.MTTMisses++
	}
	if m.Access != nil {
		m.Access.Counts.Pages++
	}
	if hit {
		u.Stats.MTT.Hits++
		if m.Access != nil {
			m.Access.Counts.MTTHits++
		}
		return
	}
	u.Stats.MTT.Misses++
	if m.Access != nil {
		m.Access.Counts.MTTMisses++
	}
}
