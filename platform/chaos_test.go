package platform

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/pcie"
)

// chaos is a unit that wakes others for no reason: at instants on no clock's
// edge, and at instants when they would have been woken anyway.
type chaos struct {
	engine *clocked.Engine
	random *rand.Rand
	id     clocked.UnitID
	units  int            // those registered before it
	spared clocked.UnitID // the driver: no hardware, and it ends the run when it ticks with nothing left
	bursts int            // still to come
}

// chaotic adds a chaos unit to a system.
func chaotic(seed uint64) option {
	return func(s *System) {
		c := &chaos{engine: s.engine, random: rand.New(rand.NewPCG(seed, 0)), spared: s.driver.id, bursts: 20_000}
		c.id = s.engine.Register(c)
		c.units = int(c.id)
		s.engine.Wake(c.id, 0)
	}
}

func (c *chaos) Name() string { return "chaos" }

// Tick wakes some units within the next picoseconds or microseconds, and itself
// at the end of that time unless nothing else is left to happen: the system has
// come to rest.
func (c *chaos) Tick(now clocked.Time) {
	c.bursts--
	if now > 0 && (c.bursts == 0 || c.engine.Pending() == 0) {
		return
	}
	within := 1 << c.random.IntN(22)
	for range 1 + c.random.IntN(2*c.units) {
		at := now + 1 + clocked.Time(c.random.IntN(within))
		if id := clocked.UnitID(c.random.IntN(c.units)); id != c.spared {
			c.engine.Wake(id, at)
		}
	}
	c.engine.Wake(c.id, now+clocked.Time(within)+1)
}

// A tick with nothing to do changes nothing: units that are woken again and
// again at random instants, on and off their clocks' edges, give the same
// result, in whatever order they tick within an instant.
func TestSpuriousTicks(t *testing.T) {
	for i, set := range diverse {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			want := hash(t, set)
			for seed := range uint64(2) {
				if got := hash(t, set, chaotic(seed), shuffled(seed+1)); got != want {
					t.Errorf("spurious ticks %d: %s, want %s: %v", seed, got, want, set)
				}
			}
		})
	}
}

// witness looks at every unit now and then.
type witness struct {
	engine *clocked.Engine
	random *rand.Rand
	id     clocked.UnitID
	looks  int
	units  map[string]waiter
	broken map[string]int
	busy   map[string]int // times that a unit was seen at work
}

type waiter interface {
	Idle() bool
	Waits() []string
}

// bothEnds is a link: what is on its way is one end's to send and the other's to
// take.
type bothEnds struct{ *pcie.Link }

func (l bothEnds) Waits() []string { return append(l.Endpoint.Waits(), l.Root.Waits()...) }

func (w *witness) Name() string { return "witness" }

// Tick looks, then sleeps for up to a microsecond if something is left to happen;
// in a long run for longer and longer.
func (w *witness) Tick(now clocked.Time) {
	for name, u := range w.units {
		switch waits := u.Waits(); {
		case !u.Idle():
			w.busy[name]++
		case len(waits) > 0:
			w.broken[fmt.Sprintf("%s at %v is idle, and waits: %s", name, now, waits[0])]++
		}
	}
	if now == 0 || w.engine.Pending() > 0 {
		w.looks++
		w.engine.Wake(w.id, now+1+clocked.Time(w.random.IntN(1_000_000*(1+w.looks/10_000))))
	}
}

// watched adds a witness to a system.
func watched(w *witness) option {
	return func(s *System) {
		n := s.nodes[0]
		*w = witness{engine: s.engine, random: rand.New(rand.NewPCG(1, 0)), broken: map[string]int{}, busy: map[string]int{},
			units: map[string]waiter{"memory": s.memory, "kernel": s.kernel, "tpt": n.tpt, "responder": n.responder, "requester": n.requester,
				"link": bothEnds{n.link}, "peer link": bothEnds{n.peerLink}, "peer memory": n.peerMemory}}
		w.id = s.engine.Register(w)
		s.engine.Wake(w.id, 0)
	}
}

// An idle unit waits for nothing, at any instant, and at the end every unit is
// idle. To look changes nothing.
func TestIdleUnitsWaitForNothing(t *testing.T) {
	for i, set := range diverse {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			var w witness
			if got, want := hash(t, set, watched(&w)), hash(t, set); got != want {
				t.Errorf("watched: %s, want %s", got, want)
			}
			for what := range w.broken {
				t.Error(what)
			}
			for name, u := range w.units {
				if !u.Idle() || len(u.Waits()) > 0 {
					t.Errorf("%s at the end: idle %v, waits %v", name, u.Idle(), u.Waits())
				}
			}
			if w.busy["requester"] == 0 || w.busy["responder"] == 0 || w.busy["tpt"] == 0 || w.busy["link"] == 0 {
				t.Errorf("units were never seen at work: %v", w.busy)
			}
		})
	}
}
