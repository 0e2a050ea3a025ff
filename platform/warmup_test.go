package platform

import (
	"testing"

	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/workload"
)

// A warm-up leaves accesses out of the figures and changes nothing else.
func TestWarmupOnlyHides(t *testing.T) {
	var run []workload.Access
	for i := range 600 {
		run = append(run, workload.Access{Op: model.Op(i % 2), Len: 64, VA: base + model.VA(i*7919%64)<<12, QP: uint32(i % 16)})
	}
	for _, scheme := range []string{"pinned", "odp"} {
		set := []string{"scheme=" + scheme, "host.memory=" + map[string]string{"pinned": "1MiB", "odp": "160KiB"}[scheme]}
		all, whole := rowsOf(t, run, run, set...)
		rows, part := rowsOf(t, run, run, append(set, "warmup=200")...)
		for i := range rows {
			if rows[i].Complete != all[i].Complete || rows[i].Counts != all[i].Counts || rows[i].Ledger != all[i].Ledger {
				t.Errorf("%s: access %d: %+v, without warm-up %+v", scheme, i, rows[i], all[i])
			}
			if rows[i].Warmup != (i < 200) {
				t.Errorf("%s: access %d: warm-up %v", scheme, i, rows[i].Warmup)
			}
		}
		a := &part.sum.Accesses
		if a.Warmup != 200 || a.Issued != 400 || a.Completed != 400 {
			t.Errorf("%s: %d issued, %d completed, %d in the warm-up", scheme, a.Issued, a.Completed, a.Warmup)
		}
		if part.sum.SimulatedPS >= whole.sum.SimulatedPS || part.sum.TPT.MTT.Lookups >= whole.sum.TPT.MTT.Lookups {
			t.Errorf("%s: time %v of %v, %d of %d look-ups", scheme, part.sum.SimulatedPS, whole.sum.SimulatedPS,
				part.sum.TPT.MTT.Lookups, whole.sum.TPT.MTT.Lookups)
		}
	}
}

// Adapters of one host may differ; each has its own tables and link.
func TestAdaptersDiffer(t *testing.T) {
	o := must(t, nil, "adapters=[{tpt.mtt.entries: 4096}, {tpt.mtt.entries: 16}]", "workload.accesses=8000")
	large, small := &o.sys.nodes[0].tpt.Stats.MTT, &o.sys.nodes[1].tpt.Stats.MTT
	// 1024 pages: 4000 look-ups in 4096 entries miss at most once a page; 16
	// entries of 1024 pages at random hit 1 in 64 times.
	if large.Misses > 1024+32 || small.Misses < 3800 || large.Lookups+small.Lookups != 8000 {
		t.Errorf("%d misses with 4096 entries, %d with 16", large.Misses, small.Misses)
	}
}

// A page that several adapters map is taken from all of them, at once or in
// turn, before its frame is used again.
func TestEveryAdapterIsTold(t *testing.T) {
	trips := map[string]measure.Quantiles{}
	for _, order := range []string{"parallel", "serial"} {
		o := must(t, nil, pressed("odp", 2, "adapters=3", "host.notifier.order="+order)...)
		inv, f := &o.sum.Invalidations, &o.sum.Faults
		if inv.Issued <= f.Evictions || inv.Issued > 3*f.Evictions || inv.Pages != inv.Issued {
			t.Errorf("%s: %d invalidations of %d pages for %d evictions", order, inv.Issued, inv.Pages, f.Evictions)
		}
		trips[order] = inv.RoundTripPS
	}
	if trips["serial"].Mean <= trips["parallel"].Mean {
		t.Errorf("mean round trip in turn %v, at once %v", trips["serial"].Mean, trips["parallel"].Mean)
	}
}
