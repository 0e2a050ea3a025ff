package tpt

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// A hit takes the register in, the look-up, and the result is registered at
// the end of the look-up's last cycle: 1 + lookup_cycles = 5 cycles.
func TestHitLatency(t *testing.T) {
	s := newSandwich(t, spec(), true)
	s.read(0, 0, 3)
	warm := 100 * clocked.Microsecond
	s.read(warm, 0, 3)
	s.run()
	if got, want := s.answers[1].at-warm, 5*cycle; got != want {
		t.Errorf("hit after %v, want %v", got, want)
	}
	if got, want := s.answers[1].msg.PA, frame(3)+64; got != want {
		t.Errorf("PA %#x, want %#x", got, want)
	}
}

// An MPT hit and MTT miss adds, per table level, the register to the endpoint,
// its delay and the register back: 2 cycles + readDelay.
func TestMissLatencyPerLevel(t *testing.T) {
	for levels := 1; levels <= 3; levels++ {
		sp := spec()
		sp.MTT.Levels = levels
		s := newSandwich(t, sp, true)
		s.read(0, 0, 3)
		warm := 100 * clocked.Microsecond
		s.read(warm, 0, 4)
		s.run()
		want := 5*cycle + clocked.Time(levels)*(readDelay+2*cycle)
		if got := s.answers[1].at - warm; got != want {
			t.Errorf("%d levels: miss after %v, want %v", levels, got, want)
		}
		if s.reads != 1+2*levels { // the MPT entry once, each walk its levels
			t.Errorf("%d levels: %d table reads, want %d", levels, s.reads, 1+2*levels)
		}
	}
}

// On-board tables: the latency rounded up to the next edge in place of the link.
func TestOnboardMiss(t *testing.T) {
	sp := spec()
	sp.Tables = "onboard"
	s := newSandwich(t, sp, true)
	s.read(0, 0, 3)
	warm := 100 * clocked.Microsecond
	s.read(warm, 0, 4)
	s.run()
	if got, want := s.answers[1].at-warm, 5*cycle+100*clocked.Nanosecond; got != want {
		t.Errorf("miss after %v, want %v", got, want)
	}
	if s.reads != 0 {
		t.Errorf("%d DMA reads, want none", s.reads)
	}
}

// Eight misses to one page in eight cycles: one walk, seven merged, one entry
// (scenario F19); look-ups = hits + misses, misses = walks + merged.
func TestMissesMerge(t *testing.T) {
	s := newSandwich(t, spec(), true)
	s.read(0, 0, 9) // brings the MPT entry in
	for i := range clocked.Time(8) {
		s.read(50*clocked.Microsecond+i*cycle, uint32(i), 3)
	}
	s.run()
	m := s.unit.Stats.MTT
	if m.Walks != 2 || m.Merged != 7 || m.Misses != 9 || m.Hits != 0 || m.Lookups != 9 || m.Fills != 2 {
		t.Errorf("counters %+v, want 2 walks, 7 merged, 9 misses, 2 fills", m)
	}
	if len(s.answers) != 9 {
		t.Errorf("%d answers, want 9", len(s.answers))
	}
	if s.access.Counts.MTTMerged != 7 || s.access.Counts.MTTMisses != 9 {
		t.Errorf("access counts %+v", s.access.Counts)
	}
}

// Back-to-back P1, P1, P2: three answers, two walks (scenario F4).
func TestMissHitTwiceAnswersAll(t *testing.T) {
	s := newSandwich(t, spec(), true)
	s.read(0, 0, 9)
	for i, p := range []uint64{1, 1, 2} {
		s.read(50*clocked.Microsecond+clocked.Time(i)*cycle, uint32(i), p)
	}
	s.run()
	if len(s.answers) != 4 || s.unit.Stats.MTT.Walks != 3 {
		t.Errorf("%d answers, %d walks; want 4 and 3", len(s.answers), s.unit.Stats.MTT.Walks)
	}
}

// A hit passes a miss that is under way.
func TestHitUnderMiss(t *testing.T) {
	s := newSandwich(t, spec(), true)
	s.read(0, 0, 1)
	at := 50 * clocked.Microsecond
	s.read(at, 0, 2)
	s.read(at+cycle, 1, 1)
	s.run()
	if s.answers[1].msg.Cookie != 1 || s.answers[1].at-at != 6*cycle {
		t.Errorf("answer %d after %v, want page 1 after 6 cycles", s.answers[1].msg.Cookie, s.answers[1].at-at)
	}
}

// With one miss register a second miss waits for the first; both are answered
// and the wait is charged to mshr: readDelay + 2 cycles less the cycle between.
func TestMissRegistersLimit(t *testing.T) {
	sp := spec()
	sp.MTT.MSHRs = 1
	s := newSandwich(t, sp, true)
	s.read(0, 0, 9)
	at := 50 * clocked.Microsecond
	s.read(at, 0, 1)
	s.read(at+cycle, 1, 2)
	s.run()
	round := readDelay + 2*cycle
	if got, want := s.answers[2].at-(at+cycle), 5*cycle+2*round-cycle; got != want {
		t.Errorf("second miss after %v, want %v", got, want)
	}
	ledger := s.script[2].req.Ledger
	if got, want := ledger.Causes[measure.CauseMSHR], round-cycle; got != want {
		t.Errorf("charged %v to mshr, want %v", got, want)
	}
}

// Key checks come before translation and cause no walk and no fault (KEY-1):
// wrong variant, wrong PD, missing right, out of bounds, wrapping length.
func TestRefusedKeyTouchesNoPage(t *testing.T) {
	for name, breakIt := range map[string]func(*msg.Translate){
		"variant": func(m *msg.Translate) { m.Key ^= 1 },
		"pd":      func(m *msg.Translate) { m.PD = 2 },
		"bounds":  func(m *msg.Translate) { m.CheckLen = pages<<12 + 1 },
		"below":   func(m *msg.Translate) { m.CheckVA = baseVA - 1 },
		"wrap":    func(m *msg.Translate) { m.CheckVA, m.CheckLen = ^model.VA(0)-8, 64 },
		"index":   func(m *msg.Translate) { m.Key = 9 << 8 },
	} {
		s := newSandwich(t, spec(), false)
		s.read(0, 0, 3)
		breakIt(s.script[0].req)
		s.run()
		if len(s.answers) != 1 || s.answers[0].msg.Outcome != msg.OutcomeRemoteAccess {
			t.Errorf("%s: answers %+v, want a remote access error", name, s.answers)
		}
		if s.unit.Stats.MTT.Lookups != 0 || s.unit.Stats.FaultsRaised != 0 || !s.unit.Idle() {
			t.Errorf("%s: %+v", name, s.unit.Stats)
		}
	}
}
