package platform

import "testing"

// The accessed bits that walks set tell the pager nothing where the adapter's
// cache answers all but the first use; once clearing a bit flushes the cached
// copies, hot pages stay. No use of a table of the adapter's own is ever seen.
func TestAccessedBits(t *testing.T) {
	run := func(set ...string) (refaults, flushes uint64) {
		sum := must(t, nil, append([]string{"workload.accesses=10000", "workload.working_set=1MiB", "workload.pattern=hotset",
			"pressure.overcommit=2"}, set...)...).sum
		if f := &sum.Faults; f.Refaults > f.FilledPages || f.Refaults > f.Evictions {
			t.Errorf("%v: %d refaults of %d pages filled, %d evicted", set, f.Refaults, f.FilledPages, f.Evictions)
		}
		return sum.Faults.Refaults, sum.IOMMU.AccessFlushes
	}
	odp, none := run("scheme=odp", "host.pager.flush_on_clear=true")
	sva, off := run("scheme=sva")
	flushed, flushes := run("scheme=sva", "host.pager.flush_on_clear=true")
	if none+off != 0 || flushes == 0 {
		t.Errorf("access flushes: odp %d, sva %d, with flush on clear %d", none, off, flushes)
	}
	if flushed*3 > odp*2 || flushed*3 > sva*2 || sva*10 < odp*8 || odp*10 < sva*8 {
		t.Errorf("refaults: odp %d, sva %d, with flush on clear %d", odp, sva, flushed)
	}
}
