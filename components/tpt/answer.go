package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

// resolve answers with what the entry permits.
func (u *Unit) resolve(now clocked.Time, i int32, m *msg.Translate, w mtt.Word) {
	switch w.Meets(m.Write) {
	case mtt.Granted:
		offset := uint64(m.VA) & (u.shift.Bytes() - 1)
		u.grant(now, i, m, w.PA()+model.PA(offset), w.Allows(true))
	case mtt.Held:
		u.dismiss(now, i, m, msg.OutcomeMoving)
	case mtt.Moving:
		u.absent(now, i, m, msg.OutcomeMoving)
	default:
		u.absent(now, i, m, msg.OutcomeAbsent)
	}
}

// latency is the time of the stages: two passes, each through MPT and what it
// leads to, behind an implicit region.
func (u *Unit) latency(s *slot) clocked.Time {
	passes := 1
	if s.via.root != 0 {
		passes = 2
	}
	return u.clock.Cycles(passes * u.spec.LookupCycles)
}

func (u *Unit) grant(now clocked.Time, i int32, m *msg.Translate, pa model.PA, write bool) {
	s := &u.slots[i]
	at := now + u.latency(s)
	m.Ledger.Charge(at, measure.CauseTranslate)
	s.phase, s.at = slotGiven, at
	u.answer(now, at, msg.Translation{Outcome: msg.OutcomeOK, Write: write, Handle: uint32(i),
		Cookie: m.Cookie, PA: pa, Address: u.address, At: at})
}

// bypass answers with the address itself.
func (u *Unit) bypass(now clocked.Time, i int32, m *msg.Translate) {
	if m.Access != nil && !m.Replay {
		m.Access.Counts.Pages++
	}
	u.grant(now, i, m, model.PA(m.VA), m.Write)
}

// dismiss answers without a translation.
func (u *Unit) dismiss(now clocked.Time, i int32, m *msg.Translate, o msg.Outcome) {
	u.conclude(now, i, m, msg.Translation{Outcome: o})
}

// deny answers an access that the key rules do not permit.
func (u *Unit) deny(now clocked.Time, i int32, m *msg.Translate, why key.Verdict) {
	u.conclude(now, i, m, msg.Translation{Outcome: msg.OutcomeRemoteAccess, Why: why})
}

// conclude gives the answer of a request that holds no translation.
func (u *Unit) conclude(now clocked.Time, i int32, m *msg.Translate, t msg.Translation) {
	t.At = now + u.latency(&u.slots[i])
	t.Cookie = m.Cookie
	m.Ledger.Charge(t.At, measure.CauseTranslate)
	u.vacate(i)
	u.answer(now, t.At, t)
}
