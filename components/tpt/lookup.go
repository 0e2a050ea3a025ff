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
	u.freeSlot = u.slots[i].next
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
	if m.CheckKey {
		k := key.Key(m.Key)
		if _, hit := u.mpt.Peek(uint64(k.Index()), uint64(k.Index())); !hit {
			return u.keyMiss(k.Index()) == nil && u.freeKeyMiss() < 0
		}
	}
	r := u.keys.Lookup(key.Key(m.Key))
	if r == nil {
		return false
	}
	entry := r.MTT + r.Page(m.VA)
	if u.cached(m, entry) {
		return false
	}
	line, _ := mtt.Line(entry, u.spec.MTT.LineEntries)
	return u.stalled.head != none || u.walkOf(line) < 0 && u.freeWalk() < 0
}

// cached tells whether the MTT cache holds the entry, present.
func (u *Unit) cached(m *msg.Translate, entry uint64) bool {
	line, first := mtt.Line(entry, u.spec.MTT.LineEntries)
	at, hit := u.mtt.Peek(u.setOf(m, line), line)
	return hit && u.words[at*u.spec.MTT.LineEntries+int(entry-first)].Present()
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
	if !m.CheckKey || u.mptHit(m) {
		u.protect(now, i, m)
		return
	}
	s := &u.slots[i]
	s.req, s.phase, s.counted = *m, slotParked, false
	m.Ledger.Charge(now, measure.CauseTranslate)
	u.parkOnKey(now, i, key.Key(m.Key).Index(), !m.Replay, m.Access)
}

func (u *Unit) mptHit(m *msg.Translate) bool {
	index := uint64(key.Key(m.Key).Index())
	_, hit := u.mpt.Lookup(index, index)
	if m.Replay {
		u.Stats.MPT.Replays++
		return hit
	}
	u.Stats.MPT.Lookups++
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
	r := u.keys.Lookup(key.Key(m.Key))
	if m.CheckKey {
		switch v := key.Check(r, key.Key(m.Key), key.PD(m.PD), m.QP, m.Op, m.CheckVA, uint64(m.CheckLen)); {
		case v.Refused():
			u.reject(now, i, m, msg.OutcomeRemoteAccess)
			return
		case v == key.SuspendedNow:
			u.reject(now, i, m, msg.OutcomeMoving)
			return
		}
	}
	if r == nil || !r.Kind.Direct() || r.State != key.Valid || !r.Contains(m.VA, uint64(m.Len)) {
		u.reject(now, i, m, msg.OutcomeRemoteAccess)
		return
	}
	u.slots[i].entry = r.MTT + r.Page(m.VA)
	u.slots[i].counted = false
	u.translate(now, i, m)
}

// translate is the translation stage: an MTT hit answers, a miss walks.
func (u *Unit) translate(now clocked.Time, i int32, m *msg.Translate) {
	s := &u.slots[i]
	line, first := mtt.Line(s.entry, u.spec.MTT.LineEntries)
	hit := u.cached(m, s.entry)
	if hit {
		at, _ := u.mtt.Lookup(u.setOf(m, line), line)
		u.countMTT(s, m, true)
		u.resolve(now, i, m, u.words[at*u.spec.MTT.LineEntries+int(s.entry-first)])
		return
	}
	if s.phase != slotParked {
		s.req, s.phase = *m, slotParked
		m.Ledger.Charge(now, measure.CauseTranslate)
	}
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

// resolve answers with what the entry permits.
func (u *Unit) resolve(now clocked.Time, i int32, m *msg.Translate, w mtt.Word) {
	switch {
	case w.Allows(m.Write):
		u.grant(now, i, m, w)
	case w.Present() && w.Suspended():
		u.reject(now, i, m, msg.OutcomeMoving)
	case w.Suspended():
		u.absent(now, i, m, msg.OutcomeMoving)
	default:
		u.absent(now, i, m, msg.OutcomeAbsent)
	}
}

func (u *Unit) grant(now clocked.Time, i int32, m *msg.Translate, w mtt.Word) {
	at := now + u.clock.Cycles(u.spec.LookupCycles)
	m.Ledger.Charge(at, measure.CauseTranslate)
	s := &u.slots[i]
	s.phase, s.at = slotGiven, at
	offset := uint64(m.VA) & (u.shift.Bytes() - 1)
	u.answer(now, at, msg.Translation{Outcome: msg.OutcomeOK, Write: w.Allows(true), Handle: uint32(i),
		Cookie: m.Cookie, PA: w.PA() + model.PA(offset), At: at})
}

func (u *Unit) reject(now clocked.Time, i int32, m *msg.Translate, o msg.Outcome) {
	at := now + u.clock.Cycles(u.spec.LookupCycles)
	m.Ledger.Charge(at, measure.CauseTranslate)
	c := m.Cookie
	u.vacate(i)
	u.answer(now, at, msg.Translation{Outcome: o, Cookie: c, At: at, Over: o == msg.OutcomeAbsent && u.overAdvertised})
}
