package platform

import "testing"

// fastPaging is firmware and software so fast, and walks so slow, that faults,
// fills and invalidations of a page meet in flight.
var fastPaging = []string{"tpt.fault.trigger=0ns", "tpt.fault.resume=0ns", "tpt.command.fill=0ns", "tpt.command.invalidate=0ns",
	"host.notifier.checks=0ns", "host.notifier.updates=0ns", "host.notifier.tlb_flush=0ns", "host.fault.driver=0ns",
	"host.pager.swap.read_latency=1us", "host.pager.swap.write_latency=1us", "pcie.read_latency=3us"}

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
