package iommu

import (
	"slices"
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/pagetable"
)

// atMemory are the cookies of an adapter's requests in the order in which memory
// sees them.
func (b *bench) atMemory(client int) (cookies []uint64) {
	for _, a := range b.log {
		if a.client == client && a.req.Tag < ownTag {
			cookies = append(cookies, a.req.Cookie)
		}
	}
	return cookies
}

// Posted requests leave in order, no read passes a posted one, reads pass reads
// and are passed by posted ones. Page 1 hits, the others miss.
func TestOrder(t *testing.T) {
	const hits, misses = model.VA(0x1000), model.VA(0x2000)
	for _, tc := range []struct {
		name string
		reqs []msg.MemReq // of cookies 1, 2, …
		want []uint64
	}{
		{"writes wait for a write", []msg.MemReq{store(misses, 1, 1), store(hits, 1, 2), store(hits, 1, 3)}, []uint64{1, 2, 3}},
		{"a read waits for a write", []msg.MemReq{store(misses, 1, 1), read(hits, 1, 2)}, []uint64{1, 2}},
		{"a read passes a read", []msg.MemReq{read(misses, 1, 1), read(hits, 1, 2)}, []uint64{2, 1}},
		{"a write passes a read", []msg.MemReq{read(misses, 1, 1), store(hits, 1, 2)}, []uint64{2, 1}},
		{"of two reads one is behind a write", []msg.MemReq{read(hits, 1, 1), store(misses, 1, 2), read(hits, 1, 3)}, []uint64{1, 2, 3}},
		{"a read behind a write passes another there", []msg.MemReq{store(misses, 1, 1), read(misses+0x1000, 1, 2), read(hits, 1, 3), store(hits, 1, 4)},
			[]uint64{1, 3, 4, 2}},
	} {
		spec := defaultSpec(t)
		spec.Walkers = 1 // the second miss ends long after the first
		b := oneProcess(t, spec, 1)
		b.mapPages(0, 0, 1<<30, 8, pagetable.Write)
		b.roots[0].send(100*ns, store(hits, 1, 0))
		for _, m := range tc.reqs {
			b.roots[0].send(5000*ns, m)
		}
		b.run()
		if got := b.atMemory(0)[1:]; !slices.Equal(got, tc.want) {
			t.Errorf("%s: memory sees %d, want %d", tc.name, got, tc.want)
		}
	}
}

// The walk of a read that waits for a write's walk runs at the same time: both
// leave when the write may.
func TestWalksBehindAWriteStartEarly(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.mapPages(0, 0, 1<<30, 8, pagetable.Write)
	b.roots[0].send(100*ns, read(0, 1, 0))
	b.roots[0].send(5000*ns, store(0x1000, 1, 1))
	b.roots[0].send(5010*ns, read(0x2000, 1, 2))
	b.run()
	if got := b.seen(2); got != 5010*ns+overhead+entryRead+hit {
		t.Errorf("the read goes at %v: its walk waited", got)
	}
}

// One adapter's walk holds no other adapter's writes.
func TestAdaptersDoNotWaitForEachOther(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 2)
	b.mapPages(0, 0, 1<<30, 8, pagetable.Write)
	b.roots[1].send(100*ns, store(0, 1, 0))
	b.roots[0].send(5000*ns, store(0x1000, 1, 1))
	b.roots[1].send(5001*ns, store(0, 1, 2))
	b.run()
	if got := b.seen(2); got != 5001*ns+hit {
		t.Errorf("adapter 1's write goes at %v", got)
	}
}

// More requests at once than slots, wires that hold few, and a root port that
// takes no answers for a while: all are answered once.
func TestBackPressure(t *testing.T) {
	spec := defaultSpec(t)
	spec.Slots, spec.Walkers = 2, 1
	b := oneProcess(t, spec, 2)
	b.mapPages(0, 0, 1<<30, 64, pagetable.Write)
	for i := range 64 {
		for a := range 2 {
			b.roots[a].send(100*ns, read(model.VA(i)<<12, 1, uint64(i)))
			b.roots[a].send(100*ns, store(model.VA(i)<<12, 1, 1000+uint64(i)))
		}
	}
	b.roots[0].deaf = true
	b.start()
	if err := b.engine.RunUntil(100_000 * ns); err != nil {
		t.Fatal(err)
	}
	if b.unit.Idle() || len(b.unit.Waits()) == 0 {
		t.Error("idle, though the root port takes nothing")
	}
	b.roots[0].deaf = false
	b.engine.Wake(b.ids[0], 100_001*ns)
	b.run()
	for a := range 2 {
		tags := map[uint16]int{}
		for _, d := range b.roots[a].done {
			tags[d.msg.Tag]++
		}
		if len(tags) != 64 || len(b.roots[a].done) != 64 || len(b.atMemory(a)) != 128 {
			t.Errorf("adapter %d: %d answers for %d reads, %d requests at memory", a, len(b.roots[a].done), len(tags), len(b.atMemory(a)))
		}
	}
}

