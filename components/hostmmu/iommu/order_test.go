package iommu

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
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

// An absent page: a read is answered with the context's status, a write is
// dropped and the next flush tells, once. The kernel hears of both.
func TestAbsentPages(t *testing.T) {
	for _, absent := range []string{"abort", "retry"} {
		want, _ := refusal(absent)
		b := newBench(t, defaultSpec(t), 1, 0)
		b.setContext(0, 1, Context{Table: b.tables[0], Domain: 1, Absent: absent})
		b.mapPages(0, 0, 1<<30, 1, pagetable.Write)
		b.mapPages(0, 0x5000, 2<<30, 1, 0) // read-only
		flush := read(0, 1, 3)
		flush.Kind = msg.KindFlush
		second := flush
		second.Cookie, second.Tag = 4, 4
		ledger := measure.Ledger{}
		ledger.Open(900 * ns)
		absentRead := read(0x9000, 1, 1)
		absentRead.Ledger = &ledger
		for i, m := range []msg.MemReq{absentRead, store(0x5000, 1, 2), flush, second} {
			b.roots[0].send(1000*ns+clocked.Time(i)*ns, m)
		}
		b.run()
		status := map[uint16]msg.Status{}
		for _, d := range b.roots[0].done {
			status[d.msg.Tag] = d.msg.Status
		}
		if len(status) != 3 || status[1] != want || status[3] != want || status[4] != msg.StatusSuccess {
			t.Errorf("%s: statuses %v", absent, status)
		}
		if got := b.atMemory(0); !slices.Equal(got, []uint64{3, 4}) {
			t.Errorf("%s: memory sees %d", absent, got)
		}
		if len(b.events) != 2 || b.events[0].msg.VA != 0x9000 || b.events[0].msg.Write || b.events[1].msg.VA != 0x5000 || !b.events[1].msg.Write {
			t.Errorf("%s: events %+v", absent, b.events)
		}
		if ledger.Sum() != ledger.Last-900*ns || ledger.Causes[measure.CauseIOMMU] != contextRead+overhead+4*entryRead {
			t.Errorf("%s: ledger %+v", absent, ledger)
		}
		if s := b.unit.Stats(); s.AbsentReads != 1 || s.AbsentWrites != 1 {
			t.Errorf("%s: %+v", absent, s)
		}
	}
}

// An absent page is never cached: once it is mapped, the next access finds it,
// without any invalidation. The same for the right to store.
func TestAbsenceIsNotCached(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.mapPages(0, 0, 1<<30, 1, 0)
	b.roots[0].send(1000*ns, read(0x1000, 1, 1))
	b.roots[0].send(1000*ns, store(0, 1, 2))
	b.run()
	b.mapPages(0, 0x1000, 2<<30, 1, pagetable.Write)
	if _, err := b.tables[0].Protect(0, true); err != nil {
		t.Fatal(err)
	}
	b.roots[0].send(5000*ns, read(0x1000, 1, 3))
	b.roots[0].send(5000*ns, store(0, 1, 4))
	b.run()
	if got := b.atMemory(0); len(got) != 2 {
		t.Errorf("memory sees %d, want 3 and 4", got)
	}
}

// F12: with one walker and walks absent, present, absent in its queue, all three
// end, in order, and the walker is free.
func TestAbsentWalksFreeTheirWalker(t *testing.T) {
	spec := defaultSpec(t)
	spec.Walkers = 1
	b := oneProcess(t, spec, 1)
	b.mapPages(0, 0x2000, 1<<30, 1, 0)
	for i := range 3 {
		b.roots[0].send(100*ns, read(model.VA(i+1)<<12, 1, uint64(i+1)))
	}
	b.run()
	if len(b.roots[0].done) != 3 || b.unit.walkers[0] != none || b.unit.queue.Len() != 0 {
		t.Fatalf("%d answers, walker %d", len(b.roots[0].done), b.unit.walkers[0])
	}
	var order []uint16
	for _, d := range b.roots[0].done {
		order = append(order, d.msg.Tag)
	}
	// The second is answered by memory, 400 ns later; the third ends 280 ns after it.
	if !slices.Equal(order, []uint16{1, 3, 2}) {
		t.Errorf("answers %d", order)
	}
}

// B7: a write that meets an absent page is dropped, not held: the completion
// behind it passes, and the fence that waits for it ends.
func TestAbsentWriteHoldsNothing(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.kernel.send(100*ns, &msg.IOMMUCommand{Op: msg.DevTLBInvalidate, PASID: 1, Len: 4096})
	b.kernel.send(101*ns, &msg.IOMMUCommand{Op: msg.Fence})
	b.roots[0].send(1000*ns, store(0x7000, 1, 1))
	b.roots[0].send(1001*ns, completion(1, 1))
	b.run()
	last := b.events[len(b.events)-1].msg
	if len(b.events) != 2 || b.events[0].msg.Kind != msg.EventAbsent || last.Kind != msg.EventFence || len(b.atMemory(0)) != 0 {
		t.Errorf("events %+v; memory sees %d", b.events, b.atMemory(0))
	}
	if s := b.unit.Stats(); s.AbsentWrites != 1 || s.TimedOut != 0 {
		t.Errorf("%+v", s)
	}
}

