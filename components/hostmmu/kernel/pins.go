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
		return &Refused{Pages: uint64(need), Reason: fmt.Sprintf("host.memory: %d pages of %s to pin, %d of %d frames can be: raise host.memory or use scheme odp", need, k.spec.Page, max(0, have), len(k.frames))}
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
	start, end := d.next, r.FirstPage+k.pagesOf(r)
	for d.next < end && d.next < start+run {
		p := d.next
		// A pin breaks sharing with a child first, also where peers only read:
		// else the next store would leave the registration the child's frame.
		write := r.Writable || k.pages[p].flags&pageShared != 0
		if p > start && !k.usable(p, write) {
			break // its fault comes after the time of those before it
		}
		if !k.ensure(now, p, write, byRegistration) {
			d.waits = p
			return
		}
		k.pinPage(p)
		d.next++
	}
	if n := d.next - start; n > 0 {
		k.after(now, clocked.Time(n)*k.spec.Registration.Page+k.mapTime(k.adapterOf(region), start, n), refer(actorRegion, region))
		return
	}
	d.written = r.FirstPage
	d.phase = regionTable
	k.writeTable(now, region)
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

// writeTable writes the next chunk of a pinned region's table; after the last,
// the key.
func (k *Kernel) writeTable(now clocked.Time, region int) {
	r, d := &k.regions[region], &k.registrar.regions[region]
	if d.written == d.next {
		k.register(now, region)
		return
	}
	a, s := k.adapterOf(region), k.segmentOf(d.written)
	most := max(1, uint32(k.spec.Command.Chunk>>(k.shift-a.shift)))
	n := min(most, s.end-d.written, d.next-d.written)
	if d.waits = k.enterDomain(a, d.written, n); d.waits != msg.NoPage {
		return
	}
	c := msg.Command{PA: d.cmd.PA[:0]}
	k.encode(&c, r, s.bit(region), d.written, n, r.Writable)
	d.written += n
	k.order(now, region, c)
}

// unpinned is the number of frames that pages can come into and go from.
func (k *Kernel) unpinned() uint32 { return uint32(len(k.frames) - k.registrar.pinned) }

// wakeRegions lets registrations that wait for a page look again.
func (k *Kernel) wakeRegions(now clocked.Time, p uint32) {
	for region := 0; k.registrar.changing > 0 && region < len(k.regions); region++ {
		if d := &k.registrar.regions[region]; d.waits == p {
			d.waits = msg.NoPage
			k.after(now, 0, refer(actorRegion, region))
		}
	}
}
