package iommu

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// load drives a unit without end: reads of pages in turn and stores, as fast as
// the wires take them, and a memory that answers at once. It allocates nothing.
type load struct {
	*bench
	pages, sent, done uint64
	inFlight          int
}

func newLoad(t tb, spec Spec, pages int) *load {
	l := &load{bench: oneProcess(t, spec, 1), pages: uint64(pages)}
	l.mapPages(0, 0, 1<<30, pages, pagetable.Write|pagetable.Dirty)
	l.onRoots, l.onMemory = l.root, l.answer
	l.engine.Wake(l.ids[0], 0)
	return l
}

func (l *load) root(now clocked.Time) {
	p := &l.unit.ports.Adapters[0]
	for d := p.Done.Peek(now); d != nil; d = p.Done.Peek(now) {
		p.Done.Pop(now)
		l.inFlight--
		l.done++
	}
	for l.inFlight < 64 && p.Req.Ready(now) {
		m := msg.MemReq{Kind: msg.KindData, Tag: uint16(l.sent % 64), Len: 64, PA: model.PA(l.sent % l.pages << 12), Address: msg.Address{PASID: 1}}
		if l.sent%4 == 0 {
			m.Write = true
			l.done++
		} else {
			l.inFlight++
		}
		*p.Req.Push(now) = m
		l.sent++
	}
}

func (l *load) answer(now clocked.Time) {
	p := &l.unit.ports.Adapters[0]
	for m := p.Out.Peek(now); m != nil; m = p.Out.Peek(now) {
		if !m.Write {
			if !p.MemDone.Ready(now) {
				break
			}
			*p.MemDone.Push(now) = msg.MemDone{Kind: m.Kind, Tag: m.Tag, Len: m.Len, PA: m.PA}
		}
		p.Out.Pop(now)
	}
	for m := l.unit.ports.WalkReq.Peek(now); m != nil && l.unit.ports.WalkDone.Ready(now); m = l.unit.ports.WalkReq.Peek(now) {
		*l.unit.ports.WalkDone.Push(now) = msg.MemDone{Kind: m.Kind, Tag: m.Tag, Len: m.Len, PA: m.PA}
		l.unit.ports.WalkReq.Pop(now)
	}
}

// until runs the load until n requests are done.
func (l *load) until(n uint64) {
	for l.done < n {
		if err := l.engine.RunUntil(l.engine.Now() + 1000*ns); err != nil {
			l.t.Fatal(err)
		}
	}
}

// In steady state neither hits nor walks allocate.
func TestNoAllocation(t *testing.T) {
	for _, tc := range []struct {
		name  string
		pages int
	}{{"hits", 16}, {"misses", 1000}} {
		l := newLoad(t, defaultSpec(t), tc.pages)
		l.until(20_000)
		before := l.unit.Stats()
		if n := testing.AllocsPerRun(5, func() { l.until(l.done + 2000) }); n > 0 {
			t.Errorf("%s: %v allocations for 2000 requests", tc.name, n)
		}
		if s := l.unit.Stats(); (s.Misses > before.Misses) != (tc.pages > 117) {
			t.Errorf("%s: %+v", tc.name, s)
		}
	}
}

func BenchmarkHits(b *testing.B) { benchmark(b, 16) }

func BenchmarkMisses(b *testing.B) { benchmark(b, 1000) }

func benchmark(b *testing.B, pages int) {
	l := newLoad(b, defaultSpec(b), pages)
	l.until(20_000)
	b.ReportAllocs()
	b.ResetTimer()
	l.until(l.done + uint64(b.N))
}
