package platform

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"rnicmmu/clocked"
)

// chaos is a unit that wakes others for no reason: at instants on no clock's
// edge, and at instants when they would have been woken anyway.
var only clocked.UnitID = -1

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
		if id := clocked.UnitID(c.random.IntN(c.units)); id != c.spared && (only < 0 || id == only) {
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
			for seed := range uint64(4) {
				if got := hash(t, set, chaotic(seed), shuffled(seed+1)); got != want {
					t.Errorf("spurious ticks %d: %s, want %s: %v", seed, got, want, set)
				}
			}
		})
	}
}
