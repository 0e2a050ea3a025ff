package iommu

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

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
