package platform

import (
	"path/filepath"
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// hangTimeout is both time-outs of a host whose second adapter hangs.
const hangTimeout = clocked.Millisecond

// hanging are two adapters under pressure, of which the second hangs.
func hanging(scheme, order string) []string {
	return []string{"scheme=" + scheme, "adapters=[{}, {tpt.command.hang_at: 2ms}]", "workload.working_set=256KiB",
		"pressure.overcommit=1.5", "workload.accesses=600", "workload.read_fraction=0.3", "qp.ack_timeout=8", "qp.retry=2",
		"host.notifier.timeout=1ms", "host.iommu.ats_timeout=1ms", "host.notifier.order=" + order}
}

// ATS-8, S6: an adapter whose firmware hangs costs the host one time-out. The
// accesses of the other all complete, its round trips and the whole of its
// invalidations are no longer than that and software's own time, and nothing
// that the dead adapter translated reaches a frame of somebody else.
func TestDeadAdapter(t *testing.T) {
	for _, scheme := range []string{"odp", "sva", "suspend"} {
		for _, order := range []string{"parallel", "serial"} {
			t.Run(scheme+" "+order, func(t *testing.T) { checkDead(t, hanging(scheme, order)) })
			t.Run(scheme+" "+order+" behind a switch", func(t *testing.T) { checkDead(t, append(hanging(scheme, order), "host.switch.adapters=2")) })
		}
	}
}

func checkDead(t *testing.T, set []string) {
	o, dir := recorded(t, set)
	if !o.sys.kernel.Dead(1) || o.sys.kernel.Dead(0) {
		t.Fatalf("dead: %v and %v; the second is due", o.sys.kernel.Dead(0), o.sys.kernel.Dead(1))
	}
	if v := &o.sum.Invalidations; v.TimedOut == 0 || v.StaleDMA > 0 || v.DeadAdapters != 1 {
		t.Errorf("%d invalidations timed out, %d stale accesses, %d dead adapters", v.TimedOut, v.StaleDMA, v.DeadAdapters)
	}
	if waits := o.sys.Waits(); !slices.Contains(waits, "adapter 1 did not answer in time and was cut off") {
		t.Errorf("the dump does not name the dead adapter: %q", waits)
	}
	lost := 0
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(measure.ReadAccesses(filepath.Join(dir, "accesses.parquet"), func(some []measure.Access) {
		for i := range some {
			switch a := &some[i]; {
			case a.Status == measure.StatusOK:
			case a.QP%2 == 1 && (a.Status == measure.StatusRetryExceeded || a.Status == measure.StatusFlushed):
				lost++
			default:
				t.Errorf("access %d of QP %d: status %d", a.ID, a.QP, a.Status)
			}
		}
	}))
	if lost == 0 {
		t.Error("no access of the dead adapter was lost")
	}
	const own = 100 * clocked.Microsecond // software, commands ahead and the other adapter, far from the time-out
	must(measure.ReadInvalidations(filepath.Join(dir, "invalidations.parquet"), func(some []measure.Invalidation) {
		for i := range some {
			v := &some[i]
			if v.Adapter == 0 && (v.TimedOut || v.Acknowledged-v.Sent > hangTimeout) || v.Done-v.Notified > hangTimeout+own {
				t.Errorf("invalidation of adapter %d: notified %v, sent %v, acknowledged %v, done %v", v.Adapter, v.Notified, v.Sent, v.Acknowledged, v.Done)
			}
		}
	}))
}

// recorded runs a configuration and leaves its rows in a directory.
func recorded(t *testing.T, set []string) (*outcome, string) {
	t.Helper()
	o, dir := record(t, assemble(t, nil, set))
	if broken := o.broken(); broken != "" {
		t.Error(broken)
	}
	return o, dir
}
