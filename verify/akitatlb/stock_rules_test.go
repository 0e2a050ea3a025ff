package akitatlb

import (
	"testing"

	"rnicmmu/verify/monitor/tpt"
	"rnicmmu/verify/rule"
)

func ask(at, page int) step        { return step{at: at, page: page} }
func invalidate(at, page int) step { return step{at: at, page: page, invalidate: true} }

// sound asserts that a run broke no rule.
func sound(t *testing.T, b *bench) {
	t.Helper()
	for _, v := range b.log.Violations() {
		t.Errorf("our unit at %v: %s: %s", v.TimePS, v.Rule, v.What)
	}
	if b.answers != b.asked {
		t.Errorf("our unit: %d answers to %d requests", b.answers, b.asked)
	}
}

// caught asserts that a run broke a rule so often.
func caught(t *testing.T, b *bench, r *rule.Rule, times uint64) {
	t.Helper()
	if n := b.log.Count(r.ID); n != times {
		t.Errorf("stock TLB: %s broken %d times, %d are due: %v", r.ID, n, times, b.log.Violations())
	}
	for _, v := range b.log.Violations() {
		t.Logf("stock TLB at %v: %s: %s", v.TimePS, v.Rule, v.What)
	}
}

// TestFlushLosesWaiters: scenario F3. Four misses are under way when one of their
// pages is invalidated. Each request must be answered; the stock TLB forgets all
// four who wait.
func TestFlushLosesWaiters(t *testing.T) {
	steps := []step{ask(0, 1), ask(1, 2), ask(2, 3), ask(3, 4), invalidate(100, 1)}
	sound(t, run(t, ours, 8, steps...))
	b := run(t, newStock, 8, steps...)
	caught(t, b, tpt.Answered, 4)
	if b.answers != 0 {
		t.Errorf("stock TLB: %d answers", b.answers)
	}
}

// TestFalseMiss: scenario F20. Two ways hold A and B; A is used, invalidated and
// missed, then C is missed. A and C must be there; the stock TLB has lost the
// way to A, and reads it again.
func TestFalseMiss(t *testing.T) {
	const a, b, c = 1, 2, 3
	steps := []step{ask(0, a), ask(1000, b), ask(2000, a), invalidate(3000, a), ask(5000, a), ask(6000, c), ask(7000, a)}
	u := run(t, ours, 2, steps...)
	sound(t, u)
	if u.walks != 4 {
		t.Errorf("our unit: %d walks: A, B, A and C are due", u.walks)
	}
	s := run(t, newStock, 2, steps...)
	caught(t, s, tpt.Found, 1)
	if s.walks != 5 {
		t.Errorf("stock TLB: %d walks", s.walks)
	}
}

// TestAnswerBehindItsFlush: scenario F2. An answer is read just before its page
// is invalidated. Whatever the instant, no old translation may be given out
// behind the acknowledgement; the stock TLB delivers what it has staged.
func TestAnswerBehindItsFlush(t *testing.T) {
	stale := uint64(0)
	for at := 180; at < 230; at++ {
		steps := []step{ask(0, 1), invalidate(at, 1)}
		sound(t, run(t, ours, 8, append(steps, ask(2000, 1))...))
		b := run(t, newStock, 8, append(steps, ask(2000, 1))...)
		stale += b.log.Count(tpt.Current.ID)
	}
	if stale == 0 {
		t.Error("the stock TLB never gave out an old translation")
	}
	t.Logf("stock TLB: %d stale answers in 50 instants", stale)
}
