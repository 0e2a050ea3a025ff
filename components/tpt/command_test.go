package tpt

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

const us = clocked.Microsecond

func invalidate(entry uint64, count uint32) *msg.Command {
	return &msg.Command{Op: msg.CmdInvalidate, Entry: entry, Count: count, Posts: 1, Record: new(measure.Invalidation)}
}

func fillPage(entry uint64, write bool, at model.PA) *msg.Command {
	return &msg.Command{Op: msg.CmdFill, Entry: entry, Count: 1, Posts: 1, Write: write, PA: []model.PA{at}}
}

// Doorbell hop, fetch, firmware, CQE hop: the times of an idle invalidation.
func TestInvalidationSteps(t *testing.T) {
	s := newSandwich(t, spec(), true)
	c := invalidate(3, 1)
	s.command(0, c)
	s.run()
	received := cycle + cycle + readDelay + cycle // doorbell, to the endpoint, back
	marked := received + 200*clocked.Nanosecond + cycle
	r := c.Record
	if r.Received != received || r.Marked != marked || r.Drained != marked {
		t.Errorf("received %v marked %v drained %v, want %v, %v, %v", r.Received, r.Marked, r.Drained, received, marked, marked)
	}
	if s.acks[0].at != marked+cycle {
		t.Errorf("acknowledged at %v, want %v", s.acks[0].at, marked+cycle)
	}
	if s.unit.Stats.EntriesZapped != 1 {
		t.Errorf("%d entries zapped, want 1", s.unit.Stats.EntriesZapped)
	}
}

// The acknowledgement waits for translations given out before (INV-1), and
// only for those of the range.
func TestInvalidationDrains(t *testing.T) {
	s := newSandwich(t, spec(), true)
	s.hold = true
	s.read(0, 0, 3)
	s.read(10*cycle, 1, 4)
	c := invalidate(3, 1)
	s.command(5*us, c)
	s.script = append(s.script, step{at: 20 * us, release: true})
	s.run()
	if c.Record.Marked >= 20*us || c.Record.Drained != 20*us+cycle {
		t.Errorf("marked %v drained %v, want the drain at the release", c.Record.Marked, c.Record.Drained)
	}
	if n := s.unit.Stats.Revoked; n != 1 {
		t.Errorf("%d translations revoked, want 1", n)
	}
	last := s.answers[len(s.answers)-1].msg
	if last.Outcome != msg.OutcomeRevoke {
		t.Errorf("last message %+v, want a revoke", last)
	}
}

// A walk that had read the entry before an invalidation reads it again and
// finds it absent; other walks go on without a new read (INV-3, scenario F3).
func TestWalkInFlightIsDropped(t *testing.T) {
	sp := spec()
	sp.Command.Invalidate = 0
	s := newSandwich(t, sp, true)
	s.read(0, 0, 9) // MPT
	at := 50 * us
	// The command is applied when its fetch returns; the walks start so that
	// they are in flight then.
	c := invalidate(1, 1)
	s.command(at, c)
	for i := range uint64(4) {
		s.read(at+100*cycle+clocked.Time(i)*cycle, uint32(i), 1+i)
	}
	s.run()
	if s.unit.Stats.MTT.Stales != 1 {
		t.Fatalf("%d walks read again, want 1", s.unit.Stats.MTT.Stales)
	}
	outcomes := map[uint64]msg.Outcome{}
	for _, a := range s.answers {
		outcomes[a.msg.Cookie] = a.msg.Outcome
	}
	if outcomes[1] != msg.OutcomeAbsent || outcomes[2]+outcomes[3]+outcomes[4] != msg.OutcomeOK {
		t.Errorf("outcomes %v, want page 1 absent, the others good", outcomes)
	}
	if got := s.unit.Stats.MTT.Walks; got != 5 {
		t.Errorf("%d walks, want 5: none started anew", got)
	}
}

// A store is not served by an entry filled for read (FLT-8): it faults for
// write; after the fill with the right it goes on. One fault, one resume.
func TestWriteFaultOnReadOnlyEntry(t *testing.T) {
	s := newSandwich(t, spec(), false)
	s.command(0, fillPage(3, false, frame(3)))
	s.read(10*us, 0, 3)
	s.write(20*us, 0, 3)
	s.command(40*us, fillPage(3, true, frame(7)))
	s.command(41*us, &msg.Command{Op: msg.CmdResume, Token: 0, Count: 1})
	s.write(60*us, 0, 3)
	s.run()
	want := []msg.Outcome{msg.OutcomeOK, msg.OutcomeAbsent, msg.OutcomeOK}
	for i, a := range s.answers {
		if a.msg.Outcome != want[i] {
			t.Errorf("answer %d: outcome %d, want %d", i, a.msg.Outcome, want[i])
		}
	}
	if s.answers[2].msg.PA != frame(7)+64 {
		t.Errorf("PA %#x, want the new frame", s.answers[2].msg.PA)
	}
	if len(s.events) != 1 || !s.events[0].Write || s.events[0].Entry != 3 {
		t.Errorf("events %+v, want one write fault on entry 3", s.events)
	}
	st := s.unit.Stats
	if st.FaultsRaised != 1 || st.FaultsResumed != 1 || !s.unit.Idle() {
		t.Errorf("stats %+v", st)
	}
}

