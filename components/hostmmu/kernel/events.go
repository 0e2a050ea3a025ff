package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// EventStats count what the kernel does to pages besides paging. Pages are
// counted where nothing else is said.
type EventStats struct {
	Migrations             uint64
	Protected, Unprotected uint64
	Forks, Exits           uint64 // children
	Shared                 uint64 // with a child
	Copied                 uint64 // away from a child, because of a store
	Unmapped               uint64 // that had a frame
	Splits, Collapses      uint64
}

// kind is an event that happens at intervals.
type kind int

const (
	kindMigrate kind = iota
	kindProtect
	kindCOW
	kindFork
	kindUnmap
	kindSplit
	kindCollapse
	numKinds
)

// interval is the time from one event of a kind to the next; 0: never.
func (k *Kernel) interval(which kind) clocked.Time {
	e := &k.spec.Events
	return [numKinds]clocked.Time{k.spec.Pager.MigrateInterval, e.Protect, e.COW, e.Fork, e.Unmap, e.Split, e.Collapse}[which]
}

// startEvents sets the first event of each kind.
func (k *Kernel) startEvents() {
	for which := range numKinds {
		if d := k.interval(which); d > 0 && len(k.pages) > 0 {
			k.timers.set(d, refer(actorEvent, int(which)))
			k.engine.Wake(k.id, d)
		}
	}
}

// randomEvent does an event to a random page that allows it at once, and sets
// the next time.
func (k *Kernel) randomEvent(now clocked.Time, which kind) {
	if k.stopped {
		return
	}
	k.after(now, k.interval(which), refer(actorEvent, int(which)))
	const tries = 16
	for range tries {
		if k.happens(now, which, uint32(k.random()%uint64(len(k.pages)))) {
			return
		}
	}
}

// happens does an event to a page, or to those about it.
func (k *Kernel) happens(now clocked.Time, which kind, p uint32) bool {
	switch which {
	case kindMigrate:
		return k.Migrate(now, p)
	case kindProtect:
		if k.pages[p].state == pageResident && !k.storable(p) {
			return k.Unprotect(now, p)
		}
		return k.Protect(now, p)
	case kindCOW:
		return k.CopyOnWrite(now, p)
	case kindFork:
		s := k.segmentOf(p)
		if len(s.regions) == 0 {
			return k.Fork(now, s.first, s.end-s.first)
		}
		r := &k.regions[s.regions[0]]
		return k.Fork(now, r.FirstPage, k.pagesOf(r))
	case kindUnmap:
		return k.pages[p].state == pageResident && k.Unmap(now, p, min(uint32(k.spec.Events.UnmapPages), k.segmentOf(p).end-p))
	case kindSplit:
		return k.Split(now, p)
	}
	return k.Collapse(now, p)
}

// nudge lets the kernel see timers that were set from outside its tick.
func (k *Kernel) nudge(now clocked.Time) { k.engine.Wake(k.id, now+1) }

// Protect takes the right to store to a page from the CPU and from adapters,
// and tells whether it could: the page must be resident, storable, not pinned,
// not being changed and not in its grace. Stores fault from then on, and the first to fault
// gives the right back. Like every event it is called from within the kernel's
// own tick, between runs of the engine, or before time 0.
func (k *Kernel) Protect(now clocked.Time, p uint32) bool {
	if !k.still(now, p) || !k.storable(p) {
		return false
	}
	k.invalidate(now, p, 1, measure.TriggerProtect).change = changeProtect
	k.Stats.Protected++
	k.nudge(now)
	return true
}

// Unprotect gives a page that was read-only back its right to be stored to, and
// tells whether it could. Adapters that hold it without that right are told to
// drop it, for they may have cached that it is not to be stored to.
func (k *Kernel) Unprotect(now clocked.Time, p uint32) bool {
	if !k.still(now, p) || k.storable(p) || k.pages[p].flags&pageShared != 0 {
		return false
	}
	k.invalidate(now, p, 1, measure.TriggerProtect).change = changeGrant
	k.Stats.Unprotected++
	k.nudge(now)
	return true
}

// Split makes 512 leaves of a page's one and tells whether it could: the page
// must be resident, above 4 KiB, whole, not pinned and not being changed. Frame
// and content stay.
func (k *Kernel) Split(now clocked.Time, p uint32) bool {
	if !k.still(now, p) || k.pages[p].flags&pageSplit != 0 || k.spec.Leaf() == 0 {
		return false
	}
	k.invalidate(now, p, 1, measure.TriggerSplit).change = changeSplit
	k.Stats.Splits++
	k.nudge(now)
	return true
}

// Collapse copies a split page to another frame, under one leaf again, and
// tells whether it could: what Migrate asks for, and a split page.
func (k *Kernel) Collapse(now clocked.Time, p uint32) bool {
	if k.pages[p].flags&pageSplit == 0 || !k.movable(now, p) {
		return false
	}
	k.invalidate(now, p, 1, measure.TriggerCollapse).target = k.takeFrame()
	k.Stats.Collapses++
	k.nudge(now)
	return true
}

// Unmap takes a run of pages out of the process and maps it afresh: content in
// frames and in swap is given up, and the next touch finds zeros. It tells
// whether it could; if not, nothing has changed. No page may be pinned, held
// by a fault or CPU access, or on its way in or out.
func (k *Kernel) Unmap(now clocked.Time, first, count uint32) bool {
	for p := first; p < first+count; p++ {
		if k.pages[p].state != pageAbsent && !k.settled(now, p) {
			return false
		}
	}
	k.discard(now, first, count)
	k.nudge(now)
	return true
}

// discard gives a run of pages up that are absent or settled.
func (k *Kernel) discard(now clocked.Time, first, count uint32) {
	k.remapped(first, count)
	for p := first; p < first+count; p++ {
		if pg := &k.pages[p]; pg.state == pageAbsent && pg.flags&slotValid != 0 {
			pg.flags &^= slotValid
			*k.ops.Push() = msg.PageOp{Kind: msg.PageDiscard, Frame: msg.NoPage, Page: p, Slot: p, Cookie: uint64(refer(actorNobody, 0))}
		}
	}
	k.eachRun(first, count, func(p uint32) bool { return k.pages[p].state == pageResident }, func(p, n uint32) {
		k.registrar.unmapping++
		k.invalidate(now, p, n, measure.TriggerUnmap)
	})
}

// eachRun calls do with the longest runs of pages that are of the kind asked
// for and lie under the same regions.
func (k *Kernel) eachRun(first, count uint32, want func(p uint32) bool, do func(p, n uint32)) {
	for p := first; p < first+count; {
		end := min(k.segmentOf(p).end, first+count)
		q := p
		for q < end && want(q) {
			q++
		}
		if q > p {
			do(p, q-p)
		}
		p = max(q, p+1)
	}
}
