package contract

import (
	"fmt"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"pgregory.net/rapid"

	"rnicmmu/clocked"
)

var clocks = []sim.Freq{1 * sim.GHz, 800 * sim.MHz, 1300 * sim.MHz, 333 * sim.MHz}

// complete checks the responses by what they must say, whatever their times:
// each access has one translation, to its own frame, and one memory response.
func complete(p plan, got []response) error {
	count := map[string]int{}
	for i, r := range got {
		if i > 0 && r.now < got[i-1].now || r.arrived > r.now {
			return fmt.Errorf("response %d: %+v after %+v", i, r, got[max(i, 1)-1])
		}
		class := "memory"
		if r.kind == 't' {
			class = "translation"
		}
		count[class]++
	}
	if count["translation"] != p.accesses || count["memory"] != p.accesses {
		return fmt.Errorf("%v responses to %d accesses", count, p.accesses)
	}
	return nil
}

// same compares two runs to the last bit of every time.
func same(want, got []response) error {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return fmt.Errorf("response %d: %+v, on Akita's engine %+v", i, got[i], want[i])
		}
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d responses, on Akita's engine %d", len(got), len(want))
	}
	return nil
}

// check runs a plan on Akita's serial engine, on ours, and on ours shuffled.
func check(p plan, port newPort, connect newConnection) error {
	want := simulate(sim.NewSerialEngine(), p, port, connect)
	if err := complete(p, want); err != nil {
		return err
	}
	if err := same(want, simulate(clocked.NewEngine(), p, port, connect)); err != nil {
		return err
	}
	e := clocked.NewEngine()
	e.Shuffle(p.seed)
	if err := same(want, simulate(e, p, port, connect)); err != nil {
		return fmt.Errorf("shuffled: %w", err)
	}
	return nil
}

func TestStockComponents(t *testing.T) {
	for _, f := range clocks {
		t.Run(fmt.Sprintf("%.0fMHz", float64(f/sim.MHz)), func(t *testing.T) {
			if err := check(uniform(f), akitaPort, direct); err != nil {
				t.Error(err)
			}
		})
	}
}

func drawPlan(t *rapid.T) plan {
	clock := rapid.SampledFrom(clocks)
	return plan{
		agent: clock.Draw(t, "agent"), tlb: clock.Draw(t, "tlb"), mmu: clock.Draw(t, "mmu"),
		mem: clock.Draw(t, "mem"), wire: clock.Draw(t, "wire"),
		accesses: rapid.IntRange(1, 60).Draw(t, "accesses"),
		ways:     rapid.IntRange(1, 16).Draw(t, "ways"),
		mshrs:    rapid.IntRange(1, 4).Draw(t, "mshrs"),
		walk:     rapid.IntRange(0, 30).Draw(t, "walk"),
		latency:  rapid.IntRange(1, 30).Draw(t, "latency"),
		depth:    rapid.IntRange(1, 4).Draw(t, "depth"),
		seed:     rapid.Uint64().Draw(t, "seed"),
	}
}

// Every clock its own: events of different clocks fall less than a picosecond
// apart.
func TestStockComponentsMixedClocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := check(drawPlan(t), akitaPort, direct); err != nil {
			t.Fatal(err)
		}
	})
}

func TestStockComponentsWithOurPort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		if err := check(p, ourPort, direct); err != nil {
			t.Fatal(err)
		}
		akita := simulate(sim.NewSerialEngine(), p, akitaPort, direct)
		if err := same(akita, simulate(clocked.NewEngine(), p, ourPort, direct)); err != nil {
			t.Fatal("with our port:", err)
		}
	})
}

func TestStockComponentsWithOurConnection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		if err := check(p, ourPort, registered); err != nil {
			t.Fatal(err)
		}
		if err := check(p, akitaPort, registered); err != nil {
			t.Fatal("with Akita's port:", err)
		}
	})
}
