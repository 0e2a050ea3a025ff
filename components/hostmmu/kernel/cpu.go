package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// thread is a thread of the CPU user, with one access at a time.
type thread struct {
	page   uint32
	write  bool
	active bool   // an access has begun
	busy   bool   // its load or store is in memory's hands
	waits  uint32 // page, or msg.NoPage
	began  clocked.Time
	next   uint32 // of the sequential pattern
	id     uint64 // of Touch: the store's data
	done   func() // of Touch: the only access is over
}

// startThreads sets the first access of each thread.
func (k *Kernel) startThreads() {
	if k.spec.CPUPages() > 0 {
		k.threads = make([]thread, k.spec.CPU.Threads)
		for i := range k.threads {
			k.threads[i] = thread{waits: msg.NoPage, next: uint32(i)}
			k.timers.set(k.spec.CPU.Think, refer(actorThread, i))
		}
		k.engine.Wake(k.id, k.spec.CPU.Think)
	}
}

// Stop ends the CPU user and the events at intervals after what they have
// begun, so that the simulation can drain.
func (k *Kernel) Stop() { k.stopped = true }

// random is the next number of the kernel's stream (splitmix64).
func (k *Kernel) random() uint64 {
	k.rng += 0x9E3779B97F4A7C15
	z := k.rng
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// chance draws true with probability p.
func (k *Kernel) chance(p float64) bool { return float64(k.random()>>11)/(1<<53) < p }

// choose draws a thread's next access.
func (k *Kernel) choose(t *thread) {
	own := uint32(k.spec.CPUPages())
	shared := uint32(len(k.pages)) - own
	t.write = k.chance(k.spec.CPU.Writes)
	switch {
	case shared > 0 && k.chance(k.spec.CPU.Shared):
		t.page = uint32(k.random() % uint64(shared))
		// Gaps in the numbering belong to no region and have no address.
		if len(k.segmentOf(t.page).regions) == 0 {
			t.page = shared
		}
	case k.spec.CPU.Pattern == "sequential":
		t.page = shared + t.next%own
		t.next += uint32(len(k.threads))
	default:
		t.page = shared + uint32(k.random()%uint64(own))
	}
}

// stepThread begins an access, or goes on with one whose page may be there.
func (k *Kernel) stepThread(now clocked.Time, i int) {
	t := &k.threads[i]
	if !t.active {
		if k.stopped {
			return
		}
		k.choose(t)
		t.active, t.began = true, now
	}
	if !k.ensure(now, t.page, t.write, byCPU) {
		t.waits = t.page
		return
	}
	if now > t.began {
		k.Stats.CPUFaults++
		k.Stats.CPUStall += now - t.began
	}
	k.hold(t.page)
	t.busy = true
	op := msg.PageOp{Kind: msg.PageCPURead, Frame: k.pages[t.page].frame, Page: t.page, Cookie: uint64(refer(actorThread, i))}
	mark := k.table.SetAccessed
	if t.write {
		op.Kind, op.Write = msg.PageCPUWrite, t.id
		if t.done == nil {
			op.Write = k.random()
		}
		mark = k.table.SetDirty
	}
	if mark(k.vaOf(t.page)) != nil { // of a split page one leaf, as a load or store does
		k.Stats.TableErrors++
	}
	if k.spec.Pager.Policy == lru && k.pages[t.page].flags&pagePinned == 0 {
		k.touch(op.Frame)
	}
	*k.ops.Push() = op
}

// accessed: memory has done a thread's load or store.
func (k *Kernel) accessed(now clocked.Time, i int) {
	t := &k.threads[i]
	k.Stats.CPUAccesses++
	if k.config.OnCPUAccess != nil {
		k.config.OnCPUAccess(now - t.began)
	}
	t.active, t.busy = false, false
	k.release(t.page)
	k.unstall(now, t.page)
	if t.done != nil {
		t.done()
		return
	}
	k.after(now, k.spec.CPU.Think, refer(actorThread, i))
}

// accessedByCPU tells whether a load or store to a page is in memory's hands.
func (k *Kernel) accessedByCPU(p uint32) bool {
	for i := range k.threads {
		if k.threads[i].busy && k.threads[i].page == p {
			return true
		}
	}
	return false
}
