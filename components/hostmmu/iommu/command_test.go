package iommu

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
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

// ATS-1, B8: the IOTLB's copy is gone before the Invalidate Request is sent, and
// the fence ends after its completion, so that a translation request in between
// gets the new page. In the wrong order it gets the old one.
func TestOrderOfInvalidations(t *testing.T) {
	for _, right := range []bool{true, false} {
		b := oneProcess(t, defaultSpec(t), 1)
		b.answerAfter(0, 500*ns, 1)
		b.mapPages(0, 0x1000, 1<<30, 1, 0)
		b.roots[0].send(1000*ns, translate(0x1000, 1, 1, false))
		const at = 10000 * ns
		b.start()
		if err := b.engine.RunUntil(at - 100*ns); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.tables[0].Unmap(0x1000); err != nil {
			t.Fatal(err)
		}
		b.mapPages(0, 0x1000, 2<<30, 1, 0)
		iotlb := clocked.Time(at)
		if !right {
			iotlb += 300 * ns // when the adapter has asked again
		}
		first, second := b.command(iotlb, msg.IOTLBInvalidate, 0x1000, 4096), b.command(at, msg.DevTLBInvalidate, 0x1000, 4096)
		f := b.command(iotlb, msg.Fence, 0, 0)
		refetch := clocked.Time(0)
		b.roots[0].onBell = func(now clocked.Time, d msg.Doorbell) {
			if inv, ok := d.Body.(*msg.Invalidate); ok { // the adapter drops its copy and asks again
				refetch = now
				if inv.Range.VA != 0x1000 || inv.Range.Shift != 12 || inv.PASID != 1 {
					t.Errorf("%+v", inv.InvalidateRequest)
				}
				b.roots[0].send(now+2*hop, translate(0x1000, 1, 2, false))
				b.roots[0].send(now+500*ns, completion(1<<inv.ITag, 1))
				b.engine.Wake(b.ids[0], now+hop)
			}
		}
		b.run()
		want := model.PA(2 << 30)
		if !right {
			want = 1 << 30
		}
		if got := ats.Decode(b.roots[0].done[1].msg.Entry); got.PA != want {
			t.Errorf("right order %v: asked again at %v, the answer is %#x, want %#x", right, refetch, got.PA, want)
		}
		if right {
			r, iotlb := second.Record, first.Record.IOTLB
			if iotlb != at+commandTime || r.Sent < iotlb || r.Acknowledged <= r.Sent || r.DevTLB != r.Acknowledged || b.fenced(f) < r.Acknowledged {
				t.Errorf("IOTLB %v, sent %v, acknowledged %v, fenced %v", iotlb, r.Sent, r.Acknowledged, b.fenced(f))
			}
		}
	}
}

// ATS-4: an Invalidate Completion is credited only when the writes before it are
// placed.
func TestCompletionPushesWrites(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.latency = func(client int, write bool) clocked.Time {
		if write {
			return 5000 * ns
		}
		return 100 * ns
	}
	c := b.command(1000*ns, msg.DevTLBInvalidate, 0x1000, 4096)
	f := b.command(1000*ns, msg.Fence, 0, 0)
	w := store(1<<30, 1, 1)
	w.Address.Translated = true
	b.roots[0].send(2000*ns, w)
	b.roots[0].send(2001*ns, completion(1, 1))
	b.run()
	placed := b.seen(1) + 5000*ns
	if c.Record.Acknowledged <= placed || b.fenced(f) <= placed || c.Record.Acknowledged > placed+10*ns {
		t.Errorf("acknowledged at %v, fenced at %v, the write is placed at %v", c.Record.Acknowledged, b.fenced(f), placed)
	}
}

// ATS-2, B10: of 33 Invalidate Requests 32 are sent; the 33rd waits until one has
// both its completions. A third completion changes nothing.
func TestTags(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	for i := range 33 {
		b.command(1000*ns, msg.DevTLBInvalidate, model.VA(i)<<12, 4096)
	}
	f := b.command(1000*ns, msg.Fence, 0, 0)
	b.roots[0].send(10000*ns, completion(1<<5, 2))
	b.roots[0].send(20000*ns, completion(1<<5, 2))
	b.start()
	sent := func(at clocked.Time) int {
		if err := b.engine.RunUntil(at); err != nil {
			t.Fatal(err)
		}
		return len(b.roots[0].bells)
	}
	if n := sent(19000 * ns); n != 32 {
		t.Errorf("%d requests sent before a tag has both completions", n)
	}
	if n := sent(21000 * ns); n != 33 {
		t.Errorf("%d requests sent after", n)
	}
	if tag := b.roots[0].bells[32].msg.Body.(*msg.Invalidate).ITag; tag != 5 {
		t.Errorf("ITag %d", tag)
	}
	for range 2 {
		b.roots[0].send(30000*ns, completion(^uint32(0), 2))
	}
	b.roots[0].send(31000*ns, completion(1<<7, 2))
	b.run()
	s := b.unit.Stats()
	if s.DevTLBInvalidates != 33 || s.TagsStalled != 1 || s.UnexpectedCompletions != 1 || s.TimedOut != 0 || b.fenced(f) < 30000*ns {
		t.Errorf("%+v, fenced at %v", s, b.fenced(f))
	}
}

