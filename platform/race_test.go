package platform

import "testing"

// Pages are taken away while walks that have read their entries are under way:
// what such a walk found is never used. Slow walks, a small cache and fast
// paging make that happen often.
func TestWalksMeetInvalidations(t *testing.T) {
	for _, latency := range []string{"3us", "20us"} {
		for _, entries := range []string{"4", "16"} {
			for _, response := range []string{"rnr", "hold"} {
				set := append(pressed("odp", 2, "workload.accesses=3000", "tpt.mtt.ways=0", "tpt.mtt.entries="+entries,
					"workload.outstanding=64", "workload.read_fraction=0.3", "qp.fault_response="+response), fastPaging...)
				o := must(t, nil, append(set, "host.pager.grace=0ns", "qp.rnr_timer=1", "pcie.read_latency="+latency)...)
				if stales := o.sys.nodes[0].tpt.Stats.MTT.Stales; stales == 0 || o.sum.Invalidations.Issued == 0 {
					t.Errorf("%s, %s entries, %s: %d walks met an invalidation, of %d", latency, entries, response, stales, o.sum.Invalidations.Issued)
				}
			}
		}
	}
}

// Where the IOMMU sets no dirty bits, a store by the process's own page table
// waits until the kernel has marked the page: else reclaim would drop it.
func TestStoresWithoutDirtyBits(t *testing.T) {
	o := must(t, nil, "scheme=iommu", "host.iommu.table=process", "host.iommu.absent=retry", "host.iommu.set_accessed=false",
		"pressure.overcommit=1.5", "workload.working_set=256KiB", "host.pager.initial=resident", "workload.accesses=400")
	if o.sum.Faults.SwappedOutPages == 0 || o.sum.Accesses.Failed != 0 {
		t.Errorf("%d pages swapped out, %d accesses failed", o.sum.Faults.SwappedOutPages, o.sum.Accesses.Failed)
	}
}
