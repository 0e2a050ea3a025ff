package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model/pagetable"
)

// Migrate starts to move a page to another frame and tells whether it could:
// the page must be resident, not pinned, in nobody's hands but that of faults
// that have not yet written a table, and a frame must be free. It is called
// from within the kernel's own tick, between runs of the engine, or before
// time 0.
func (k *Kernel) Migrate(now clocked.Time, p uint32) bool {
	if !k.movable(now, p) {
		return false
	}
	k.invalidate(now, p, 1, measure.TriggerMigrate).target = k.takeFrame()
	k.Stats.Migrations++
	k.nudge(now)
	return true
}

// moved: the new frame holds the content. The page is there again; the old
// frame is given up.
func (k *Kernel) moved(now clocked.Time, old uint32) {
	p := k.frames[old].page
	i := int(k.frames[old].evict)
	v := k.evictions.items[i]
	k.transit--
	k.frames[v.target].until = k.frames[old].until
	flags := v.flags & (pagetable.Accessed | pagetable.Write)
	if k.frames[old].dirty {
		flags |= pagetable.Dirty
	}
	k.install(p, v.target, k.arrives(v, p, flags))
	k.refill(now, i)
	k.reopen(now, i)
	k.wake(now, p)
	k.giveUp(old)
}
