package kernel

import (
	"rnicmmu/clocked"
)

// What a look at a page for a prefetch comes to.
type look uint8

const (
	lookTake look = iota // present with the right wanted
	lookPass             // nothing to do
	lookMiss             // wanted, and left alone
	lookWait             // a CPU fault works on it
)

// prefetchesStore tells whether the entry of a page allows stores: as asked for,
// or, where no CPU fault is made, as the process may.
func (k *Kernel) prefetchesStore(f *prefetch, p uint32) bool {
	if f.advice == AdvisePrefetchNoFault {
		return k.regions[f.region].Writable && k.pages[p].state == pageResident && k.storable(p)
	}
	return f.advice == AdvisePrefetchWrite
}

// mappedAs tells whether a region's adapter has a page with the right wanted: in
// its table, or, where it walks the process's page table, in that.
func (k *Kernel) mappedAs(region int, p uint32, write bool) bool {
	pg, bit := &k.pages[p], k.segmentOf(p).bit(region)
	if k.adapterOf(region).walks() {
		return pg.steady() && (!write || k.storable(p))
	}
	return pg.mapped&bit != 0 && (!write || pg.writable&bit != 0)
}

func (k *Kernel) lookAt(now clocked.Time, f *prefetch, p uint32) look {
	pg, write := &k.pages[p], k.prefetchesStore(f, p)
	spare := len(k.free) > k.low && k.frameWaiters.Len() == 0
	switch {
	case k.mappedAs(f.region, p, write):
		return lookPass
	case pg.state == pageResident && k.stale(f.region, p):
		k.flushLazy()
		return lookWait
	case f.advice == AdvisePrefetchNoFault:
		if pg.steady() {
			return lookTake
		}
		return lookPass
	case pg.state == pagePagingIn || pg.flags&pageUpgrading != 0:
		return lookWait
	case pg.state == pageEvicting || k.needsFrame(p, write) && !spare:
		return lookMiss
	case k.ensure(now, p, write, byPrefetch):
		return lookTake
	}
	k.Stats.PrefetchFaults++
	return lookWait
}

func (k *Kernel) fresh(f *prefetch, n uint32) bool {
	pg := &k.pages[f.first+n]
	return pg.state == pageResident && pg.seq == f.seqs[n] && !k.mappedAs(f.region, f.first+n, f.write) && !k.stale(f.region, f.first+n)
}

// stale tells whether a page has to wait for the DMA domain's flush before a
// region's adapter may have it.
func (k *Kernel) stale(region int, p uint32) bool {
	return k.pages[p].flags&pageStale != 0 && k.adapterOf(region).domain()
}
