package iommu

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// command sends a command of adapter 0 and PASID 1 and returns it.
func (b *bench) command(seen clocked.Time, op msg.IOMMUOp, first model.VA, length uint64) *msg.IOMMUCommand {
	c := &msg.IOMMUCommand{Op: op, PASID: 1, First: first, Len: length, Record: &measure.Invalidation{}}
	b.kernel.send(seen, c)
	return c
}

// fenced is when the kernel saw the event of a fence, or -1.
func (b *bench) fenced(c *msg.IOMMUCommand) clocked.Time {
	for _, e := range b.events {
		if e.msg.Kind == msg.EventFence && e.msg.Command == c {
			return e.at
		}
	}
	return -1
}

// answerAfter makes an adapter complete each Invalidate Request after a time,
// with count completions.
func (b *bench) answerAfter(adapter int, d clocked.Time, count int) {
	r := b.roots[adapter]
	r.onBell = func(now clocked.Time, bell msg.Doorbell) {
		if inv, ok := bell.Body.(*msg.Invalidate); ok {
			for range count {
				r.send(now+d+hop, completion(1<<inv.ITag, uint8(count)))
			}
			b.engine.Wake(b.ids[0], now+d)
		}
	}
}

const commandTime = 686 * ns

// An idle IOMMU's invalidation takes command_time; the next access walks again,
// from the root.
func TestIOTLBInvalidation(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.mapPages(0, 0, 1<<30, 20, pagetable.Write)
	b.roots[0].send(1000*ns, read(0x1000, 1, 1))
	b.roots[0].send(3000*ns, read(0x2000, 1, 2))
	c := b.command(10000*ns, msg.IOTLBInvalidate, 0x1000, 4096)
	f := b.command(10000*ns, msg.Fence, 0, 0)
	b.roots[0].send(12000*ns, read(0x2000, 1, 3))
	b.roots[0].send(13000*ns, read(0x1000, 1, 4))
	b.run()
	if c.Record.IOTLB != 10000*ns+commandTime || b.fenced(f) != 10000*ns+commandTime+hop {
		t.Errorf("done at %v, fenced at %v", c.Record.IOTLB, b.fenced(f))
	}
	if got := b.seen(3); got != 12000*ns+hit {
		t.Errorf("another page goes at %v: it was dropped too", got)
	}
	if got := b.seen(4); got != 13000*ns+overhead+4*entryRead+hit {
		t.Errorf("the page goes at %v", got)
	}
}

// Ranges of an invalidation: what they touch at any page size is dropped, also
// where the range is a small part of a large page, and other domains stay.
func TestRanges(t *testing.T) {
	const big = model.VA(1 << 30)
	for _, tc := range []struct {
		name   string
		first  model.VA
		length uint64
		stays  []int // of the pages 0x1000, 0x2000, 2 MiB, 1 GiB
	}{
		{"one page", 0x1000, 4096, []int{1, 2, 3}},
		{"two bytes over a border", 0x1FFF, 2, []int{2, 3}},
		{"inside the 2 MiB page", 1<<21 + 0x7000, 4096, []int{0, 1, 3}},
		{"inside the 1 GiB page", big + 0x3000_0000, 4096, []int{0, 1, 2}},
		{"many pages", 0x2000, 1 << 21, []int{0, 3}},
		{"nothing mapped", 0x10_0000, 4096, []int{0, 1, 2, 3}},
		{"everything", 0, 0, nil},
		{"up to the top", 0x2000, ^uint64(0), []int{0}},
	} {
		b := oneProcess(t, defaultSpec(t), 1)
		b.setContext(0, 2, Context{Table: b.tables[1], Domain: 2})
		b.mapPages(0, 0x1000, 1<<32, 2, 0)
		b.mapPages(1, 0x1000, 1<<32, 2, 0)
		for _, m := range []struct {
			va    model.VA
			shift model.PageShift
		}{{1 << 21, model.Shift2M}, {big, model.Shift1G}} {
			if err := b.tables[0].Map(m.va, 2<<32, m.shift, 0); err != nil {
				t.Fatal(err)
			}
		}
		pages := []model.VA{0x1000, 0x2000, 1<<21 + 0x100, big + 0x100}
		for i, va := range pages {
			b.roots[0].send(clocked.Time(i+1)*3000*ns, read(va, 1, uint64(i)))
		}
		b.roots[0].send(15000*ns, read(0x1000, 2, 9))
		b.command(20000*ns, msg.IOTLBInvalidate, tc.first, tc.length)
		b.run()
		for i, va := range pages {
			held := b.unit.iotlb.lookup(1, va) != nil
			want := false
			for _, s := range tc.stays {
				want = want || s == i
			}
			if held != want {
				t.Errorf("%s: page %#x held: %v", tc.name, uint64(va), held)
			}
		}
		if b.unit.iotlb.lookup(2, 0x1000) == nil {
			t.Errorf("%s: the other domain's page is gone", tc.name)
		}
	}
}

