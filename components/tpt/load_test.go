package tpt

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// load drives a unit without end: requests for the pages in turn, as fast as
// the wire takes them while fewer than window are open.
type load struct {
	*sandwich
	window, open int
	pages        uint64
	sent, done   uint64
	deaf         bool // takes no answers
	refused      bool // sends a wrong key
	access       measure.Access
	ledgers      [64]measure.Ledger

	churn      bool // pages go, one after another, and come back when they are asked for
	nextDrop   clocked.Time
	dropping   bool
	invalidate msg.Invalidate
	response   msg.PageResponse
	answered   bool // the response has been sent
	drops      uint64
}

// newLoad replaces the sandwich's scripted responder.
func newLoad(t testing.TB, sp Spec, mode Mode, window int, pages uint64) *load {
	l := &load{sandwich: newSandwichIn(t, sp, mode).mapAll(), window: window, pages: pages, answered: true}
	l.custom, l.heard = l.tick, l.hear
	l.engine.Wake(1, 0)
	return l
}

func (l *load) tick(now clocked.Time) {
	u := l.unit
	for m := u.Translation.Peek(now); m != nil && !l.deaf; m = u.Translation.Peek(now) {
		if m.Outcome == msg.OutcomeOK {
			*u.Release.Push(now) = msg.Release{Handle: m.Handle}
		}
		l.open--
		l.done++
		u.Translation.Pop(now)
	}
	if l.churn {
		l.change(now)
	}
	for l.open < l.window && u.Translate.Ready(now) {
		x := &l.ledgers[l.sent%uint64(len(l.ledgers))]
		x.Open(now)
		page := l.sent % l.pages
		va := baseVA + model.VA(page)<<12
		k := uint32(l.key)
		if l.refused {
			k ^= 1
		}
		*u.Translate.Push(now) = msg.Translate{PD: 1, Key: k, CheckKey: true, CheckVA: va, CheckLen: 64, VA: va, Len: 64,
			Write: true, Access: &l.access, Ledger: x}
		l.sent++
		l.open++
	}
}

// change takes a page away every 1000 cycles, and answers page requests.
func (l *load) change(now clocked.Time) {
	if now >= l.nextDrop && !l.dropping {
		page := l.drops % l.pages
		l.space[page] = pte{}
		l.invalidate = msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{PASID: process, ITag: uint8(l.drops % ats.MaxTags),
			Range: ats.Cover(baseVA+model.VA(page<<12), 4096)}}
		*l.unit.Doorbell.Push(now) = msg.Doorbell{Len: 8, Body: &l.invalidate}
		l.dropping, l.nextDrop = true, now+1000*cycle
		l.drops++
	}
	if !l.answered {
		l.answered = true
		*l.unit.Doorbell.Push(now) = msg.Doorbell{Len: 8, Body: &l.response}
	}
}

// hear is the IOMMU: the page that is asked for is there at once.
func (l *load) hear(now clocked.Time, body any) {
	switch m := body.(type) {
	case *msg.InvalidateDone:
		l.dropping = false
	case *msg.PageRequest:
		page := l.pageAt(m.VA)
		l.space[page] = pte{Translation: ats.Translation{PA: frame(page), Shift: model.Shift4K, Read: true, Write: true}}
		l.response.Group, l.answered = m.Group, false
		l.engine.Wake(1, now+cycle)
	}
}

// loads are streams of hits, of misses, and of pages that go and come back.
var loads = []struct {
	name  string
	mode  Mode
	pages uint64
	churn bool
}{{"hit", Table, 8, false}, {"miss", Table, pages, false},
	{"atc-hit", ATC, 8, false}, {"atc-miss", ATC, pages, false}, {"atc-churn", ATC, 8, true}, {"bypass", Bypass, pages, false}}

