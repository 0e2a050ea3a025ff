package iommu

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// An absent page: a read is answered with the context's status, a write is
// dropped and the next flush tells, once. The kernel hears of both.
func TestAbsentPages(t *testing.T) {
	for _, absent := range []string{"abort", "retry"} {
		want, _ := refusal(absent)
		b := newBench(t, defaultSpec(t), 1, 0)
		b.setContext(0, 1, Context{Table: b.tables[0], Domain: 1, Absent: absent})
		b.mapPages(0, 0, 1<<30, 1, pagetable.Write)
		b.mapPages(0, 0x5000, 2<<30, 1, 0) // read-only
		write := store(0x5000, 1, 2)
		write.Address.Writer = 1
		flush := proof(0, 1, 3)
		second := proof(0, 1, 4)
		ledger := measure.Ledger{}
		ledger.Open(900 * ns)
		absentRead := read(0x9000, 1, 1)
		absentRead.Ledger = &ledger
		for i, m := range []msg.MemReq{absentRead, write, flush, second} {
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

// proof is a read by which a writer proves its last write.
func proof(va model.VA, writer uint32, cookie uint64) msg.MemReq {
	m := read(va, 1, cookie)
	m.Kind, m.Address.Writer = msg.KindFlush, writer
	return m
}

// A dropped write is told to who wrote it, once, though others prove theirs
// before, and one whose proof was itself refused has been told by that.
func TestDroppedWriteIsItsWriters(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.mapPages(0, 0, 1<<30, 1, pagetable.Write)
	at := 1000 * ns
	send := func(m msg.MemReq) {
		b.roots[0].send(at, m)
		at += ns
	}
	for writer := uint32(1); writer <= 3; writer++ {
		w := store(0x9000, 1, 0)
		w.Address.Writer = writer
		send(w)
	}
	send(proof(0x9000, 3, 1))
	send(proof(0, 4, 2))
	send(proof(0, 2, 3))
	send(proof(0, 1, 4))
	at += 5000 * ns
	for writer := range uint32(5) {
		send(proof(0, writer, 5+uint64(writer)))
	}
	b.run()
	for _, d := range b.roots[0].done {
		want := msg.StatusSuccess
		if n := d.msg.Tag; n == 1 || n == 3 || n == 4 {
			want = msg.StatusAbort
		}
		if d.msg.Status != want {
			t.Errorf("proof %d: %v, want %v", d.msg.Tag, d.msg.Status, want)
		}
	}
	if n := len(b.roots[0].done); n != 9 {
		t.Errorf("%d answers, want 9", n)
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