// INV-3: a walk that read an upper entry before the page's tables changed, and an
// invalidation said so, fills nothing: it walks again. Walks of other pages go
// on.
func TestWalkUnderAnInvalidationReadsAgain(t *testing.T) {
	spec := defaultSpec(t)
	spec.CommandTime = 0
	b := oneProcess(t, spec, 1)
	b.mapPages(0, 0x1000, 1<<30, 1, 0)
	b.mapPages(0, 1<<39, 2<<30, 1, 0)
	b.roots[0].send(1000*ns, read(0x1000, 1, 1))
	b.roots[0].send(1000*ns, read(1<<39, 1, 2))
	b.start()
	// The PML4 and PDPT entries are read; then the whole tree is replaced, its
	// frames are used again, and the old leaf is still in memory.
	at := 1000*ns + contextRead + overhead + 2*entryRead + 10*ns
	if err := b.engine.RunUntil(at - hop); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.tables[0].Unmap(0x1000); err != nil {
		t.Fatal(err)
	}
	emptied, err := b.tables[0].Prune(0, model.Shift1G, nil)
	if err != nil || len(emptied) != 2 {
		t.Fatalf("%d tables left empty, %v", len(emptied), err)
	}
	for _, table := range emptied {
		b.store.Release(table)
	}
	if err := b.tables[0].Map(0, 3<<30, model.Shift1G, 0); err != nil {
		t.Fatal(err)
	}
	c := b.command(at, msg.IOTLBInvalidate, 0x1000, 4096)
	b.run()
	if c.Record.IOTLB != at {
		t.Errorf("done at %v, not at once", c.Record.IOTLB)
	}
	for _, a := range b.log {
		switch {
		case a.client != 0:
		case a.req.Cookie == 1 && a.req.PA != 3<<30+0x1000:
			t.Errorf("goes to %#x", a.req.PA)
		case a.req.Cookie == 2 && a.seen != 1000*ns+contextRead+overhead+4*entryRead+hit:
			t.Errorf("the other page's walk was disturbed: at memory at %v", a.seen)
		}
	}
	if s := b.unit.Stats(); s.Stales != 1 || s.Replays != 1 || s.Lookups != 2 || s.Walks != 2 {
		t.Errorf("%+v", s)
	}
}

