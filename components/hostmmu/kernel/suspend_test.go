package kernel

import (
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/key"
)

// suspending is a world of one adapter under suspend with two regions of 8 pages.
func suspending(t *testing.T, s Spec, unit string) *world {
	s.Suspend.Unit = unit
	regions := []Region{
		{VA: 0x10000, Length: 8 * 4096, Writable: true, Key: key.Make(1, 0)},
		{VA: 0x90000, Length: 8 * 4096, FirstPage: 8, FirstEntry: 8, Writable: true, Key: key.Make(2, 0)},
	}
	return newWorld(t, setting{spec: s, regions: regions, configs: []AdapterConfig{scheme(Suspend)}})
}

// A page that moves: suspended, copied, programmed, opened again. Nobody faults
// for it.
func TestSuspendedMove(t *testing.T) {
	for unit, want := range map[string]string{
		"page":   "suspend 0: 3+1, fill 0: 3+1, unsuspend 0: 3+1",
		"region": "suspend 0: 3+1, fill 0: 3+1, unsuspend 0: 3+1",
	} {
		w := suspending(t, steps(quick(20)), unit)
		w.touch(true, pages(0, 16)...)
		w.run()
		w.logging = true
		w.move(t, 3)
		copied := false
		w.nics[0].zapped = func(_ clocked.Time, c *msg.Command) {
			if c.Op == msg.CmdFill {
				copied = w.kernel.pages[3].state == pageResident
			}
			if whole := unit == "region"; c.Op != msg.CmdFill && (c.Whole != whole || whole && c.Key != key.Make(1, 0)) {
				t.Errorf("%s: command %+v", unit, c)
			}
		}
		w.touch(true, 3)
		faults := w.kernel.Stats.Events
		stats := w.run()
		if got := strings.Join(w.log, ", "); got != want {
			t.Errorf("%s: %s, want %s", unit, got, want)
		}
		if !copied {
			t.Errorf("%s: programmed before the content was there", unit)
		}
		wantCount(t, unit+" faults", stats.Events-faults, 0)
		wantCount(t, unit+" suspensions", stats.Suspensions, 1)
		for e, n := range w.nics[0].suspended {
			if n != 0 {
				t.Errorf("%s: entry %d: %d suspensions at the end", unit, e, n)
			}
		}
	}
}

// A page that leaves: suspended, then absent and open, so that the next access
// tells the kernel.
func TestSuspendedEviction(t *testing.T) {
	want := map[string]string{
		"page":   "suspend 0: 0+1, unsuspend 0: 0+1, fill 0: 2+1, resume 0: 0+0",
		"region": "suspend 0: 0+1, invalidate 0: 0+1, unsuspend 0: 0+1, fill 0: 2+1, resume 0: 0+0",
	}
	for unit := range want {
		w := suspending(t, steps(quick(2)), unit)
		w.touch(true, 0, 1)
		w.run()
		w.logging = true
		w.touch(true, 2)
		w.run()
		if got := strings.Join(w.log, ", "); got != want[unit] {
			t.Errorf("%s, want %s", got, want[unit])
		}
		faults := w.kernel.Stats.Events
		w.touch(true, 0)
		wantCount(t, "faults", w.run().Events-faults, 1)
	}
}

// SUS-1: suspending one region as a whole leaves accesses to another alone.
// SUS-2: suspensions of a region count, and the last to end opens it.
func TestSuspendedRegions(t *testing.T) {
	w := suspending(t, steps(quick(20)), "region")
	w.touch(true, pages(0, 16)...)
	w.run()
	most := 0
	w.nics[0].zapped = func(now clocked.Time, c *msg.Command) {
		n := w.nics[0].suspended
		most = max(most, n[7])
		if n[8] > 0 {
			t.Errorf("%v: the other region is suspended", now)
		}
	}
	for _, p := range []uint32{1, 2, 3} {
		w.move(t, p)
	}
	inside, outside := w.touch(true, 7), w.touch(true, 8)
	began := w.engine.Now()
	w.nics[0].qps[1].again = began + 5*us // when the first suspension is in force
	w.nics[0].qps[2].again = began + 5*us
	w.run()
	if most != 3 {
		t.Errorf("%d suspensions at most, want 3 nested", most)
	}
	if w.moving == 0 || inside.done <= outside.done || outside.done > began+6*us {
		t.Errorf("%d accesses met a suspension; inside done at %v, outside at %v", w.moving, inside.done-began, outside.done-began)
	}
}

// SUS-3: of pages that move under accesses, over and over, no access sees an
// old frame.
func TestOldFramesAreNeverSeen(t *testing.T) {
	for _, unit := range []string{"page", "region"} {
		s := steps(quick(10))
		s.Pager.MigrateInterval = 3 * us
		w := suspending(t, s, unit)
		for range 3 {
			w.touch(true, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7)
		}
		w.ticked = func(now clocked.Time) {
			for _, q := range w.nics[0].qps {
				q.again = max(q.again, q.done+2*us) // leave time to move in
			}
			if w.accessed() {
				w.kernel.Stop()
			}
		}
		stats := w.run() // checks for stale accesses
		if stats.Migrations < 5 || stats.Suspensions == 0 {
			t.Errorf("%s: %d migrations, %d suspensions", unit, stats.Migrations, stats.Suspensions)
		}
	}
}

// Registration fills the entries of what is resident, whatever odp would do.
func TestSuspendRegistration(t *testing.T) {
	s := quick(4)
	s.Pager.Initial, s.Pager.Snapshot = "resident", false
	w := suspending(t, s, "page")
	for p := range 8 {
		if got, want := w.nics[0].table[p].present, p < 4; got != want {
			t.Errorf("entry %d: present %v", p, got)
		}
	}
}