// completion is an Invalidate Completion of ITags, of which count are due each.
func completion(itags uint32, count uint8) msg.MemReq {
	return msg.MemReq{Kind: msg.KindMessage, Write: true, Body: &msg.InvalidateDone{
		InvalidateCompletion: ats.InvalidateCompletion{ITags: itags, Count: count}}}
}

// Accessed and dirty bits: a read sets A on the way and in the leaf; a store sets
// D too, also when the page is cached from a read. With set_accessed off none is
// set, and a store to a page that is not dirty is dropped and told: else nobody
// would know that the page must be kept.
func TestAccessedAndDirty(t *testing.T) {
	for _, on := range []bool{true, false} {
		spec := defaultSpec(t)
		spec.SetAccessed = on
		b := oneProcess(t, spec, 1)
		b.mapPages(0, 0, 1<<30, 2, pagetable.Write)
		b.roots[0].send(1000*ns, read(0, 1, 1))
		b.run()
		w := b.tables[0].Lookup(0)
		for _, at := range w.Reads {
			if e := b.store.Load(at); e.Has(pagetable.Accessed) != on || e.Has(pagetable.Dirty) {
				t.Errorf("set_accessed %v: after a read the entry at %#x is %#x", on, at, uint64(e))
			}
		}
		b.roots[0].send(5000*ns, store(0, 1, 2))
		b.roots[0].send(9000*ns, store(64, 1, 3))
		b.run()
		if w := b.tables[0].Lookup(0); w.Entry.Has(pagetable.Dirty) != on {
			t.Errorf("set_accessed %v: after a store the entry is %#x", on, uint64(w.Entry))
		}
		walks, dropped := uint64(2), uint64(0) // the first store walks, to set D
		if !on {
			walks, dropped = 3, 2
		}
		if s := b.unit.Stats(); s.Walks != walks || s.AbsentWrites != dropped || len(b.atMemory(0)) != 3-int(dropped) {
			t.Errorf("set_accessed %v: %+v", on, s)
		}
		if err := b.tables[0].SetDirty(0); err != nil {
			t.Fatal(err)
		}
		b.roots[0].send(20000*ns, store(128, 1, 4))
		b.run()
		if s := b.unit.Stats(); s.AbsentWrites != dropped || len(b.atMemory(0)) != 4-int(dropped) {
			t.Errorf("set_accessed %v: a store to a dirty page: %+v", on, s)
		}
	}
}

// Interrupts are not translated, and do not pass the writes before them.
func TestInterrupts(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.mapPages(0, 0x1000, 1<<30, 1, pagetable.Write)
	msi := store(0xFEE0_0000, 9, 2) // a PASID without a context
	msi.Kind = msg.KindMSI
	b.roots[0].send(1000*ns, store(0x1000, 1, 1))
	b.roots[0].send(1001*ns, msi)
	b.run()
	if got := b.atMemory(0); !slices.Equal(got, []uint64{1, 2}) || b.log[len(b.log)-1].req.PA != 0xFEE0_0000 || b.unit.Stats().Lookups != 1 {
		t.Errorf("memory sees %d, %+v", got, b.unit.Stats())
	}
}

// A poisoned write is translated as any other, and comes to memory marked.
func TestPoisonedWriteStaysMarked(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.mapPages(0, 0, 1<<30, 8, pagetable.Write)
	bad := store(0x1000, 1, 1)
	bad.Poisoned = true
	b.roots[0].send(100*ns, bad)
	b.roots[0].send(100*ns, store(0x1000, 1, 2))
	b.run()
	var writes []msg.MemReq
	for _, a := range b.log {
		if a.req.Write {
			writes = append(writes, a.req)
		}
	}
	if len(writes) != 2 || !writes[0].Poisoned || writes[0].PA != 1<<30+0x1000 || writes[1].Poisoned {
		t.Errorf("memory sees %+v", writes)
	}
}
