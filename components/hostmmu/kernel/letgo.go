package kernel

import (
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// review goes on with regions whose key is dead, once nothing uses them, and
// tells whether it did with one.
func (k *Kernel) review(now clocked.Time) (done bool) {
	for region := 0; k.registrar.quiet > 0 && region < len(k.regions); region++ {
		d := &k.registrar.regions[region]
		if d.phase != regionQuiet || k.inUse(region) {
			continue
		}
		k.registrar.quiet--
		done = true
		if k.mappedPages(region) == 0 && len(d.orphans) == 0 {
			k.cleared(now, region)
			continue
		}
		r := &k.regions[region]
		d.phase = regionClear
		k.order(now, region, msg.Command{Op: msg.CmdInvalidate, Entry: r.FirstEntry,
			Count: uint32(k.adapterOf(region).shift.Span(r.VA, r.Length))})
	}
	return done
}

// inUse tells whether a fault or prefetch of a region, or an invalidation of
// one of its pages, has still to do with its table.
func (k *Kernel) inUse(region int) bool {
	r := &k.regions[region]
	for _, j := range k.jobs.items {
		if j.live && (j.region == r || slices.ContainsFunc(j.asks, func(a ask) bool { return !a.refused && a.region == region })) {
			return true
		}
	}
	for _, f := range k.prefetches.items {
		if f.live && f.region == region {
			return true
		}
	}
	first, end := r.FirstPage, r.FirstPage+k.pagesOf(r)
	for _, v := range k.evictions.items {
		if v.live && v.first < end && v.first+v.count > first && (v.phase <= evictCommands || k.suspends(v, r)) {
			return true
		}
	}
	return k.registrar.unmapping > 0
}

// suspends tells whether an eviction has suspended entries of a region.
func (k *Kernel) suspends(v *eviction, r *Region) bool {
	return slices.ContainsFunc(v.slots[:v.tables], func(s *notice) bool { return s.region == r && k.suspended(s) })
}

// mappedPages counts the pages in a region's table.
func (k *Kernel) mappedPages(region int) (n clocked.Time) {
	r := &k.regions[region]
	for p := r.FirstPage; p < r.FirstPage+k.pagesOf(r); p++ {
		if k.pages[p].mapped&k.segmentOf(p).bit(region) != 0 {
			n++
		}
	}
	return n
}

// cleared: no adapter reaches the memory of a region. Software unmaps it.
func (k *Kernel) cleared(now clocked.Time, region int) {
	d := clocked.Time(0)
	if k.adapterOf(region).domain() {
		d = k.mappedPages(region) * k.spec.DMA.Unmap
	}
	k.registrar.regions[region].phase = regionUnmap
	k.after(now, d, refer(actorRegion, region))
}

// letGoRegion takes the pages of a region out of the DMA domain, where no other
// region needs them there. What peers might have stored to must go to swap one
// day.
func (k *Kernel) letGoRegion(now clocked.Time, region int) {
	r, d := &k.regions[region], &k.registrar.regions[region]
	d.departed, d.departure = 0, now
	for p := r.FirstPage; p < r.FirstPage+k.pagesOf(r); p++ {
		pg, bit := &k.pages[p], k.segmentOf(p).bit(region)
		if pg.mapped&bit == 0 {
			continue
		}
		if pg.writable&bit != 0 {
			k.frames[pg.frame].dirty = true
		}
		k.mapOut(now, p, bit)
		pg.writable &^= bit
		d.leaving = append(d.leaving, p)
		if k.adapterOf(region).domain() && pg.flags&pageDMA != 0 && !k.inDomain(p) {
			k.unmapDMA(p)
			if k.config.FlushCount > 0 {
				k.putOff(now, p)
			} else {
				d.departed++
			}
		}
	}
	if d.departed == 0 {
		k.domainFlushed(now, region)
		return
	}
	d.phase = regionFlush
	k.submit(k.flushRange(0, r.FirstPage, k.pagesOf(r), nil))
	k.submit(msg.IOMMUCommand{Op: msg.Fence, Owner: uint32(refer(actorRegion, region))})
}

// inDomain tells whether the table of an adapter holds a page's address in the
// DMA domain.
func (k *Kernel) inDomain(p uint32) bool {
	s := k.segmentOf(p)
	return slices.ContainsFunc(s.regions, func(r int) bool { return k.pages[p].mapped&s.bit(r) != 0 && k.adapterOf(r).domain() })
}

// domainFlushed: what a region has given up is unpinned, in software's time.
func (k *Kernel) domainFlushed(now clocked.Time, region int) {
	d := &k.registrar.regions[region]
	k.flushedPages(now-d.departure, d.departed)
	d.phase = regionUnpin
	k.after(now, clocked.Time(len(d.leaving)+len(d.orphans))*k.spec.Registration.Unpin, refer(actorRegion, region))
}

// unpinRegion gives up the pages and frames of a region.
func (k *Kernel) unpinRegion(now clocked.Time, region int) {
	g := &k.registrar
	d := &g.regions[region]
	for _, p := range d.leaving {
		if d.pinned {
			k.unpinPage(p)
		}
	}
	for _, f := range d.orphans {
		k.Stats.UnpinnedPages++
		if g.orphans[f]--; g.orphans[f] == 0 {
			delete(g.orphans, f)
			g.pinned--
			*k.ops.Push() = msg.PageOp{Kind: msg.PageFree, Frame: f, Page: msg.NoPage, Cookie: uint64(refer(actorOrphan, int(f)))}
		}
	}
	d.leaving, d.orphans = d.leaving[:0], d.orphans[:0]
	k.end(now, region)
}

// unpinPage ends one registration's pin of a page.
func (k *Kernel) unpinPage(p uint32) {
	g, pg := &k.registrar, &k.pages[p]
	k.Stats.UnpinnedPages++
	if g.pins[p]--; g.pins[p] > 0 {
		return
	}
	g.pinned--
	pg.flags &^= pagePinned
	k.link(pg.frame)
	k.changed = true
}