// INV-1: an invalidation and its fence wait for requests translated before: a
// write that is behind another's walk, a read that memory has not answered, a
// write that is not placed.
func TestInvalidationDrains(t *testing.T) {
	const at = 10000 * ns
	for _, tc := range []struct {
		name   string
		reqs   []timed[msg.MemReq]
		placed clocked.Time // when the last of them is in memory, or answered
	}{
		{"a read at memory", []timed[msg.MemReq]{{at - 10*ns, read(0x1000, 1, 1)}}, at - 10*ns + hit + 3000*ns},
		{"a write at memory", []timed[msg.MemReq]{{at - 10*ns, store(0x1000, 1, 1)}}, at - 10*ns + hit + 2000*ns},
		{"a write behind a walk", []timed[msg.MemReq]{{at - 10*ns, store(0x2000, 1, 1)}, {at - 9*ns, store(0x1000, 1, 2)}},
			at - 10*ns + overhead + entryRead + hit + 2000*ns},
	} {
		b := oneProcess(t, defaultSpec(t), 1)
		b.latency = func(client int, write bool) clocked.Time {
			switch {
			case client == 1:
				return 70 * ns
			case write:
				return 2000 * ns
			}
			return 3000 * ns
		}
		b.mapPages(0, 0x1000, 1<<30, 2, pagetable.Write|pagetable.Dirty)
		b.roots[0].send(1000*ns, read(0x1000, 1, 0))
		for _, m := range tc.reqs {
			b.roots[0].send(m.at, m.msg)
		}
		c := b.command(at, msg.IOTLBInvalidate, 0x1000, 4096)
		f := b.command(at, msg.Fence, 0, 0)
		b.run()
		if c.Record.IOTLB <= tc.placed || b.fenced(f) <= tc.placed {
			t.Errorf("%s: done at %v, fenced at %v; the last is in memory at %v", tc.name, c.Record.IOTLB, b.fenced(f), tc.placed)
		}
		if c.Record.IOTLB > tc.placed+3100*ns { // the flush's own read
			t.Errorf("%s: done as late as %v", tc.name, c.Record.IOTLB)
		}
	}
}

// ATS-10: several fences wait at once; each ends when what was before it has
// ended, and all waiters are told.
func TestFences(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 2)
	b.command(1000*ns, msg.DevTLBInvalidate, 0, 0)
	f1 := b.command(1000*ns, msg.Fence, 0, 0)
	b.kernel.send(1001*ns, &msg.IOMMUCommand{Op: msg.DevTLBInvalidate, Adapter: 1, PASID: 1})
	f2, f3 := b.command(1002*ns, msg.Fence, 0, 0), b.command(1003*ns, msg.Fence, 0, 0)
	b.roots[1].send(5000*ns, completion(1, 1))
	b.roots[0].send(9000*ns, completion(1, 1))
	b.run()
	for i, f := range []*msg.IOMMUCommand{f1, f2, f3} {
		if got := b.fenced(f); got < 9000*ns || got > 9001*ns {
			t.Errorf("fence %d ends at %v", i+1, got)
		}
	}
	empty := b.command(b.engine.Now()+100*ns, msg.Fence, 0, 0)
	at := b.engine.Now() + 100*ns
	b.run()
	if got := b.fenced(empty); got != at+hop {
		t.Errorf("a fence behind nothing ends at %v, sent at %v", got, at)
	}
}

// B12: a command that is not known, or names no adapter, is refused, and the
// queue goes on with the next.
func TestUnknownCommands(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	bad := b.command(1000*ns, msg.FreeRing+1, 0, 0)
	nobody := &msg.IOMMUCommand{Op: msg.DevTLBInvalidate, Adapter: 7}
	b.kernel.send(1000*ns, nobody)
	good := b.command(1000*ns, msg.IOTLBInvalidate, 0, 0)
	f := b.command(1000*ns, msg.Fence, 0, 0)
	b.run()
	if !bad.Refused || !nobody.Refused || good.Refused || good.Record.IOTLB != 1000*ns+commandTime || b.fenced(f) < 0 || b.unit.Stats().Refused != 2 {
		t.Errorf("refused %v, %v, %v; fenced at %v; %+v", bad.Refused, nobody.Refused, good.Refused, b.fenced(f), b.unit.Stats())
	}
	b.roots[0].send(b.engine.Now()+100*ns, msg.MemReq{Kind: msg.KindMessage, Write: true})
	b.run()
	if b.unit.Stats().UnknownMessages != 1 {
		t.Errorf("%+v", b.unit.Stats())
	}
}