// ATS-8: an adapter that does not answer costs one time-out, told at the command;
// other adapters' invalidations go on meanwhile. Its tag is not used again, a
// late completion is credited to nobody, and when all tags are lost later
// invalidations time out at once.
func TestTimeOut(t *testing.T) {
	spec := defaultSpec(t)
	spec.ATSDepth = 2
	b := oneProcess(t, spec, 2)
	b.answerAfter(1, 500*ns, 1)
	first := b.command(1000*ns, msg.DevTLBInvalidate, 0x1000, 4096)
	f1 := b.command(1000*ns, msg.Fence, 0, 0)
	other := &msg.IOMMUCommand{Op: msg.DevTLBInvalidate, Adapter: 1, PASID: 1, Record: &measure.Invalidation{}}
	b.kernel.send(2000*ns, other)
	b.run()
	if !first.TimedOut || b.fenced(f1) != 1000*ns+spec.ATSTimeout+hop || other.TimedOut || other.Record.Acknowledged > 4000*ns {
		t.Errorf("timed out %v, fenced at %v; the other: %v, acknowledged %v", first.TimedOut, b.fenced(f1), other.TimedOut, other.Record.Acknowledged)
	}
	t1 := b.engine.Now() + 1000*ns
	second := b.command(t1, msg.DevTLBInvalidate, 0x2000, 4096)
	f2 := b.command(t1, msg.Fence, 0, 0)
	b.roots[0].send(t1+1000*ns, completion(1, 1)) // late, for the first
	b.start()
	if err := b.engine.RunUntil(t1 + 2000*ns); err != nil {
		t.Fatal(err)
	}
	if b.roots[0].bells[0].msg.Body.(*msg.Invalidate).Record != nil {
		t.Error("a late adapter can still stamp a record that is the kernel's again")
	}
	if b.fenced(f2) >= 0 || first.Record.Acknowledged != 0 || second.Record.Acknowledged != 0 || b.roots[0].bells[1].msg.Body.(*msg.Invalidate).ITag != 1 {
		t.Error("the late completion of the first request was credited to the second")
	}
	b.run()
	t2 := b.engine.Now() + 1000*ns
	third := b.command(t2, msg.DevTLBInvalidate, 0, 0) // tag 0 is free again
	b.run()
	t3 := b.engine.Now() + 1000*ns
	fourth := b.command(t3, msg.DevTLBInvalidate, 0, 0)
	f4 := b.command(t3, msg.Fence, 0, 0)
	b.run()
	if !second.TimedOut || !third.TimedOut || !fourth.TimedOut || b.fenced(f4) != t3+hop || b.unit.Stats().DevTLBInvalidates != 4 {
		t.Errorf("second %v, third %v, fourth %v fenced at %v after %v, %+v", second.TimedOut, third.TimedOut, fourth.TimedOut, b.fenced(f4), t3, b.unit.Stats())
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

// ATS-9, B11, F6: a PASID is switched from one table to another with a context
// invalidation only. From the old context everything is gone: its IOTLB entries,
// the walk under way, and what the adapter holds.
func TestContextInvalidation(t *testing.T) {
	for _, domain := range []uint32{1, 2} { // of the new table: the same, another
		b := oneProcess(t, defaultSpec(t), 1)
		b.answerAfter(0, 500*ns, 1)
		b.mapPages(0, 0x1000, 1<<30, 2, 0)
		b.mapPages(1, 0x1000, 2<<30, 2, 0)
		b.roots[0].send(1000*ns, read(0x1000, 1, 1))
		const at = 10000 * ns
		b.roots[0].send(at-5*ns, read(0x2000, 1, 2)) // its walk is under way
		b.start()
		if err := b.engine.RunUntil(at - hop); err != nil {
			t.Fatal(err)
		}
		b.setContext(0, 1, Context{Table: b.tables[1], Domain: domain, ATS: true})
		c := b.command(at, msg.ContextInvalidate, 0, 0)
		f := b.command(at, msg.Fence, 0, 0)
		b.roots[0].send(at+5000*ns, read(0x1000, 1, 3))
		b.run()
		for cookie, want := range map[uint64]model.PA{1: 1 << 30, 2: 2<<30 + 0x1000, 3: 2 << 30} {
			for _, a := range b.log {
				if a.client == 0 && a.req.Tag < ownTag && a.req.Cookie == cookie && a.req.PA != want {
					t.Errorf("domain %d: request %d goes to %#x, want %#x", domain, cookie, a.req.PA, want)
				}
			}
		}
		if len(b.roots[0].bells) != 1 {
			t.Fatalf("domain %d: %d messages", domain, len(b.roots[0].bells))
		}
		inv := b.roots[0].bells[0].msg.Body.(*msg.Invalidate)
		if inv.Range.Shift != 64 || inv.PASID != 1 || b.fenced(f) < c.Record.Acknowledged || c.Record.Acknowledged == 0 {
			t.Errorf("domain %d: %+v, acknowledged %v, fenced %v", domain, inv.InvalidateRequest, c.Record.Acknowledged, b.fenced(f))
		}
	}
}

// A flush names its domain by the PASID where the adapter has no such context:
// another domain's entries stay.
func TestDomainNamedByAnotherAdapter(t *testing.T) {
	b := newBench(t, defaultSpec(t), 2, 0)
	b.setContext(1, 1, Context{Table: b.tables[0], Domain: 1})
	b.setContext(1, 2, Context{Table: b.tables[1], Domain: 2})
	b.mapPages(0, 0x1000, 1<<30, 1, 0)
	b.mapPages(1, 0x1000, 2<<30, 1, 0)
	b.roots[1].send(1000*ns, read(0x1000, 1, 1))
	b.roots[1].send(1000*ns, read(0x1000, 2, 2))
	b.command(5000*ns, msg.IOTLBInvalidate, 0x1000, 4096) // adapter 0, PASID 1
	b.run()
	if b.unit.iotlb.lookup(1, 0x1000) != nil || b.unit.iotlb.lookup(2, 0x1000) == nil {
		t.Error("PASID 1's page is still held, or PASID 2's is not")
	}
	b.kernel.send(b.engine.Now()+100*ns, &msg.IOMMUCommand{Op: msg.IOTLBInvalidate, PASID: 7}) // nobody's: everything
	b.run()
	if b.unit.iotlb.lookup(2, 0x1000) != nil {
		t.Error("something is left")
	}
}

// Without a context invalidation the cached context stays in use.
func TestContextIsCached(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.mapPages(0, 0x1000, 1<<30, 1, 0)
	b.mapPages(1, 0x1000, 2<<30, 1, 0)
	b.roots[0].send(1000*ns, read(0x1000, 1, 1))
	b.run()
	b.setContext(0, 1, Context{Table: b.tables[1], Domain: 2})
	b.roots[0].send(5000*ns, read(0x1000, 1, 2))
	b.run()
	if a := b.log[len(b.log)-1]; a.req.PA != 1<<30 || a.seen != 5000*ns+hit {
		t.Errorf("goes to %#x at %v", a.req.PA, a.seen)
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

// ATS-7: a queue that waits for a tag, and requests on absent pages, do not stop
// completions, page requests and the ring's register.
func TestNothingWaitsInACircle(t *testing.T) {
	spec := defaultSpec(t)
	spec.ATSDepth, spec.PageRequests = 1, 1
	b := oneProcess(t, spec, 1)
	b.command(1000*ns, msg.DevTLBInvalidate, 0, 0)
	b.command(1000*ns, msg.DevTLBInvalidate, 0, 0) // stalls
	f := b.command(1000*ns, msg.Fence, 0, 0)
	b.roots[0].send(2000*ns, pageRequest(1, 1, true, false))
	b.kernel.send(3000*ns, &msg.IOMMUCommand{Op: msg.FreeRing, Count: 1})
	b.roots[0].send(4000*ns, pageRequest(2, 1, true, false)) // finds room
	b.roots[0].send(4000*ns, store(0x9000, 1, 1))            // absent
	b.roots[0].send(5000*ns, completion(1, 1))
	b.roots[0].send(7000*ns, completion(1, 1))
	b.run()
	if s := b.unit.Stats(); s.PageRequests != 2 || s.AutoReply != 0 || s.TimedOut != 0 || b.fenced(f) < 7000*ns || b.fenced(f) > 7010*ns {
		t.Errorf("%+v, fenced at %v", s, b.fenced(f))
	}
}

// An impossible parameter or context is refused by its key, without a panic.
func TestErrors(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"ways":    func(s *Spec) { s.IOTLBEntries, s.IOTLBWays = 117, 4 },
		"policy":  func(s *Spec) { s.IOTLBReplacement = "best" },
		"psc":     func(s *Spec) { s.PSCEntries = 0 },
		"depth":   func(s *Spec) { s.ATSDepth = 33 },
		"latency": func(s *Spec) { s.HitLatency = 0 },
		"absent":  func(s *Spec) { s.Absent = "wait" },
	} {
		s := defaultSpec(t)
		change(&s)
		if _, err := New(clocked.NewEngine(), "iommu", s, Config{Adapters: 1}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	s := defaultSpec(t)
	if _, err := New(clocked.NewEngine(), "iommu", s, Config{}); err == nil {
		t.Error("no adapters: accepted")
	}
	b := newBench(t, s, 1, 0)
	for i, tc := range []struct {
		adapter uint16
		pasid   uint32
		c       Context
	}{
		{1, 0, Context{Table: b.tables[0]}}, {0, 1 << 20, Context{Table: b.tables[0]}}, {0, 0, Context{Table: b.tables[0], Domain: MaxDomains}},
		{0, 0, Context{Table: b.tables[0], Identity: 1 << 30}}, {0, 0, Context{Table: b.tables[0], Absent: "hold"}},
	} {
		if err := b.unit.SetContext(tc.adapter, tc.pasid, tc.c); err == nil {
			t.Errorf("context %d accepted", i)
		}
	}
}
