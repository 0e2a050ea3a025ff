package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// Remap is the process unmapping a dynamic region's memory and mapping fresh
// memory at the same addresses. Adapters that bring pages in on demand are
// told. A registration that pins is not: it keeps the old frames, until it is
// deregistered, and its peers go on reaching them. It tells whether it could:
// the region's pages must be held by nobody, and no region over them be
// registered for good or have a change under way. It is called like Protect.
func (k *Kernel) Remap(now clocked.Time, region int) bool {
	if region < 0 || region >= len(k.regions) || !k.regions[region].Dynamic {
		return false
	}
	r := &k.regions[region]
	first, count := r.FirstPage, k.pagesOf(r)
	for p := first; p < first+count; p++ {
		if !k.remappable(now, p) {
			return false
		}
	}
	for p := first; p < first+count; p++ {
		if k.pages[p].flags&pagePinned != 0 {
			k.orphan(p)
		}
	}
	k.discard(now, first, count)
	k.Stats.Remaps++
	k.nudge(now)
	return true
}

func (k *Kernel) remappable(now clocked.Time, p uint32) bool {
	pg, s := &k.pages[p], k.segmentOf(p)
	for _, region := range s.regions {
		d := &k.registrar.regions[region]
		if d.phase != regionRest || d.pinned && (k.static(region) || k.adapterOf(region).domain() && pg.mapped&s.bit(region) != 0) {
			return false
		}
	}
	return pg.state == pageAbsent || pg.steady() && pg.holds == 0 && k.spared(now, p) == 0
}

// orphan hands a page's pins over to its frame.
func (k *Kernel) orphan(p uint32) {
	g, pg, s := &k.registrar, &k.pages[p], k.segmentOf(p)
	for _, region := range s.regions {
		d, bit := &g.regions[region], s.bit(region)
		if d.pinned && pg.mapped&bit != 0 {
			d.orphans = append(d.orphans, pg.frame)
			g.orphans[pg.frame]++
			pg.mapped &^= bit
			pg.writable &^= bit
		}
	}
	g.pins[p] = 0
	pg.flags &^= pagePinned
	k.link(pg.frame)
}

// remapped notes that a run of pages is another mapping from now on, and gives
// notice to software that has registered some of it.
func (k *Kernel) remapped(first, count uint32) {
	for i := range k.regions {
		r, d := &k.regions[i], &k.registrar.regions[i]
		if !r.Dynamic || r.FirstPage >= first+count || r.FirstPage+k.pagesOf(r) <= first {
			continue
		}
		d.allocation++
		if d.state != regionNone && !d.noticed {
			d.noticed = true
			*k.registrar.out.Push() = msg.Registered{Op: msg.RegionUnmapped, Region: i, Allocation: d.allocation}
		}
	}
}

// vanishing is what memory is told of a frame whose page is given up.
func (k *Kernel) vanishing(f uint32) msg.PageOpKind {
	if k.registrar.orphans[f] > 0 {
		return msg.PageOrphan
	}
	return msg.PageDiscard
}

// vanished: the next touch of the page finds zeros.
func (k *Kernel) vanished(now clocked.Time, p uint32) {
	pg := &k.pages[p]
	pg.state, pg.frame, pg.evicted = pageAbsent, noFrame, 0
	pg.flags &^= slotValid
	k.Stats.Unmapped++
	k.wake(now, p)
}

// handOn gives a frame that its page has left to who has a claim on it, or
// makes it free.
func (k *Kernel) handOn(now clocked.Time, f, p uint32, v *eviction) {
	pg := &k.pages[p]
	shared := v.trigger == measure.TriggerUnmap && pg.flags&pageShared != 0
	if shared {
		pg.flags &^= pageShared
	}
	switch {
	case v.trigger == measure.TriggerUnmap && k.registrar.orphans[f] > 0:
		k.letFrame(f)
	case v.trigger == measure.TriggerCOW:
		k.inherit(f)
		k.child.busy--
		k.exit(now)
	case shared:
		k.inherit(f)
	default:
		k.frameFree(now, f)
	}
}
