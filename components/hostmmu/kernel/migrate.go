package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model/pagetable"
)

// migrateRandom moves a random page if one can be moved at once and is not in
// its grace time, and sets the next time.
func (k *Kernel) migrateRandom(now clocked.Time) {
	if k.stopped {
		return
	}
	k.after(now, k.spec.Pager.MigrateInterval, refer(actorMigrate, 0))
	const tries = 16
	for range tries {
		p := uint32(k.random() % uint64(len(k.pages)))
		if f := k.pages[p].frame; f != noFrame && k.frames[f].until > now {
			continue // a fault has just filled it: its access comes first
		}
		if k.Migrate(now, p) {
			return
		}
	}
}

// Migrate starts to move a page to another frame and tells whether it could:
// the page must be resident, not pinned, in nobody's hands but that of faults
// that have not yet written a table, and a frame must be free. It is called
// from within the kernel's own tick, or before time 0.
func (k *Kernel) Migrate(now clocked.Time, p uint32) bool {
	pg := &k.pages[p]
	if pg.state != pageResident || pg.flags&(pagePinned|pageUpgrading) != 0 || k.accessedByCPU(p) ||
		len(k.free) == 0 || k.frameWaiters.Len() > 0 {
		return false
	}
	target := k.takeFrame()
	k.invalidate(now, p, 1, measure.TriggerMigrate).target = target
	k.Stats.Migrations++
	return true
}

// moved: the new frame holds the content. The page is there again; the old
// frame is given up.
func (k *Kernel) moved(now clocked.Time, old uint32) {
	p := k.frames[old].page
	i := int(k.frames[old].evict)
	v := k.evictions.items[i]
	k.transit--
	flags := v.flags & (pagetable.Accessed | pagetable.Write)
	if k.frames[old].dirty {
		flags |= pagetable.Dirty
	}
	k.install(p, v.target, flags)
	k.refill(now, i)
	k.reopen(now, i)
	k.wake(now, p)
	k.giveUp(old)
}
