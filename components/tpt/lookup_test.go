package tpt

import (
	"testing"

	"rnicmmu/clocked"
)

// A hit takes the register in, the look-up, and the result is registered at
// the end of the look-up's last cycle: 1 + lookup_cycles.
func TestHitLatency(t *testing.T) {
	for _, lookup := range []int{1, 4, 9} {
		sp := spec()
		sp.LookupCycles = lookup
		s := newSandwich(t, sp).mapAll()
		s.read(0, 0, 3)
		warm := 100 * clocked.Microsecond
		s.read(warm, 0, 3)
		s.run()
		if got, want := s.answers[1].at-warm, clocked.Time(1+lookup)*cycle; got != want {
			t.Errorf("lookup_cycles %d: hit after %v, want %v", lookup, got, want)
		}
		if got, want := s.answers[1].msg.PA, frame(3)+64; got != want {
			t.Errorf("PA %#x, want %#x", got, want)
		}
	}
}

// An MPT hit and MTT miss adds, per table level, the register to the endpoint,
// its delay and the register back: 2 cycles + readDelay.
func TestMissLatencyPerLevel(t *testing.T) {
	for levels := 1; levels <= 3; levels++ {
		sp := spec()
		sp.MTT.Levels = levels
		s := newSandwich(t, sp).mapAll()
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

// On-board tables: their latency, rounded up to the next edge, in place of the
// link. 101 ns are 80.8 cycles.
func TestOnboardMiss(t *testing.T) {
	sp := spec()
	sp.Tables, sp.Onboard = "onboard", 101*clocked.Nanosecond
	s := newSandwich(t, sp).mapAll()
	s.read(0, 0, 3)
	warm := 100 * clocked.Microsecond
	s.read(warm, 0, 4)
	s.run()
	if got, want := s.answers[1].at-warm, (5+81)*cycle; got != want {
		t.Errorf("miss after %v, want %v", got, want)
	}
	if s.reads != 0 {
		t.Errorf("%d DMA reads, want none", s.reads)
	}
}
