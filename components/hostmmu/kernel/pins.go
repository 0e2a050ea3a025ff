package kernel

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// promise sets frames aside for a registration: for all of its pages or none.
// A page counts as pinned once, however many registrations pin it.
func (k *Kernel) promise(region int) error {
	g, r := &k.registrar, &k.regions[region]
	first, end := r.FirstPage, r.FirstPage+k.pagesOf(r)
	need := 0
	for p := first; p < end; p++ {
		if g.pins[p] == 0 {
			need++
		}
	}
	spare := 2 // a fault may need as many at once
	if g.pinned+need >= len(k.pages) {
		spare = 0 // nothing is left to fault
	}
	if have := len(k.frames) - g.pinned - spare; need > have {
		return &Refused{fmt.Sprintf("host.memory: %d pages of %s to pin, %d of %d frames can be: raise host.memory or use scheme odp", need, k.spec.Page, max(0, have), len(k.frames))}
	}
	for p := first; p < end; p++ {
		g.pins[p]++
	}
	g.pinned += need
	return nil
}

// pinPages brings the pages of a region in, in order, and pins them. What is
// there already is pinned in runs, a CPU fault is awaited.
func (k *Kernel) pinPages(now clocked.Time, region int) {
	const run = 64 // pages between two looks at the clock
	r, d := &k.regions[region], &k.registrar.regions[region]
	end := r.FirstPage + k.pagesOf(r)
	n := clocked.Time(0)
	for d.next < end && n < run {
		p := d.next
		if n > 0 && !k.usable(p, r.Writable) {
			break // its fault comes after the time of those before it
		}
		if !k.ensure(now, p, r.Writable, byRegistration) {
			d.waits = p
			return
		}
		k.pinPage(p)
		d.next++
		n++
	}
	if n > 0 {
		k.after(now, n*(k.spec.Registration.Page+k.spec.Registration.Map), refer(actorRegion, region))
		return
	}
	d.written = r.FirstPage
	k.writeTable(region)
}

// usable tells whether a page is there with the right wanted.
func (k *Kernel) usable(p uint32, write bool) bool {
	pg := &k.pages[p]
	return k.stillOrPinned(pg) && (!write || pg.flags&pageShared == 0 && k.storable(p))
}

func (k *Kernel) stillOrPinned(pg *page) bool {
	return pg.state == pageResident && pg.flags&pageUpgrading == 0
}

func (k *Kernel) pinPage(p uint32) {
	pg := &k.pages[p]
	if pg.flags&pagePinned == 0 {
		pg.flags |= pagePinned
		k.unlink(pg.frame)
	}
	k.Stats.PinnedPages++
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

// writeTable writes the next chunk of a pinned region's table; after the last,
// the key.
func (k *Kernel) writeTable(region int) {
	r, d := &k.regions[region], &k.registrar.regions[region]
	if d.written == d.next {
		k.register(region)
		return
	}
	s := k.segmentOf(d.written)
	most := max(1, uint32(k.spec.Command.Chunk>>(k.shift-k.adapters[r.Adapter].shift)))
	n := min(most, s.end-d.written, d.next-d.written)
	c := msg.Command{PA: d.cmd.PA[:0]}
	k.encode(&c, r, s.bit(region), d.written, n, r.Writable)
	d.phase = regionTable
	d.written += n
	k.order(region, c)
}

// review goes on with regions whose key is dead, once nothing uses them.
func (k *Kernel) review(now clocked.Time) {
	for region := 0; k.registrar.quiet > 0 && region < len(k.regions); region++ {
		d := &k.registrar.regions[region]
		if d.phase != regionQuiet || k.inUse(region) {
			continue
		}
		k.registrar.quiet--
		r := &k.regions[region]
		if k.mappedPages(region) == 0 && len(d.orphans) == 0 {
			d.phase = regionLetGo
			k.after(now, k.spec.Notifier.Unmap, refer(actorRegion, region))
			k.engine.Wake(k.id, now+1)
			continue
		}
		d.phase = regionClear
		k.order(region, msg.Command{Op: msg.CmdInvalidate, Entry: r.FirstEntry,
			Count: uint32(k.adapters[r.Adapter].shift.Span(r.VA, r.Length))})
	}
}

// inUse tells whether a fault or prefetch of a region, or an invalidation of
// one of its pages, has still to do with its table.
func (k *Kernel) inUse(region int) bool {
	r := &k.regions[region]
	for _, j := range k.jobs.items {
		if j.live && j.region == r {
			return true
		}
	}
	for _, f := range k.prefetches.items {
		if f.live && f.region == region {
			return true
		}
	}
	first, end := r.FirstPage, r.FirstPage+k.pagesOf(r)
	for _, v := range k.evictions.items { // those that have ended are in a later phase
		if v.phase <= evictCommands && v.first < end && v.first+v.count > first {
			return true
		}
	}
	return k.registrar.unmapping > 0
}

// mappedPages counts the pages in a region's table.
func (k *Kernel) mappedPages(region int) (n clocked.Time) {
	r := &k.regions[region]
	for p := r.FirstPage; p < r.FirstPage+k.pagesOf(r); p++ {
		if k.mappedAs(region, p, false) {
			n++
		}
	}
	return n
}

func (k *Kernel) letGoTime(region int) clocked.Time {
	n := k.mappedPages(region) + clocked.Time(len(k.registrar.regions[region].orphans))
	return k.spec.Notifier.Unmap + n*k.spec.Registration.Unpin
}

// letGoRegion gives up the pages and frames of a region that no adapter
// reaches. What peers might have stored to must go to swap one day.
func (k *Kernel) letGoRegion(now clocked.Time, region int) {
	g, r := &k.registrar, &k.regions[region]
	d := &g.regions[region]
	for p := r.FirstPage; p < r.FirstPage+k.pagesOf(r); p++ {
		pg, bit := &k.pages[p], k.segmentOf(p).bit(region)
		if pg.mapped&bit == 0 {
			continue
		}
		if pg.writable&bit != 0 {
			k.frames[pg.frame].dirty = true
		}
		pg.mapped &^= bit
		pg.writable &^= bit
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
	d.orphans = d.orphans[:0]
	k.end(now, region)
}

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
		if !k.remappable(p) {
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

func (k *Kernel) remappable(p uint32) bool {
	for _, region := range k.segmentOf(p).regions {
		d := &k.registrar.regions[region]
		if d.phase != regionRest || d.pinned && !k.regions[region].Dynamic {
			return false
		}
	}
	pg := &k.pages[p]
	return pg.state == pageAbsent || k.stillOrPinned(pg) && pg.holds == 0
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
	pg.state, pg.frame = pageAbsent, noFrame
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

// wakeRegions lets registrations that wait for a page look again.
func (k *Kernel) wakeRegions(now clocked.Time, p uint32) {
	for region := 0; k.registrar.changing > 0 && region < len(k.regions); region++ {
		if d := &k.registrar.regions[region]; d.waits == p {
			d.waits = msg.NoPage
			k.after(now, 0, refer(actorRegion, region))
		}
	}
}
