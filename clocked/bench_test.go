package clocked

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
)

// pulse is a unit that does nothing but ask for its next tick, a few cycles on.
type pulse struct {
	e     *Engine
	id    UnitID
	state uint64
	left  *int
}

// cyclesAhead is a wait of one to eight cycles of 1250 ps.
func cyclesAhead(state *uint64) Time {
	*state = *state*6364136223846793005 + 1442695040888963407
	return 1250 * Time(1+*state>>61)
}

func (p *pulse) Name() string { return "pulse" }

func (p *pulse) Tick(now Time) {
	if *p.left--; *p.left <= 0 {
		return
	}
	p.e.Wake(p.id, now+cyclesAhead(&p.state))
}

const pendingEvents = 64

// BenchmarkWake is a wake, its place in a queue of 64 and the tick, for units
// on one clock.
func BenchmarkWake(b *testing.B) { benchmarkWake(b, 0) }

// BenchmarkWakeManyClocks has each unit on a clock of its own phase: no two
// events ever fall together.
func BenchmarkWakeManyClocks(b *testing.B) { benchmarkWake(b, 1) }

func benchmarkWake(b *testing.B, phase Time) {
	e := NewEngine()
	left := b.N
	for i := range pendingEvents {
		p := &pulse{e: e, state: uint64(i) * 77, left: &left}
		p.id = e.Register(p)
		e.Wake(p.id, phase*Time(i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := e.Run(); err != nil {
		b.Fatal(err)
	}
}

// akitaPulse is pulse as an Akita handler.
type akitaPulse struct {
	e     sim.Engine
	state uint64
	left  *int
}

func (p *akitaPulse) Handle(ev sim.Event) error {
	if *p.left--; *p.left <= 0 {
		return nil
	}
	p.e.Schedule(sim.MakeTickEvent(ev.Time()+cyclesAhead(&p.state).Seconds(), p))
	return nil
}

func benchmarkAkita(b *testing.B, e sim.Engine) {
	left := b.N
	for i := range pendingEvents {
		p := &akitaPulse{e: e, state: uint64(i) * 77, left: &left}
		e.Schedule(sim.MakeTickEvent(0, p))
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := e.Run(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAkitaSerialEngine is the load of BenchmarkWake on Akita's own engine.
func BenchmarkAkitaSerialEngine(b *testing.B) { benchmarkAkita(b, sim.NewSerialEngine()) }

// BenchmarkAkitaEvents is the same load as Akita events on our engine.
func BenchmarkAkitaEvents(b *testing.B) { benchmarkAkita(b, NewEngine()) }

// stage passes messages from one wire to the next.
type stage struct {
	e       *Engine
	in, out *Wire[uint64]
	left    *int
}

func (s *stage) Name() string { return "stage" }

func (s *stage) Tick(now Time) {
	for m := s.in.Peek(now); m != nil && *s.left > 0 && s.out.Ready(now); m = s.in.Peek(now) {
		*s.left--
		*s.out.Push(now) = *m + 1
		s.in.Pop(now)
	}
}

// ring is 32 units in a ring with 16 messages under way.
func ring(e *Engine, left *int) {
	stages := make([]*stage, 32)
	ids := make([]UnitID, len(stages))
	for i := range stages {
		stages[i] = &stage{e: e, left: left}
		ids[i] = e.Register(stages[i])
	}
	for i := range stages {
		next := (i + 1) % len(stages)
		w := NewWire[uint64](e, WireSpec{Name: "hop", Writer: ids[i], Reader: ids[next],
			Domain: NewDomain(800e6), Depth: 4, Latency: 1250})
		stages[i].out, stages[next].in = w, w
		if i%2 == 0 {
			*w.PushAt(0, Time(1250*(1+i%5))) = 0
		}
	}
}

// BenchmarkWireHop is a push, the reader's wake and tick, and a pop.
func BenchmarkWireHop(b *testing.B) {
	e := NewEngine()
	left := b.N
	ring(e, &left)
	b.ReportAllocs()
	b.ResetTimer()
	if err := e.Run(); err != nil {
		b.Fatal(err)
	}
}

func TestTicksAndHopsDoNotAllocate(t *testing.T) {
	e := NewEngine()
	left := 1 << 40
	ring(e, &left)
	run := func() {
		if err := e.RunUntil(e.Now() + 100*Nanosecond); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, run); n != 0 || 1<<40-left < 100*16*80 {
		t.Errorf("%v allocations in 80 cycles, %d hops in all", n, 1<<40-left)
	}
}
