package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// lru is the policy by recency; else it is the clock.
const lru = "lru"

// reclaim starts as many evictions as the faults that wait for a frame and the
// watermarks ask for, and tells whether it started one.
func (k *Kernel) reclaim(now clocked.Time) (started bool) {
	need := k.need()
	if need <= 0 || !k.changed && now < k.retryAt {
		return false
	}
	for need > 0 && k.evictions.used < k.spec.Pager.Parallel {
		f, ok := k.victim(now)
		if !ok {
			return started
		}
		need -= int(k.evict(now, f))
		started = true
	}
	return started
}

// need is how many more pages should be on their way out.
func (k *Kernel) need() int {
	free := len(k.free)
	if !k.background && free < k.low && k.resident > 0 {
		k.background = true
		k.Stats.Wakeups++
	}
	if k.background && free >= k.high {
		k.background = false
	}
	need := k.frameWaiters.Len()
	if k.background {
		need = max(need, k.high-free)
	}
	return need - k.evicting
}

// victim chooses a frame by the policy. When every page must stay, it is asked
// again when one is released or the first grace time ends.
func (k *Kernel) victim(now clocked.Time) (f uint32, ok bool) {
	k.changed, k.retryAt = false, clocked.Never
	if k.spec.Pager.Policy == lru {
		f, ok = k.leastRecent(now)
	} else {
		f, ok = k.secondChance(now)
	}
	if ok {
		k.changed = true
	} else if k.retryAt != clocked.Never && k.retryAt != k.armedAt {
		k.armedAt = k.retryAt
		k.timers.set(k.retryAt, refer(actorReclaim, 0))
	}
	return f, ok
}

func (k *Kernel) leastRecent(now clocked.Time) (uint32, bool) {
	for f := k.oldest; f != noFrame; f = k.frames[f].next {
		if k.evictable(now, f) {
			return f, true
		}
	}
	return 0, false
}

// secondChance turns the list under the clock's hand: a page with its accessed
// bit set loses the bit and goes round again. After two turns every bit was
// clear once.
func (k *Kernel) secondChance(now clocked.Time) (uint32, bool) {
	for range 2 * k.listed {
		f := k.oldest
		if k.evictable(now, f) {
			p := k.frames[f].page
			if !k.untouch(p) {
				return f, true
			}
			if k.spec.Pager.FlushOnClear {
				k.flushAccessed(p)
			}
		}
		k.touch(f)
	}
	return 0, false
}

// flushAccessed has adapters and the IOMMU forget a page whose accessed bit was
// cleared, so that its next use sets the bit. Nobody waits: until then the page
// may look idle.
func (k *Kernel) flushAccessed(p uint32) {
	flushed := false
	for _, r := range k.segmentOf(p).regions {
		a := &k.adapters[k.regions[r].Adapter]
		if !a.walks() {
			continue
		}
		if !flushed {
			flushed = true
			k.Stats.AccessFlushes++
			k.submitAlone(k.flushRange(PASID, p, 1, nil))
		}
		if a.config.Scheme == SVA && a.state == adapterAlive {
			k.submitAlone(msg.IOMMUCommand{Op: msg.DevTLBInvalidate, Adapter: uint16(k.regions[r].Adapter), PASID: PASID,
				First: k.vaOf(p), Len: k.shift.Bytes()})
		}
	}
}

// evictable tells whether nothing needs the page in a frame where it is. When
// only its grace keeps it, that is noted.
func (k *Kernel) evictable(now clocked.Time, f uint32) bool {
	p := k.frames[f].page
	if p == msg.NoPage {
		return false
	}
	if until := k.spared(now, p); until > 0 && k.settled(until, p) {
		k.retryAt = min(k.retryAt, until)
	}
	return k.settled(now, p)
}

// evict starts the eviction of the page in a frame and of neighbours that may
// go with it, and returns how many pages that is.
func (k *Kernel) evict(now clocked.Time, f uint32) uint32 {
	p := k.frames[f].page
	end := min(k.segmentOf(p).end, p+uint32(k.spec.Pager.Batch))
	q := p + 1
	for q < end && k.pages[q].state == pageResident && k.evictable(now, k.pages[q].frame) && !k.accessedBit(q) {
		q++
	}
	k.invalidate(now, p, q-p, measure.TriggerEvict)
	return q - p
}

// frameFree gives a frame to the fault that has waited longest, or to the free
// list.
func (k *Kernel) frameFree(now clocked.Time, f uint32) {
	k.frames[f].page = msg.NoPage
	k.frames[f].until = 0
	k.transit--
	k.free = append(k.free, f)
	if k.frameWaiters.Len() > 0 {
		k.gotFrame(now, k.frameWaiters.Pop())
	}
}
