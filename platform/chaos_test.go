package platform

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"rnicmmu/clocked"
)

// chaos is a unit that wakes others for no reason: at instants on no clock's
// edge, and at instants when they would have been woken anyway.
type chaos struct {
	engine *clocked.Engine
	random *rand.Rand
	units  int            // those registered before it
	spared clocked.UnitID // the driver: it is no hardware, and ends the run when it ticks with nothing left
	within int            // picoseconds over which a burst of wakes is spread
	id     clocked.UnitID
}

// chaotic adds a chaos unit to a system.
func chaotic(seed uint64, within int) option {
	return func(s *System) {
		c := &chaos{engine: s.engine, random: rand.New(rand.NewPCG(seed, 0)), within: within}
		c.id = s.engine.Register(c)
		c.units, c.spared = int(c.id), s.driver.id
		s.engine.Wake(c.id, 0)
	}
}

func (c *chaos) Name() string { return "chaos" }

// Tick wakes some units, each at a random instant, and itself after the last of
// them: when nothing else is left to happen then, the system has come to rest.
func (c *chaos) Tick(now clocked.Time) {
	if now > 0 && c.engine.Pending() == 0 {
		return
	}
	for range 1 + c.random.IntN(2*c.units) {
		at := now + 1 + clocked.Time(c.random.IntN(c.within))
		if id := clocked.UnitID(c.random.IntN(c.units)); id != c.spared {
			c.engine.Wake(id, at)
		}
	}
	c.engine.Wake(c.id, now+clocked.Time(c.within)+1)
}

// A tick with nothing to do changes nothing: units that are woken again and
// again at random instants, on and off their clocks' edges, give the same
// result, in whatever order they tick within an instant.
func TestSpuriousTicks(t *testing.T) {
	for i, set := range diverse {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			want := hash(t, set)
			for seed, within := range []int{3_000, 20_000, 100_000, 1_000_000} {
				got := hash(t, set, chaotic(uint64(seed), within), shuffled(uint64(seed+1)))
				if got != want {
					t.Errorf("woken within %d ps: %s, want %s: %v", within, got, want, set)
				}
			}
		})
	}
}
