package iommu

import (
	"maps"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// oneProcess is a bench whose PASID 1 walks table 0.
func oneProcess(t tb, spec Spec, adapters int) *bench {
	t.Helper()
	b := newBench(t, spec, adapters, 0)
	for i := range adapters {
		b.setContext(uint16(i), 1, Context{Table: b.tables[0], Domain: 1, ATS: true, PRI: true, Trusted: true})
	}
	return b
}

// What a request costs: look-up, context, and a read for each level that no
// paging-structure cache knows. Pages are chosen so that the walk of each begins
// at another level; every request comes when the one before is done.
func TestLatencies(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	const flags = pagetable.Write | pagetable.User
	b.mapPages(0, 0, 1<<30, 2, flags)
	b.mapPages(0, 1<<21, 2<<30, 1, flags)
	b.mapPages(0, 1<<30, 3<<30, 1, flags)
	b.mapPages(0, 1<<39, 4<<30, 1, flags)
	for _, m := range []struct {
		va    model.VA
		shift model.PageShift
	}{{2 << 39, model.Shift2M}, {3 << 39, model.Shift1G}} {
		if err := b.tables[0].Map(m.va, 5<<30, m.shift, flags); err != nil {
			t.Fatal(err)
		}
	}
	for i, tc := range []struct {
		name  string
		va    model.VA
		pa    model.PA
		wait  clocked.Time
		reads int
	}{
		{"cold: context and four levels", 0x40, 1<<30 + 0x40, contextRead + overhead + 4*entryRead, 4},
		{"hit", 0x80, 1<<30 + 0x80, 0, 0},
		{"next page: the PT is known", 0x1040, 1<<30 + 0x1040, overhead + entryRead, 1},
		{"next PT", 1<<21 + 8, 2<<30 + 8, overhead + 2*entryRead, 2},
		{"next PD", 1<<30 + 8, 3<<30 + 8, overhead + 3*entryRead, 3},
		{"next PDPT", 1<<39 + 8, 4<<30 + 8, overhead + 4*entryRead, 4},
		{"2 MiB page", 2<<39 + 0x12345, 5<<30 + 0x12345, overhead + 3*entryRead, 3},
		{"in it", 2<<39 + 0x1F_0000, 5<<30 + 0x1F_0000, 0, 0},
		{"1 GiB page", 3<<39 + 0x123_4567, 5<<30 + 0x123_4567, overhead + 2*entryRead, 2},
		{"in it, far away", 3<<39 + 0x3000_0000, 5<<30 + 0x3000_0000, 0, 0},
	} {
		before := b.unit.stats.WalkReads
		at := clocked.Time(i+1) * 10000 * ns
		ledger := &measure.Ledger{}
		ledger.Open(at - 10*ns)
		m := read(tc.va, 1, uint64(i))
		m.Ledger = ledger
		b.roots[0].send(at, m)
		b.run()
		a := b.log[len(b.log)-1]
		if a.seen != at+tc.wait+hit || a.req.PA != tc.pa {
			t.Errorf("%s: memory sees %#x at %v, want %#x at %v", tc.name, a.req.PA, a.seen, tc.pa, at+tc.wait+hit)
		}
		if got := b.unit.stats.WalkReads - before; got != uint64(tc.reads) {
			t.Errorf("%s: %d entries read, want %d", tc.name, got, tc.reads)
		}
		if got := ledger.Causes[measure.CauseIOMMU]; got != tc.wait {
			t.Errorf("%s: %v charged to the IOMMU, want %v", tc.name, got, tc.wait)
		}
		d := b.roots[0].done[i]
		if want := a.seen + memRead + hop + hop; d.at != want || d.msg.Status != msg.StatusSuccess || d.msg.Tag != m.Tag {
			t.Errorf("%s: answered %+v at %v, want %v", tc.name, d.msg, d.at, want)
		}
	}
	if s := b.unit.Stats(); s.Lookups != 10 || s.Hits != 3 || s.Walks != 7 || s.ContextReads != 1 {
		t.Errorf("counters %+v", s)
	}
}

// A miss whose page table is known costs 280 ns more than a hit, the published
// median.
func TestMissCostsThePublishedMedian(t *testing.T) {
	if overhead+entryRead != 280*ns {
		t.Errorf("a miss costs %v", overhead+entryRead)
	}
	s := defaultSpec(t)
	if s.WalkOverhead != overhead || s.WalkRead+2*hop != entryRead || s.HitLatency != hit {
		t.Errorf("defaults %v, %v, %v", s.WalkOverhead, s.WalkRead, s.HitLatency)
	}
}

// Walkers bound the walks under way: of n misses at once, k walkers finish k
// each walk time, in order of arrival.
func TestWalkersBoundWalks(t *testing.T) {
	for _, walkers := range []int{1, 3, 5} {
		spec := defaultSpec(t)
		spec.Walkers = walkers
		b := oneProcess(t, spec, 1)
		b.mapPages(0, 0, 1<<30, 20, 0)
		b.roots[0].send(100*ns, read(0, 1, 0))
		const at = 10000 * ns
		for i := range 15 {
			b.roots[0].send(at, read(model.VA(i+1)<<12, 1, uint64(i+1)))
		}
		b.run()
		for i := range 15 {
			want := at + clocked.Time(i/walkers+1)*(overhead+entryRead) + hit
			if got := b.seen(uint64(i + 1)); got != want {
				t.Errorf("%d walkers: miss %d goes to memory at %v, want %v", walkers, i, got, want)
			}
		}
	}
}

// F19: eight misses of one page while its walk runs make one walk, seven merged
// requests and one entry.
func TestMissesOfAPageMerge(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 2)
	b.mapPages(0, 0, 1<<30, 1, pagetable.Write)
	for i := range 8 {
		b.roots[i%2].send(100*ns+clocked.Time(i)*ns, read(model.VA(i*64), 1, uint64(i)))
	}
	b.run()
	entries := maps.Collect(b.unit.iotlb.tags.All())
	if s := b.unit.Stats(); s.Walks != 1 || s.Merged != 7 || s.WalkReads != 4 || len(entries) != 1 {
		t.Errorf("counters %+v, entries %v", s, entries)
	}
	if len(b.roots[0].done) != 4 || len(b.roots[1].done) != 4 {
		t.Errorf("%d and %d answers", len(b.roots[0].done), len(b.roots[1].done))
	}
}

