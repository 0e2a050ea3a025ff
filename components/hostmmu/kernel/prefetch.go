package kernel

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
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
