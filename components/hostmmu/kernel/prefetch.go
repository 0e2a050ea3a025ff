package kernel

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// Users of CPU faults besides those of pagein.go.
const (
	byPrefetch user = 8 + iota
	byRegistration
)

// PrefetchStats count prefetches, asked for or following faults.
type PrefetchStats struct {
	Prefetches        uint64 // ended
	PrefetchesDropped uint64 // because the queue was full
	PrefetchedPages   uint64 // whose entries were filled
	PrefetchFaults    uint64 // of those pages, brought in or made storable for it
	PrefetchesMissed  uint64 // pages left absent: no free frame, or taken away meanwhile
}

type prefetchPhase uint8

const (
	prefetchCollect prefetchPhase = iota // makes pages present, a run at a time
	prefetchUpdate                       // checks the sequence and writes the table
	prefetchFill                         // the command is out
)

// prefetchRun is the longest run of pages that one command of a prefetch fills.
// Pages within that it does not want, or cannot have, keep their entries.
const prefetchRun = 64

// prefetch fills table entries before they are asked for. It holds no page
// while it waits for one, takes no frame that a fault waits for, and nobody
// waits for it but who asked.
type prefetch struct {
	region  int
	advice  Advice
	live    bool
	told    bool // OnPrefetched is
	phase   prefetchPhase
	at, end uint32 // pages not yet looked at
	first   uint32
	held    uint64 // of the run: bit n is page first+n
	write   bool   // of the run
	seqs    [prefetchRun]uint32
	waits   uint32 // page, or msg.NoPage
	filled  uint32
	missed  uint32
	owner   ref     // a change of a region, or actorNobody
	child   key.Key // of an implicit region, which the run uses
	cmd     msg.Command
}

// prefetch starts on a run of a region's pages.
func (k *Kernel) prefetch(now clocked.Time, region int, advice Advice, first, count uint32, told bool) *prefetch {
	i := k.prefetches.get()
	f := k.prefetches.items[i]
	*f = prefetch{region: region, advice: advice, live: true, told: told, at: first, end: first + count, waits: msg.NoPage,
		owner: refer(actorNobody, 0), cmd: msg.Command{PA: f.cmd.PA[:0]}}
	k.after(now, k.spec.Fault.Driver, refer(actorPrefetch, i))
	return f
}

func (k *Kernel) stepPrefetch(now clocked.Time, i int) {
	if k.prefetches.items[i].phase == prefetchUpdate {
		k.updatePrefetch(now, i)
	} else {
		k.collect(now, i)
	}
}

// What a look at a page for a prefetch comes to.
type look uint8

const (
	lookTake look = iota // present with the right wanted
	lookPass             // nothing to do
	lookMiss             // wanted, and left alone
	lookWait             // a CPU fault works on it
)

// collect holds a run of pages that are present one after the other.
func (k *Kernel) collect(now clocked.Time, i int) {
	f := k.prefetches.items[i]
	for f.at < f.end && (f.held == 0 || f.at-f.first < prefetchRun) {
		p := f.at
		if f.held != 0 && p == k.segmentOf(f.first).end {
			break
		}
		seen := k.lookAt(now, f, p)
		if f.held != 0 && (seen == lookWait || seen == lookTake && k.prefetchesStore(f, p) != f.write) {
			break // with nothing in hand it is looked at again
		}
		if seen == lookWait {
			f.waits = p
			return
		}
		f.at++
		switch seen {
		case lookMiss:
			f.missed++
		case lookTake:
			k.keep(f, p)
		}
	}
	if f.held == 0 {
		k.endPrefetch(now, i)
		return
	}
	f.phase = prefetchUpdate
	d := k.spec.Fault.Update + clocked.Time(f.pages()-1)*k.spec.Fault.DriverPage
	for held := f.held; held != 0; held &= held - 1 {
		d += k.mapTime(k.adapterOf(f.region), f.first+lowest(held), 1)
	}
	k.after(now, d, refer(actorPrefetch, i))
}

// keep holds a page of the run.
func (k *Kernel) keep(f *prefetch, p uint32) {
	if f.held == 0 {
		f.first, f.write = p, k.prefetchesStore(f, p)
	}
	f.seqs[p-f.first] = k.pages[p].seq
	f.held |= 1 << (p - f.first)
	k.hold(p)
}

// pages counts the pages of the run that are held.
func (f *prefetch) pages() uint32 { return uint32(bits.OnesCount64(f.held)) }

// lowest is the number of the lowest bit set.
func lowest(set uint64) uint32 { return uint32(bits.TrailingZeros64(set)) }

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

