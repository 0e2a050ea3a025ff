package platform

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"

	"rnicmmu/measure"
)

// The whole system runs on Akita's own serial engine, and every access and
// invalidation comes out the same to the picosecond.
func TestWholeSystemOnAkitasEngine(t *testing.T) {
	for _, set := range [][]string{
		{"workload.accesses=2000", "workload.working_set=64MiB", "workload.read_fraction=0.4", "workload.atomic_fraction=0.1"},
		{"workload.accesses=200", "host.dram.controller=akita", "host.llc.ddio_lines=0", "workload.read_fraction=0.4", "tpt.clock=333MHz"},
		{"workload.accesses=800", "scheme=odp", "workload.working_set=256KiB", "pressure.overcommit=2", "adapters=2"},
		{"workload.accesses=400", "scheme=sva", "workload.working_set=256KiB", "pressure.overcommit=2", "adapters=2"},
		{"workload.accesses=400", "scheme=iommu", "host.iommu.table=process", "host.iommu.absent=retry", "workload.working_set=256KiB", "pressure.overcommit=1.5"},
		{"workload.accesses=400", "scheme=suspend", "workload.working_set=256KiB", "pressure.overcommit=2", "host.iommu.mode=strict"},
		{"workload.accesses=400", "adapters=[{}, {scheme: sva, transport: iwarp, tcp.min_rto: 1ms}]", "scheme=odp", "workload.working_set=256KiB", "pressure.overcommit=1.5", "host.pager.grace=10ms"},
	} {
		if got, want := onAkita(t, set), hash(t, set); got != want {
			t.Errorf("on Akita's engine %s, natively %s: %v", got, want, set)
		}
	}
}

func onAkita(t *testing.T, set []string) string {
	t.Helper()
	sys := assemble(t, nil, set)
	rec, host := measure.New(), sim.NewSerialEngine()
	sys.begin(rec, nil)
	sys.engine.Guest(host)
	sys.warm() // there is no warm-up: counters start at time 0
	sys.engine.Wake(sys.driver.id, 0)
	if err := host.Run(); err != nil {
		t.Fatal(err)
	}
	sys.finished, sys.ended = sys.driver.lastDone, true
	sys.audit()
	sum := sys.summary(false)
	rec.Finish(sum)
	if n := len(sum.Violations); n > 0 || sum.Accesses.Completed == 0 {
		t.Fatalf("%d completed, %d violations", sum.Accesses.Completed, n)
	}
	return sum.ResultHash
}
