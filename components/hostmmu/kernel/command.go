package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// Initial is the backing of a page before time 0.
type Initial uint8

// Backings.
const (
	InitialZero     Initial = iota // absent, and never stored to
	InitialSwapped                 // absent, its content in swap
	InitialResident                // in a frame, and in the tables that registration fills
)

// backEach states the initial backing of memory that pages, page by page, in
// frames from next on. Pages for which no frame is left are in swap.
func (k *Kernel) backEach(setup *Setup, next uint32) {
	for i := range k.segments {
		s := k.segments[i]
		if len(s.regions) == 0 || k.pinned(&s) {
			continue
		}
		for p := s.first; p < s.end; p++ {
			initial := k.config.Initial(p)
			if initial == InitialResident && next == uint32(len(k.frames)) {
				initial = InitialSwapped
			}
			one := s
			one.first, one.va = p, k.vaOf(p)
			switch initial {
			case InitialResident:
				k.occupy(setup, &one, next, 1, 0)
				k.programAll(setup, &one, next, 1)
				next++
			case InitialSwapped:
				setup.Swapped = append(setup.Swapped, Run{First: p, Count: 1})
				k.pages[p].flags |= slotValid
			}
		}
	}
}

// Evict starts to page a resident page out, and tells whether it could: nobody
// may need it where it is. It is called like Protect.
func (k *Kernel) Evict(now clocked.Time, p uint32) bool {
	if !k.settled(now, p) {
		return false
	}
	k.invalidate(now, p, 1, measure.TriggerEvict)
	k.nudge(now)
	return true
}

// Touch is one load or store of the CPU to a page, which faults it in where it
// must; done is called when memory has done it. id names the store's data. It is
// called like Protect.
func (k *Kernel) Touch(now clocked.Time, p uint32, write bool, id uint64, done func()) {
	k.threads = append(k.threads, thread{page: p, write: write, id: id, active: true, began: now, waits: msg.NoPage, done: done})
	k.after(now, 1, refer(actorThread, len(k.threads)-1))
	k.nudge(now)
}

// Remove takes an adapter off the bus as if it had not answered in time. It is
// called like Protect.
func (k *Kernel) Remove(now clocked.Time, adapter int) {
	k.disable(now, adapter)
	k.nudge(now)
}

// FlushContext has the IOMMU drop what it caches of an adapter's context for the
// process, and all that depends on it. It is called like Protect.
func (k *Kernel) FlushContext(now clocked.Time, adapter int) {
	k.submitAlone(msg.IOMMUCommand{Op: msg.ContextInvalidate, Adapter: uint16(adapter), PASID: PASID})
	k.nudge(now)
}

// Settled tells whether no event, eviction or fault has a page in hand.
func (k *Kernel) Settled(p uint32) bool {
	return k.pages[p].state == pageResident || k.pages[p].state == pageAbsent
}
