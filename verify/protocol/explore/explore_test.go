package explore

import (
	"context"
	"errors"
	"reflect"
	"testing"
)

// toy is a system made of functions on small numbers.
type toy struct {
	next   func(n uint64) []uint64
	events func(n uint64) []uint64 // of the environment
	broken func(n uint64) bool
	rest   func(n uint64) bool
	alike  func(n uint64) uint64
}

func (t *toy) Initial() Key { return Key{} }

func (t *toy) Canonical(k Key) Key {
	if t.alike == nil {
		return k
	}
	return Key{t.alike(k[0])}
}

func (t *toy) Expand(k Key, canonical bool, emit func(*Step[uint64])) {
	all := func(list []uint64, environment bool) {
		for _, n := range list {
			to := Key{n}
			if canonical {
				to = t.Canonical(to)
			}
			emit(&Step[uint64]{To: to, Event: n, Environment: environment})
		}
	}
	all(t.next(k[0]), false)
	if t.events != nil {
		all(t.events(k[0]), true)
	}
}

func (t *toy) Broken(k Key) string {
	if t.broken != nil && t.broken(k[0]) {
		return "broken"
	}
	return ""
}

func (t *toy) Rest(k Key) bool { return t.rest == nil || t.rest(k[0]) }

// counters are n counters from 0 to most-1, each a byte, that step up one at a time.
func counters(n int, most uint64) *toy {
	return &toy{next: func(s uint64) (list []uint64) {
		for i := range n {
			if s>>(8*i)&255 < most-1 {
				list = append(list, s+1<<(8*i))
			}
		}
		return list
	}}
}

func explored(t *testing.T, s *toy, o Options) Result[uint64] {
	t.Helper()
	r, err := Explore(context.Background(), System[uint64](s), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// n counters below m have m^n states, n·(m-1)·m^(n-1) steps, and are n·(m-1) steps
// deep.
func TestCountsOfCounters(t *testing.T) {
	r := explored(t, counters(4, 10), Options{})
	if want := (Stats{States: 10000, Transitions: 4 * 9 * 1000, Depth: 36}); r.Stats != want || !r.Complete || r.Violation != nil {
		t.Errorf("%+v, complete %v, violation %v; want %+v", r.Stats, r.Complete, r.Violation, want)
	}
}

// Counters that are alike are a multiset: of 4 below 10 there are C(13, 4).
func TestSymmetryLeavesMultisets(t *testing.T) {
	s := counters(4, 10)
	s.alike = func(n uint64) (sorted uint64) {
		var count [10]int
		for i := range 4 {
			count[n>>(8*i)&255]++
		}
		at := 0
		for v, c := range count {
			for range c {
				sorted |= uint64(v) << (8 * at)
				at++
			}
		}
		return sorted
	}
	if r := explored(t, s, Options{}); r.States != 715 || r.Depth != 36 {
		t.Errorf("%d states, depth %d; want 715, 36", r.States, r.Depth)
	}
	s.broken = func(n uint64) bool { return s.alike(n) == 0x03000000 }
	r := explored(t, s, Options{})
	if v := r.Violation; v == nil || len(v.Trace) != 3 || v.Trace[2].To != (Key{3}) {
		t.Errorf("violation %+v: three steps of the first counter are due", v)
	}
}

// The trace is a shortest: 40 is 8 steps of 5 from 0 where steps are 1 and 5.
func TestShortestTrace(t *testing.T) {
	s := &toy{next: func(n uint64) []uint64 { return []uint64{(n + 1) % 100, (n + 5) % 100} }, broken: func(n uint64) bool { return n == 40 }}
	v := explored(t, s, Options{}).Violation
	if v == nil || v.Kind != Safety || len(v.Trace) != 8 {
		t.Fatalf("%+v: 8 steps are due", v)
	}
	for i, step := range v.Trace {
		if step.Event != uint64(5*(i+1)) {
			t.Errorf("step %d: to %d", i, step.Event)
		}
	}
}

// A state without a step is a deadlock unless it is at rest; the environment's
// steps do not count.
func TestDeadlock(t *testing.T) {
	s := &toy{
		next: func(n uint64) []uint64 {
			if n == 0 || n == 7 {
				return nil
			}
			return []uint64{n - 1}
		},
		events: func(n uint64) []uint64 { return []uint64{(n + 1) % 9} },
		rest:   func(n uint64) bool { return n == 0 },
	}
	v := explored(t, s, Options{}).Violation
	if v == nil || v.Kind != Deadlock || len(v.Trace) != 7 {
		t.Errorf("%+v: a deadlock after 7 steps is due", v)
	}
	s.rest = func(n uint64) bool { return n == 0 || n == 7 }
	if v := explored(t, s, Options{}).Violation; v != nil {
		t.Errorf("%+v although 7 is at rest", v)
	}
}

// A ring that rest cannot be reached from is a livelock, found at its nearest
// state; one that can be left is none.
func TestLivelock(t *testing.T) {
	next := map[uint64][]uint64{0: nil, 1: {0, 2}, 2: {3}, 3: {4}, 4: {2}}
	s := &toy{
		next:   func(n uint64) []uint64 { return next[n] },
		events: func(n uint64) []uint64 { return map[uint64][]uint64{0: {1}, 3: {0}}[n] },
		rest:   func(n uint64) bool { return n == 0 },
	}
	v := explored(t, s, Options{}).Violation
	if v == nil || v.Kind != Livelock || len(v.Trace) != 2 || v.Trace[1].To != (Key{2}) {
		t.Errorf("%+v: a livelock in 2 is due", v)
	}
	next[4] = []uint64{2, 0}
	if v := explored(t, s, Options{}).Violation; v != nil {
		t.Errorf("%+v although the ring can be left", v)
	}
}

// Nothing depends on the number of workers.
func TestWorkersDoNotMatter(t *testing.T) {
	s := counters(5, 8)
	s.broken = func(n uint64) bool { return n>>32&255 == 5 && n&255 == 5 || n>>8&255 == 7 && n>>16&255 == 3 }
	one := explored(t, s, Options{Workers: 1})
	for range 3 {
		if many := explored(t, s, Options{Workers: 7}); !reflect.DeepEqual(one, many) {
			t.Fatalf("%+v with one worker, %+v with seven", one, many)
		}
	}
}

// Limits end an exploration unfinished, and a context ends it with its error.
func TestLimits(t *testing.T) {
	if r := explored(t, counters(4, 10), Options{MaxDepth: 2}); r.Complete || r.Depth != 2 || r.States != 1+4+10 {
		t.Errorf("depth 2: %+v", r)
	}
	if r := explored(t, counters(4, 10), Options{MaxStates: 500}); r.Complete || r.States < 500 || r.States == 10000 {
		t.Errorf("500 states: %+v", r)
	}
	ctx, stop := context.WithCancel(context.Background())
	calls := 0
	_, err := Explore(ctx, System[uint64](counters(4, 10)), Options{Progress: func(Stats) {
		calls++
		stop()
	}})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("error %v after %d batches", err, calls)
	}
}

// A canonical form that is none is told, not walked into.
func TestFalseSymmetry(t *testing.T) {
	s := &toy{
		next:   func(n uint64) []uint64 { return []uint64{n + 1} },
		alike:  func(n uint64) uint64 { return map[bool]uint64{false: n, true: 10}[n == 3] },
		broken: func(n uint64) bool { return n == 12 },
	}
	if _, err := Explore(context.Background(), System[uint64](s), Options{}); !errors.Is(err, errNoWay) {
		t.Errorf("error %v", err)
	}
}
