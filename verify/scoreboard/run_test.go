package scoreboard_test

import (
	"context"
	"testing"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/sweep"
	"rnicmmu/verify/rule"
	"rnicmmu/verify/scoreboard"
)

// run is a run with a scoreboard beside it.
func run(t *testing.T, set ...string) (*scoreboard.Scoreboard, []measure.Violation, *measure.Summary) {
	t.Helper()
	var job sweep.Job
	if _, err := configs.Load(&job.Spec, configs.Sources{Profile: "default", Set: set}); err != nil {
		t.Fatal(err)
	}
	var b *scoreboard.Scoreboard
	log := &rule.Log{}
	job.Watch = func(s *platform.System) func(bool) []measure.Violation {
		b = scoreboard.New(s, log)
		return func(rest bool) []measure.Violation {
			b.Finish(s.Now(), rest)
			return log.Violations()
		}
	}
	sum, err := job.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b, log.Violations(), sum
}

// TestGoldenHostAgrees: under paging, migration and atomics the golden host
// finds nothing, and has looked at every byte that moved.
func TestGoldenHostAgrees(t *testing.T) {
	pressure := []string{"workload.accesses=4000", "workload.working_set=1MiB", "pressure.overcommit=2", "workload.read_fraction=0.4", "workload.atomic_fraction=0.2"}
	for _, c := range []struct {
		name string
		set  []string
		race bool // uses while an invalidation is under way must be among them
	}{
		{"odp", []string{"scheme=odp", "host.pager.migrate_interval=5us"}, true},
		{"suspend", []string{"scheme=suspend", "host.pager.migrate_interval=5us"}, true},
		{"odp behind an IOMMU", []string{"scheme=odp", "host.iommu.mode=strict", "host.pager.migrate_interval=5us"}, true},
		{"sva", []string{"scheme=sva", "host.pager.migrate_interval=5us"}, false},
		{"iWARP", []string{"scheme=odp", "transport=iwarp", "workload.atomic_fraction=0", "tcp.min_rto=1ms"}, false},
		{"two adapters", []string{"scheme=odp", "adapters=2", "host.pager.migrate_interval=5us"}, false},
		{"acknowledged in memory", []string{"scheme=odp", "qp.ack_point=placement", "host.pager.migrate_interval=5us"}, true},
		{"backup ring", []string{"scheme=odp", "qp.fault_response=backup", "host.pager.migrate_interval=5us"}, true},
		{"long accesses", []string{"scheme=odp", "workload.access_bytes=10000B", "qp.mtu=1KiB", "host.pager.migrate_interval=20us", "workload.atomic_fraction=0"}, true},
		{"large pages", []string{"scheme=odp", "host.page=2MiB", "workload.working_set=64MiB"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, broken, sum := run(t, append(append([]string{}, pressure...), c.set...)...)
			for _, v := range broken {
				t.Errorf("%s at %v: %s", v.Rule, v.TimePS, v.What)
			}
			s := &b.Stats
			if s.Stores == 0 || s.Reads == 0 || s.Pages < uint64(sum.Faults.Evictions) || sum.Faults.Evictions == 0 {
				t.Errorf("looked at %+v, %d evictions", s, sum.Faults.Evictions)
			}
			if c.race && s.Allowed == 0 || s.Excused > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}
