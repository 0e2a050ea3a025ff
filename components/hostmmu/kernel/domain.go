package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// busAddress is what a table entry of an adapter holds for the first byte of a
// page: the frame's address, or in the DMA domain the process address, which
// serves as IOVA.
func (k *Kernel) busAddress(a *adapter, p, frame uint32) model.PA {
	if a.domain() {
		return model.PA(k.vaOf(p))
	}
	return msg.FramePA(frame, k.shift)
}

// mapDMA puts a resident page into the DMA domain, for both directions
// ([Linux] umem_odp.c).
func (k *Kernel) mapDMA(p uint32) {
	pg := &k.pages[p]
	const flags = pagetable.User | pagetable.Write | accessed | dirty // an IOMMU that sets no such bits asks for them
	if err := k.dma.Map(k.vaOf(p), msg.FramePA(pg.frame, k.shift), k.shift, flags); err != nil {
		k.Stats.TableErrors++
	}
	pg.flags |= pageDMA
	k.Stats.DMAMaps++
}

// mapTime is what mapping a run of pages for the DMA of an adapter takes.
func (k *Kernel) mapTime(a *adapter, first, count uint32) (d clocked.Time) {
	for p := first; p < first+count && a.domain(); p++ {
		if k.pages[p].flags&pageDMA == 0 {
			d += k.spec.DMA.Map
		}
	}
	return d
}

// enterDomain puts a run of pages into the DMA domain if the adapter uses it. A
// page whose last unmapping is not flushed yet is not mapped again before that,
// else the adapter would still reach the old frame: it is returned, for the
// caller to wait for. Else NoPage is.
func (k *Kernel) enterDomain(a *adapter, first, count uint32) (stale uint32) {
	for p := first; p < first+count && a.domain(); p++ {
		switch flags := k.pages[p].flags; {
		case flags&pageStale != 0:
			k.flushLazy()
			return p
		case flags&pageDMA == 0:
			k.mapDMA(p)
		}
	}
	return msg.NoPage
}

// unmapDMA takes a page out of the DMA domain; the IOTLB is the caller's.
func (k *Kernel) unmapDMA(p uint32) {
	if _, _, err := k.dma.Unmap(k.vaOf(p)); err != nil {
		k.Stats.TableErrors++
	}
	k.pages[p].flags &^= pageDMA
	k.Stats.DMAUnmaps++
}

// flushedPages: the IOTLB was flushed for so many pages that had left the DMA
// domain that long before.
func (k *Kernel) flushedPages(window clocked.Time, pages int) {
	for ; pages > 0 && k.config.OnFlushed != nil; pages-- {
		k.config.OnFlushed(window)
	}
}

// lazyQueue holds the pages that left the DMA domain and whose flush was put
// off. Their frames serve others already: that is the price of the mode.
type lazyQueue struct {
	pages    clocked.FIFO[lazyPage]
	flushing int // of them, the eldest, whose flush is under way
	again    bool
	armed    bool
}

type lazyPage struct {
	page uint32
	at   clocked.Time
}

// DeferredStale tells whether DMA that means a page and reaches a frame uses a
// translation that left the DMA domain and whose flush is still to come: the
// price of the mode. It does not while that frame holds the page and its content
// has not begun to leave.
func (k *Kernel) DeferredStale(p, frame uint32) bool {
	pg := &k.pages[p]
	if pg.flags&pageStale == 0 {
		return false
	}
	holds := pg.state == pageResident || pg.state == pageEvicting && k.evictions.items[k.frames[pg.frame].evict].phase < evictContent
	return !holds || pg.frame != frame
}

// putOff adds a page to those to be flushed later.
func (k *Kernel) putOff(now clocked.Time, p uint32) {
	k.pages[p].flags |= pageStale
	*k.lazy.pages.Push() = lazyPage{p, now}
	if k.lazy.pages.Len()-k.lazy.flushing >= k.config.FlushCount {
		k.flushLazy()
	} else if !k.lazy.armed {
		k.lazy.armed = true
		k.after(now, k.config.FlushTime, refer(actorLazy, 0))
	}
}

// lazyDue flushes when the eldest page has waited long enough.
func (k *Kernel) lazyDue(now clocked.Time) {
	q := &k.lazy
	q.armed = false
	if q.pages.Len() == q.flushing {
		return
	}
	due := q.pages.At(q.pages.Head()+uint32(q.flushing)).at + k.config.FlushTime
	if due <= now {
		k.flushLazy()
		return
	}
	q.armed = true
	k.timers.set(due, refer(actorLazy, 0))
}

// flushLazy flushes the whole DMA domain for all pages put off. While a flush
// is under way the next one waits for it.
func (k *Kernel) flushLazy() {
	q := &k.lazy
	if q.flushing > 0 {
		q.again = true
		return
	}
	q.flushing = q.pages.Len()
	k.Stats.LazyFlushes++
	k.submit(msg.IOMMUCommand{Op: msg.IOTLBInvalidate})
	k.submit(msg.IOMMUCommand{Op: msg.Fence, Owner: uint32(refer(actorLazy, 0))})
}

// lazyFlushed: no IOTLB knows the pages any more; who waited to map one may.
func (k *Kernel) lazyFlushed(now clocked.Time) {
	q := &k.lazy
	for ; q.flushing > 0; q.flushing-- {
		l := q.pages.Pop()
		k.flushedPages(now-l.at, 1)
		k.pages[l.page].flags &^= pageStale
		k.wake(now, l.page)
	}
	if q.again {
		q.again = false
		k.flushLazy()
	} else if q.pages.Len() > 0 {
		k.lazyDue(now)
	}
}