// completion is an Invalidate Completion of ITags, of which count are due each.
func completion(itags uint32, count uint8) msg.MemReq {
	return msg.MemReq{Kind: msg.KindMessage, Write: true, Body: &msg.InvalidateDone{
		InvalidateCompletion: ats.InvalidateCompletion{ITags: itags, Count: count}}}
}

// The log of absent pages is bounded: what finds it full is answered all the
// same, and counted.
func TestAbsentLogIsBounded(t *testing.T) {
	spec := defaultSpec(t)
	spec.PageRequests = 4
	b := oneProcess(t, spec, 1)
	b.deaf = true
	for i := range 40 {
		b.roots[0].send(1000*ns, read(model.VA(i)<<12, 1, uint64(i)))
	}
	b.start()
	if err := b.engine.RunUntil(100_000 * ns); err != nil {
		t.Fatal(err)
	}
	// 16 on the wire, 4 in the log.
	if s := b.unit.Stats(); len(b.roots[0].done) != 40 || s.AbsentReads != 40 || s.EventsLost != 20 {
		t.Errorf("%d answers, %+v", len(b.roots[0].done), s)
	}
}

// F11: the same address, at the top of the address space and in a page of 1 GiB,
// belongs to two processes: two misses, two frames. A 4 KiB page of one process
// is not found in a 1 GiB page of the other.
func TestProcessesAreApart(t *testing.T) {
	b := newBench(t, defaultSpec(t), 1, 0)
	const top = model.VA(0xFFFF_FFFF_C000_0000)
	for i := range 2 {
		b.setContext(0, uint32(i+1), Context{Table: b.tables[i], Domain: uint32(i + 1)})
		if err := b.tables[i].Map(top, model.PA(i+1)<<30, model.Shift1G, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.tables[0].Map(0x4000_0000, 9<<30, model.Shift1G, 0); err != nil {
		t.Fatal(err)
	}
	b.mapPages(1, 0x4000_0000, 8<<30, 1, 0)
	for i, m := range []msg.MemReq{read(top+0xABC, 1, 0), read(top+0xABC, 2, 1), read(0x4000_0ABC, 1, 2), read(0x4000_0ABC, 2, 3)} {
		b.roots[0].send(clocked.Time(i+1)*5000*ns, m)
	}
	b.run()
	for i, want := range []model.PA{1 << 30, 2 << 30, 9 << 30, 8 << 30} {
		for _, a := range b.log {
			if a.client == 0 && a.req.Cookie == uint64(i) && a.req.PA != want+0xABC {
				t.Errorf("request %d goes to %#x, want %#x", i, a.req.PA, want+0xABC)
			}
		}
	}
	if s := b.unit.Stats(); s.Misses != 4 {
		t.Errorf("%d misses", s.Misses)
	}
}

// A request without a context is refused: a read with an abort, a write is
// dropped. An address that no table can map is absent, and costs no walk.
func TestBrokenContextAndWildAddress(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.roots[0].send(1000*ns, read(0x1000, 7, 1))
	b.roots[0].send(1000*ns, store(0x1000, 7, 2))
	b.roots[0].send(1000*ns, read(1<<50, 1, 3))
	b.run()
	for _, d := range b.roots[0].done {
		if d.msg.Status != msg.StatusAbort {
			t.Errorf("tag %d: status %d", d.msg.Tag, d.msg.Status)
		}
	}
	if s := b.unit.Stats(); s.BrokenReads != 1 || s.BrokenWrites != 1 || s.AbsentReads != 1 || s.Lookups != 0 || len(b.atMemory(0)) != 0 {
		t.Errorf("%+v, memory sees %d", s, b.atMemory(0))
	}
}

// Accessed and dirty bits: a read sets A on the way and in the leaf; a store sets
// D too, also when the page is cached from a read; with set_accessed off none.
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
		want := uint64(1)
		if on {
			want = 2 // the first store walks, to set D
		}
		if s := b.unit.Stats(); s.Walks != want || len(b.atMemory(0)) != 3 {
			t.Errorf("set_accessed %v: %+v", on, s)
		}
	}
}

// More contexts than are read at once, and a cache that holds one: each request
// gets its own process's page.
func TestManyContexts(t *testing.T) {
	spec := defaultSpec(t)
	spec.ContextEntries = 1
	b := newBench(t, spec, 2, 0)
	b.mapPages(0, 0, 1<<30, 1, 0)
	b.mapPages(1, 0, 2<<30, 1, 0)
	const n = 20
	for i := range n {
		b.setContext(uint16(i%2), uint32(i), Context{Table: b.tables[i/10], Domain: uint32(i / 10)})
		b.roots[i%2].send(1000*ns, read(0, uint32(i), uint64(i)))
	}
	b.run()
	for _, a := range b.log {
		if want := model.PA(a.req.Cookie/10+1) << 30; a.client < 2 && a.req.PA != want {
			t.Errorf("PASID %d goes to %#x, want %#x", a.req.Cookie, a.req.PA, want)
		}
	}
	if s := b.unit.Stats(); s.ContextReads < n || len(b.roots[0].done)+len(b.roots[1].done) != n {
		t.Errorf("%+v", s)
	}
}
