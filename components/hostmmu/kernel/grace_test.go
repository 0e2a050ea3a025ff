package kernel

import (
	"testing"

	"rnicmmu/clocked"
)

// OVR-1: every access of an adapter gets to use its page, however often events
// come that take pages away, also where software's part of a fault takes longer
// than the next event is away. Each of 4 pages is asked for every 200 us: a grace
// of 500 us leaves one fault in three of its 10 accesses, and each may come twice
// where the page is taken while its entry is written.
func TestEventsHonourGrace(t *testing.T) {
	const grace, interval, most = 500 * us, us, 4 * 4 * 2
	kinds := map[string]func(s *Spec){
		"migrate": func(s *Spec) { s.Pager.MigrateInterval = interval },
		"protect": func(s *Spec) { s.Events.Protect = interval },
		"cow":     func(s *Spec) { s.Events.COW = interval },
		"fork":    func(s *Spec) { s.Events.Fork = interval },
		"unmap":   func(s *Spec) { s.Events.Unmap = interval },
		"remap":   func(*Spec) {},
	}
	for name, set := range kinds {
		for _, scheme := range []string{ODP, Suspend, SVA} {
			s := registering(12)
			s.Pager.Grace, s.Fault.Update = grace, 3*us
			s.Events.Lifetime, s.Events.UnmapPages, s.Events.ProtectBy = ns, 4, "invalidate"
			set(&s)
			w := newWorld(t, setting{spec: s, regions: dynamicRegions(1, 4), scheme: scheme})
			w.ask(us, register(0))
			q := &qp{}
			for i := range uint32(40) {
				q.script = append(q.script, access{entry: uint64(i % 4), page: i % 4, write: true, at: clocked.Time(2+i) * 50 * us})
			}
			w.nics[0].qps = append(w.nics[0].qps, q)
			if name == "remap" {
				for at := 100 * us; at < 40*grace; at += interval {
					w.at(at, func(now clocked.Time) {
						if !w.accessed() {
							w.kernel.Remap(now, 0)
						}
					})
				}
			}
			w.ticked = func(now clocked.Time) {
				if now > 40*grace || w.accessed() {
					w.kernel.Stop()
				}
			}
			w.run() // every access is done
			if q.faults > most || len(w.records) == 0 {
				t.Errorf("%s under %s: %d faults, %d invalidations; want no more than %d, and some", name, scheme, q.faults, len(w.records), most)
			}
		}
	}
}