// Addresses of an identity translate to themselves, with pages of 1 GiB: two
// reads when nothing is known, one when the PML4 entry is.
func TestIdentity(t *testing.T) {
	b := newBench(t, defaultSpec(t), 1, 0)
	b.setContext(0, 0, Context{Table: b.tables[0], Domain: 1, Identity: 1 << 44})
	const va = model.VA(1<<44 + 5<<39)
	b.roots[0].send(1000*ns, read(va+0x123, 0, 1))
	b.roots[0].send(5000*ns, store(va+1<<30, 0, 2))
	b.roots[0].send(9000*ns, store(va+1<<30+0x3FFF_FFC0, 0, 3))
	b.run()
	for cookie, want := range map[uint64]clocked.Time{1: 1000*ns + contextRead + overhead + 2*entryRead + hit,
		2: 5000*ns + overhead + entryRead + hit, 3: 9000*ns + hit} {
		if got := b.seen(cookie); got != want {
			t.Errorf("request %d goes to memory at %v, want %v", cookie, got, want)
		}
	}
	for _, a := range b.log {
		if a.client == 0 && a.req.PA != b.roots[0].script[a.req.Cookie-1].msg.PA {
			t.Errorf("%#x became %#x", b.roots[0].script[a.req.Cookie-1].msg.PA, a.req.PA)
		}
	}
}
