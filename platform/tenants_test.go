package platform

import (
	"testing"

	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/workload"
)

// A victim whose pages fit its share of the ways misses each of them once where
// the cache is partitioned, whatever its neighbour does, and hardly ever hits
// where it is not: the cache has 256 sets of 4 ways, the victim comes to its 256
// pages in turn, one a set, and between two visits of a set the neighbour brings
// in 9 lines on average.
func TestPartitionKeepsTheVictimsPages(t *testing.T) {
	set := []string{"tpt.tenants=2", "tpt.mtt.entries=1024", "workload.pattern=strided", "workload.working_set=1MiB",
		"workload.aggressor_fraction=0.9", "workload.accesses=10000", "workload.outstanding=1"}
	for partition, holds := range map[string]bool{"none": false, "tenant": true} {
		o := must(t, nil, append(set, "tpt.partition="+partition)...)
		v, a := &o.sum.Victim, &o.sum.Aggressor
		if holds && v.MTT.Misses != 256 || !holds && v.MTT.Misses < v.MTT.Lookups*9/10 {
			t.Errorf("partition %s: the victim missed %d of %d times", partition, v.MTT.Misses, v.MTT.Lookups)
		}
		mtt := &o.sum.TPT.MTT
		if v.MTT.Lookups+a.MTT.Lookups != mtt.Lookups || v.MTT.Misses+a.MTT.Misses != mtt.Misses || v.MTT.Hits+a.MTT.Hits != mtt.Hits {
			t.Errorf("partition %s: victim %+v and aggressor %+v of %+v", partition, v.MTT, a.MTT, mtt.CacheStats)
		}
		if v.Completed+a.Completed != 10000 || v.LatencyPS.Total+a.LatencyPS.Total != o.sum.Accesses.LatencyPS.Total {
			t.Errorf("partition %s: %d and %d accesses completed", partition, v.Completed, a.Completed)
		}
	}
}

// Each of the two has its own way of registration, and its own cache: of n accesses
// one at a time, those that are registered each are registrations, and an access
// of the other's in between takes no place. What peers are told of is what is
// registered for good and the most that is besides.
func TestTenantsRegisterApart(t *testing.T) {
	for _, c := range []struct {
		victim, aggressor string
		want              func(victim, aggressor uint64) uint64
		told              uint64 // MiB
	}{
		{"once", "each", func(_, a uint64) uint64 { return a }, 2 + 1},
		{"each", "once", func(v, _ uint64) uint64 { return v }, 2 + 1},
		{"each", "each", func(v, a uint64) uint64 { return v + a }, 2},
		{"cached", "cached", func(_, _ uint64) uint64 { return 2 }, 2 + 1},
		{"once", "cached", func(_, _ uint64) uint64 { return 1 }, 2 + 1},
		{"cached", "each", func(_, a uint64) uint64 { return 1 + a }, 2 + 1},
	} {
		o := must(t, nil, "tpt.tenants=2", "workload.accesses=200", "workload.outstanding=1", "workload.working_set=2MiB",
			"workload.aggressor_working_set=1MiB", "workload.aggressor_fraction=0.5", "workload.registration_cache=1",
			"workload.registration="+c.victim, "workload.aggressor_registration="+c.aggressor)
		v, a := o.sum.Victim.Completed, o.sum.Aggressor.Completed
		if got, want := o.sum.Registration.Registered, c.want(v, a); got != want || v+a != 200 || v == 0 || a == 0 {
			t.Errorf("victim %s, aggressor %s: %d registrations for %d and %d accesses, want %d", c.victim, c.aggressor, got, v, a, want)
		}
		if got, want := o.sum.Advertise.BytesAdvertised, c.told<<20; got != want {
			t.Errorf("victim %s, aggressor %s: %d bytes advertised, want %d", c.victim, c.aggressor, got, want)
		}
	}
}

