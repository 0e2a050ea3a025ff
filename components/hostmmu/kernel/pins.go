package kernel

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
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
		// A pin breaks sharing with a child first, also where peers only read:
		// else the next store would leave the registration the child's frame.
		write := r.Writable || k.pages[p].flags&pageShared != 0
		if n > 0 && !k.usable(p, write) {
			break // its fault comes after the time of those before it
		}
		if !k.ensure(now, p, write, byRegistration) {
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
	return pg.steady() && (!write || pg.flags&pageShared == 0 && k.storable(p))
}

// steady tells whether a page is resident and no CPU fault changes it.
func (pg *page) steady() bool {
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
		r := &k.regions[region]
		if k.mappedPages(region) == 0 && len(d.orphans) == 0 {
			d.phase = regionLetGo
			k.after(now, k.spec.Notifier.Unmap, refer(actorRegion, region))
			continue
		}
		d.phase = regionClear
		k.order(region, msg.Command{Op: msg.CmdInvalidate, Entry: r.FirstEntry,
			Count: uint32(k.adapters[r.Adapter].shift.Span(r.VA, r.Length))})
	}
	return done
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

// wakeRegions lets registrations that wait for a page look again.
func (k *Kernel) wakeRegions(now clocked.Time, p uint32) {
	for region := 0; k.registrar.changing > 0 && region < len(k.regions); region++ {
		if d := &k.registrar.regions[region]; d.waits == p {
			d.waits = msg.NoPage
			k.after(now, 0, refer(actorRegion, region))
		}
	}
}