// A second fault of the same class is answered but not reported; another class
// and another QP are ([Lesokhin17]).
func TestOneFaultPerClass(t *testing.T) {
	s := newSandwich(t, spec(), false)
	s.read(0, 0, 1)
	s.read(5*us, 0, 2)  // same QP, same class
	s.write(6*us, 0, 3) // same QP, other class
	s.read(7*us, 1, 2)  // other QP
	s.run()
	if len(s.answers) != 4 || len(s.events) != 3 || s.unit.Stats.FaultsMuted != 1 {
		t.Errorf("%d answers, %d events, %d muted; want 4, 3, 1", len(s.answers), len(s.events), s.unit.Stats.FaultsMuted)
	}
}

// The event queue holds faults back when full and drops none: depth 4, six QPs.
func TestEventQueueBackPressure(t *testing.T) {
	s := newSandwich(t, spec(), false)
	for q := range uint32(6) {
		s.read(clocked.Time(q)*us, q, uint64(q))
	}
	s.command(50*us, &msg.Command{Op: msg.CmdResume, Token: 0, Count: 1})
	s.command(51*us, &msg.Command{Op: msg.CmdResume, Token: 1, Count: 1})
	s.engine.Wake(1, 0)
	for _, x := range s.script {
		s.engine.Wake(1, x.at)
	}
	_ = s.engine.RunUntil(49 * us)
	if len(s.events) != 4 {
		t.Errorf("%d events before a resume, want 4", len(s.events))
	}
	_ = s.engine.Run()
	if len(s.events) != 6 {
		t.Errorf("%d events in all, want 6", len(s.events))
	}
}

// A held request waits at the adapter and is served after the resume by a new
// look-up: the page came back elsewhere meanwhile (FLT-5).
func TestHeldRequestTranslatesAgain(t *testing.T) {
	sp := spec()
	sp.Fault.Resume = 5 * us // the second fill comes before the resume
	s := newSandwich(t, sp, false)
	s.write(0, 0, 3).Hold = true
	s.command(10*us, fillPage(3, true, frame(3)))
	s.command(11*us, &msg.Command{Op: msg.CmdResume, Token: 0, Count: 1})
	s.command(12*us, fillPage(3, true, frame(8)))
	s.run()
	if len(s.answers) != 1 || s.answers[0].msg.Outcome != msg.OutcomeOK || s.answers[0].msg.PA != frame(8)+64 {
		t.Fatalf("answers %+v, want page 3 at its last frame", s.answers)
	}
	l := s.script[0].req.Ledger
	if l.Sum() != l.Last || l.Causes[measure.CauseFault] == 0 {
		t.Errorf("ledger %+v", l)
	}
	m := s.unit.Stats.MTT
	if m.Lookups != 1 || m.Misses != 1 || m.Replays != 1 {
		t.Errorf("counters %+v, want one miss and one replay", m)
	}
}

// A failed resume gives the QP an error in place of the translation.
func TestFailedResume(t *testing.T) {
	s := newSandwich(t, spec(), false)
	s.read(0, 0, 3)
	s.command(10*us, &msg.Command{Op: msg.CmdResume, Token: 0, Count: 1, Failed: true})
	s.read(30*us, 0, 3)
	s.run()
	if s.answers[1].msg.Outcome != msg.OutcomeRemoteOp || s.unit.Stats.FaultsFailed != 1 {
		t.Errorf("answers %+v", s.answers)
	}
}

// With lines of four entries one read fetches four translations, absent
// neighbours excepted: they miss and walk.
func TestLineOfEntries(t *testing.T) {
	sp := spec()
	sp.MTT.LineEntries = 4
	s := newSandwich(t, sp, true)
	s.unit.Table().Set(6, 0)
	for i, p := range []uint64{4, 5, 7, 6} {
		s.read(clocked.Time(i)*20*us, uint32(i), p)
	}
	s.run()
	m := s.unit.Stats.MTT
	if m.Hits != 2 || m.Misses != 2 {
		t.Errorf("counters %+v, want 2 hits and 2 misses", m)
	}
	if s.answers[3].msg.Outcome != msg.OutcomeAbsent {
		t.Errorf("page 6: outcome %d, want absent", s.answers[3].msg.Outcome)
	}
}