// A neighbour that registers its memory for every access takes none of the
// victim's pages from a partitioned cache, though each of its registrations ends
// with an invalidation of its own.
func TestPartitionAgainstRegistrations(t *testing.T) {
	o := must(t, nil, "tpt.tenants=2", "tpt.mtt.entries=1024", "workload.pattern=strided", "workload.working_set=1MiB", "tpt.partition=tenant",
		"workload.aggressor_fraction=0.5", "workload.aggressor_regions=64", "workload.aggressor_registration=each", "workload.accesses=2000", "workload.outstanding=4")
	if v := &o.sum.Victim; v.MTT.Misses != 256 || o.sum.Registration.Deregistered < 64 {
		t.Errorf("the victim missed %d of %d times beside %d deregistrations", v.MTT.Misses, v.MTT.Lookups, o.sum.Registration.Deregistered)
	}
}

// Every tenant has its share of accesses that go to all queue pairs in turn.
func TestTenantsShareTheQPs(t *testing.T) {
	o := must(t, nil, "tpt.tenants=4", "workload.accesses=1600")
	if len(o.sum.Tenants) != 4 {
		t.Fatalf("%d tenants", len(o.sum.Tenants))
	}
	for i := range o.sum.Tenants {
		if n := o.sum.Tenants[i].Completed; n != 400 {
			t.Errorf("tenant %d: %d accesses completed", i, n)
		}
	}
}

// The second levels are asked once a walk of the first, and only what they do
// not hold is read: 512 pages in turn over 64 entries miss always, and a second
// level of 1024 holds them from the second round on.
func TestSecondLevelsAreCounted(t *testing.T) {
	o := must(t, nil, "tpt.mtt.entries=64", "tpt.mtt.l2_entries=1024", "tpt.mpt.l2_entries=1024", "workload.pattern=strided",
		"workload.working_set=2MiB", "workload.accesses=2048", "workload.outstanding=1")
	mtt, mpt := &o.sum.TPT.MTT, &o.sum.TPT.MPT
	if mtt.Walks != 2048 || mtt.L2 != (measure.L2Stats{Lookups: 2048, Hits: 1536, Misses: 512, Walks: 512}) {
		t.Errorf("MTT %d walks, second level %+v", mtt.Walks, mtt.L2)
	}
	if mpt.Walks != 1 || mpt.L2 != (measure.L2Stats{Lookups: 1, Misses: 1, Walks: 1}) || o.sum.TPT.TableReads != 512+1 {
		t.Errorf("MPT %d walks, second level %+v, %d reads", mpt.Walks, mpt.L2, o.sum.TPT.TableReads)
	}
}

// One page read ahead on a miss serves the next of a row: of 512 pages in turn
// every second is a miss, and the others use what came before them.
func TestPrefetchesAreCounted(t *testing.T) {
	var row []workload.Access
	for i := range 512 {
		row = append(row, workload.Access{Op: model.OpWrite, Len: 64, VA: base + model.VA(i)<<12, QP: 1})
	}
	_, o := rowsOf(t, row, row, "tpt.mtt.prefetch=next_line", "workload.outstanding=1", "workload.qps=2")
	mtt := &o.sum.TPT.MTT
	if mtt.Misses != 256 || mtt.Prefetch != (measure.PrefetchStats{Issued: 256, Useful: 256}) {
		t.Errorf("%d misses, %+v", mtt.Misses, mtt.Prefetch)
	}
}

// An access that is translated by the IOMMU knows of its own misses there: of
// pages that are read twice, one at a time, each misses at the first.
func TestAccessesKnowTheirIOTLBMisses(t *testing.T) {
	var run []workload.Access
	for i := range 32 {
		run = append(run, workload.Access{Op: model.OpRead, Len: 64, VA: base + model.VA(i%16)<<12, QP: 1})
	}
	rows, o := rowsOf(t, run, run, "scheme=iommu", "workload.outstanding=1")
	own := uint64(0)
	for i := range rows {
		n := rows[i].Counts.IOTLBMisses
		own += uint64(n)
		// The first one reads both tables, too.
		if want := map[bool]uint32{true: 1}[i < 16]; i > 0 && n != want || i == 0 && (n < 1 || n > 3) {
			t.Errorf("access %d: %d misses", i, n)
		}
	}
	if all := o.sum.IOMMU.IOTLB.Misses; own > all || own < 16 {
		t.Errorf("%d misses of accesses, %d in all", own, all)
	}
}