// updatePrefetch writes the table, save where something was taken away since the
// pages were looked at, or somebody else has filled it: a prefetch neither brings
// back what has gone nor takes a right from what a fault has filled.
func (k *Kernel) updatePrefetch(now clocked.Time, i int) {
	f := k.prefetches.items[i]
	for held := f.held; held != 0; held &= held - 1 {
		if n := lowest(held); !k.fresh(f, n) {
			f.missed++
			f.held &^= 1 << n
			k.release(f.first + n)
		}
	}
	if f.held == 0 {
		f.phase = prefetchCollect
		k.collect(now, i)
		return
	}
	r := &k.regions[f.region]
	f.child = k.enter(now, r)
	k.encodeRun(i)
	f.phase = prefetchFill
	k.send(now, &f.cmd)
	k.publish(now, r)
}

// encodeRun makes the command that fills the entries of the pages held, from the
// first to the last of them.
func (k *Kernel) encodeRun(i int) {
	f := k.prefetches.items[i]
	r, a := &k.regions[f.region], k.adapterOf(f.region)
	first, last := f.first+lowest(f.held), f.first+uint32(bits.Len64(f.held))-1
	f.cmd = msg.Command{Owner: uint32(refer(actorPrefetch, i)), PA: f.cmd.PA[:0]}
	k.begin(&f.cmd, r, first, f.write)
	for p := first; p <= last; p++ {
		if f.held&(1<<(p-f.first)) == 0 {
			_, n, _ := k.entriesOf(r, p)
			for range n {
				f.cmd.PA = append(f.cmd.PA, msg.KeepEntry)
			}
			continue
		}
		k.enterDomain(a, p, 1) // it is not stale
		k.add(&f.cmd, r, k.segmentOf(p).bit(f.region), p, f.write)
	}
	f.cmd.Count = uint32(len(f.cmd.PA))
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

// encode makes the command that fills a region's entries of a run of resident
// pages under the same regions, which count as mapped from now on under the
// region's bit.
func (k *Kernel) encode(c *msg.Command, r *Region, bit uint16, first, count uint32, write bool) {
	k.begin(c, r, first, write)
	for p := first; p < first+count; p++ {
		k.add(c, r, bit, p, write)
	}
	c.Count = uint32(len(c.PA))
}

// begin makes an empty fill of a region's entries from those of a page on.
func (k *Kernel) begin(c *msg.Command, r *Region, first uint32, write bool) {
	c.Op, c.Adapter, c.Write = msg.CmdFill, uint16(r.Adapter), write
	c.Entry, _, _ = k.entriesOf(r, first)
}

// add adds the entries of the next page to a fill.
func (k *Kernel) add(c *msg.Command, r *Region, bit uint16, p uint32, write bool) {
	a, pg := &k.adapters[r.Adapter], &k.pages[p]
	_, n, skip := k.entriesOf(r, p)
	for e := range n {
		c.PA = append(c.PA, k.busAddress(a, p, pg.frame)+skip+model.PA(e)<<a.shift)
	}
	k.mapIn(r, bit, p)
	if write {
		pg.writable |= bit
	}
}

// prefetched: the table has the run, or the adapter was cut off.
func (k *Kernel) prefetched(now clocked.Time, i int, timedOut bool) {
	f := k.prefetches.items[i]
	pages := f.pages()
	k.leave(now, k.regions[f.region].Adapter, f.child)
	f.child = 0
	for ; f.held != 0; f.held &= f.held - 1 {
		k.release(f.first + lowest(f.held))
	}
	if timedOut {
		rest := *f
		rest.missed += pages + f.end - f.at
		rest.cmd = msg.Command{}
		k.prefetches.items[i] = &rest // the adapter may still write to the old command
		k.endPrefetch(now, i)
		return
	}
	f.filled += pages
	f.phase = prefetchCollect
	k.collect(now, i)
}

func (k *Kernel) endPrefetch(now clocked.Time, i int) {
	f := k.prefetches.items[i]
	f.live = false
	k.prefetches.put(i)
	if f.owner.actor() == actorRegion {
		k.after(now, 0, f.owner)
		return
	}
	k.Stats.Prefetches++
	k.Stats.PrefetchedPages += uint64(f.filled)
	k.Stats.PrefetchesMissed += uint64(f.missed)
	if f.told && k.config.OnPrefetched != nil {
		k.config.OnPrefetched(f.region, f.filled, f.missed)
	}
}

// wakePrefetches lets prefetches that wait for a page look again.
func (k *Kernel) wakePrefetches(now clocked.Time, p uint32) {
	if k.prefetches.used == 0 {
		return
	}
	for i, f := range k.prefetches.items {
		if f.waits == p && f.live {
			f.waits = msg.NoPage
			k.after(now, 0, refer(actorPrefetch, i))
		}
	}
}