// The unit allocates nothing in steady state.
func TestNoAllocations(t *testing.T) {
	for _, c := range loads {
		l := newLoad(t, spec(), c.mode, 32, c.pages)
		l.churn = c.churn
		at := 100 * clocked.Microsecond // buffers have grown by then
		_ = l.engine.RunUntil(at)
		before := l.done
		n := testing.AllocsPerRun(10, func() {
			at += 10 * clocked.Microsecond
			_ = l.engine.RunUntil(at)
		})
		if n != 0 || l.done-before < 100 {
			t.Errorf("%s: %v allocations, %d requests", c.name, n, l.done-before)
		}
		if s := &l.unit.Stats; c.churn && (s.DevTLBInvalidates < 100 || s.FaultsResumed < 100) {
			t.Errorf("%s: %+v", c.name, *s)
		}
	}
}

// Rates in steady state, the same whether a table or the IOMMU translates. Hits:
// one a cycle. Misses, from a window larger than the 8 walk registers: 8 a round
// trip of 402 cycles, of which the next walks start in the cycle in which one
// ends or, one a cycle, behind one another.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		name   string
		mode   Mode
		pages  uint64
		cycles clocked.Time
		least  uint64
		most   uint64
	}{
		{"hit", Table, 8, 8_000, 7_999, 8_001},
		{"miss", Table, pages, 402 * 100, 8*100 - 16, 8*100 + 8},
		{"atc-hit", ATC, 8, 8_000, 7_999, 8_001},
		{"atc-miss", ATC, pages, 402 * 100, 8*100 - 16, 8*100 + 8},
		{"bypass", Bypass, pages, 8_000, 7_999, 8_001},
	} {
		l := newLoad(t, spec(), c.mode, 32, c.pages)
		warm := 10_000 * cycle
		_ = l.engine.RunUntil(warm)
		before := l.done
		_ = l.engine.RunUntil(warm + c.cycles*cycle)
		if n := l.done - before; n < c.least || n > c.most {
			t.Errorf("%s: %d requests in %d cycles, want %d to %d", c.name, n, c.cycles, c.least, c.most)
		}
	}
}

// A responder that takes no answers stops the unit: what waits for it is
// bounded by the translations in flight, also when all are refusals, which hold
// no slot. When it listens again nothing has been lost.
func TestDeafResponder(t *testing.T) {
	for _, refused := range []bool{false, true} {
		sp := spec()
		sp.InFlight = 100
		l := newLoad(t, sp, Table, 1000, 8)
		l.refused, l.deaf = refused, true
		_ = l.engine.RunUntil(10_000 * cycle)
		wires := uint64(l.unit.Translate.Depth() + l.unit.Translation.Depth())
		if bound := uint64(sp.InFlight); l.unit.results.Len() > sp.InFlight || l.sent > wires+bound {
			t.Errorf("refused %v: %d results wait, %d requests taken", refused, l.unit.results.Len(), l.sent)
		}
		if l.unit.Idle() || len(l.unit.Waits()) == 0 {
			t.Errorf("refused %v: idle %v, waits %v", refused, l.unit.Idle(), l.unit.Waits())
		}
		l.deaf = false
		l.engine.Wake(1, 10_001*cycle)
		_ = l.engine.RunUntil(12_000 * cycle)
		l.window = 0
		_ = l.engine.Run()
		if l.done != l.sent || l.open != 0 || l.done < 1000 || !l.unit.Idle() || len(l.unit.Waits()) > 0 {
			t.Errorf("refused %v: %d sent, %d answered; waits %v", refused, l.sent, l.done, l.unit.Waits())
		}
	}
}

// BenchmarkRequest is the cost of a request in the unit and its mocks.
func BenchmarkRequest(b *testing.B) {
	for _, c := range loads {
		b.Run(c.name, func(b *testing.B) {
			l := newLoad(b, spec(), c.mode, 32, c.pages)
			l.churn = c.churn
			_ = l.engine.RunUntil(100 * clocked.Microsecond)
			b.ReportAllocs()
			for end := l.done + uint64(b.N); l.done < end; {
				_ = l.engine.RunUntil(l.engine.Now() + clocked.Microsecond)
			}
		})
	}
}
