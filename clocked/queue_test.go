package clocked

import (
	"slices"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"pgregory.net/rapid"
)

// Any interleaving of pushes, peeks and pops gives events in order of time, then
// of scheduling or of their shuffled keys.
func TestEventQueueOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q eventQueue
		q.init()
		shuffled := rapid.Bool().Draw(t, "shuffled")
		var model []event
		now := Time(-1)
		least := func() event { return slices.MinFunc(model, compareEvents) }
		for i := range rapid.IntRange(1, 200).Draw(t, "calls") {
			switch rapid.IntRange(0, 3).Draw(t, "call") {
			case 0:
				if len(model) > 0 {
					want := least()
					now = want.at
					if got := q.pop(); got != want {
						t.Fatalf("popped %v, the least is %v", got, want)
					}
					model = slices.DeleteFunc(model, func(e event) bool { return e == want })
				}
			case 1:
				if len(model) > 0 && q.peek() != least() {
					t.Fatalf("peeked %v, the least is %v", q.peek(), least())
				}
			default:
				ahead := rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 2<<20), rapid.Int64Range(1, 1<<61)).Draw(t, "ahead")
				order := uint64(i)
				if shuffled {
					order = mix(order) >> unitBits
				}
				ev := newEvent(now+Time(ahead), order, UnitID(rapid.IntRange(0, maxUnits-1).Draw(t, "unit")))
				if ev.at > now { // not beyond 2^63
					q.push(ev)
					model = append(model, ev)
				}
			}
			if q.count != len(model) {
				t.Fatalf("%d events, want %d", q.count, len(model))
			}
		}
		slices.SortFunc(model, compareEvents)
		for _, want := range model {
			if got := q.pop(); got != want {
				t.Fatalf("drained %v, want %v", got, want)
			}
		}
	})
}

func compareEvents(a, b event) int {
	if a.before(b) {
		return -1
	}
	return 1
}

type stamped struct {
	sec       sim.VTimeInSec
	secondary bool
	handler   sim.Handler
}

func (s *stamped) Time() sim.VTimeInSec { return s.sec }
func (s *stamped) IsSecondary() bool    { return s.secondary }
func (s *stamped) Handler() sim.Handler { return s.handler }

type collect struct{ got []sim.Event }

func (c *collect) Handle(ev sim.Event) error {
	c.got = append(c.got, ev)
	return nil
}

// Akita events come by their float time, even within one picosecond, primary
// before secondary, first-in first-out.
func TestAkitaEventOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEngine()
		c := &collect{}
		var model []sim.Event
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			sec := sim.VTimeInSec(rapid.IntRange(0, 3).Draw(t, "ps"))*1e-12 + sim.VTimeInSec(rapid.IntRange(0, 3).Draw(t, "part"))*1e-14
			ev := &stamped{sec: sec, secondary: rapid.Bool().Draw(t, "secondary"), handler: c}
			e.Schedule(ev)
			model = append(model, ev)
		}
		slices.SortStableFunc(model, func(a, b sim.Event) int {
			switch {
			case a.Time() != b.Time() && a.Time() < b.Time(), a.Time() == b.Time() && !a.IsSecondary() && b.IsSecondary():
				return -1
			case a.Time() == b.Time() && a.IsSecondary() == b.IsSecondary():
				return 0
			}
			return 1
		})
		if err := e.Run(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.got, model) {
			t.Fatalf("ran %d events out of order", len(model))
		}
	})
}
