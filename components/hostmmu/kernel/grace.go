package kernel

import "rnicmmu/clocked"

// The grace: what a fault has brought in stays for a time, so that the access
// that faulted gets to use it. Paging and every event honour it, by the same
// question; without it, one that comes back sooner than an access does would
// take its page away for ever.

// spare gives a page its grace from now on.
func (k *Kernel) spare(now clocked.Time, p uint32) {
	if f := k.pages[p].frame; f != noFrame {
		k.frames[f].until = now + k.spec.Pager.Grace
	}
}

// spareHeld gives the pages that a fault holds their grace: at its end, and when
// an invalidation has overtaken it, so that the next does not.
func (k *Kernel) spareHeld(now clocked.Time, j *job) {
	for p := j.first; p < j.first+j.got; p++ {
		k.spare(now, p)
	}
}

// spared is when a page's grace ends; 0: it has none.
func (k *Kernel) spared(now clocked.Time, p uint32) clocked.Time {
	if f := k.pages[p].frame; f != noFrame && k.frames[f].until > now {
		return k.frames[f].until
	}
	return 0
}

// still tells whether a page is resident, may be changed or taken now, and no
// CPU fault changes it. Faults of adapters that have not yet written a table see
// the change and look again; what they have written is taken away by a command
// behind theirs.
func (k *Kernel) still(now clocked.Time, p uint32) bool {
	pg := &k.pages[p]
	return pg.steady() && pg.flags&pagePinned == 0 && k.spared(now, p) == 0
}

// movable tells whether a page is still, its content is in no CPU's hands, and
// a frame is free to move it to.
func (k *Kernel) movable(now clocked.Time, p uint32) bool {
	return k.still(now, p) && !k.accessedByCPU(p) && len(k.free) > 0 && k.frameWaiters.Len() == 0
}

// settled tells whether a page is still and nobody is about to use it.
func (k *Kernel) settled(now clocked.Time, p uint32) bool {
	return k.still(now, p) && k.pages[p].holds == 0
}
