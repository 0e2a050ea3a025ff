package clocked

import (
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sarchlab/akita/v3/sim"
)

// metronome ticks every period until it has ticked often enough.
type metronome struct {
	e      *Engine
	id     UnitID
	period Time
	left   int
	ticks  []Time
	during func(now Time)
}

func newMetronome(e *Engine, period Time, left int) *metronome {
	m := &metronome{e: e, period: period, left: left}
	m.id = e.Register(m)
	e.Wake(m.id, 0)
	return m
}

func (m *metronome) Name() string { return "metronome" }

func (m *metronome) Tick(now Time) {
	m.ticks = append(m.ticks, now)
	if m.during != nil {
		m.during(now)
	}
	if m.left--; m.left > 0 {
		m.e.Wake(m.id, now+m.period)
	}
}

func TestRunUntil(t *testing.T) {
	e := NewEngine()
	m := newMetronome(e, 10, 100)
	for _, limit := range []Time{0, 0, 9} {
		if err := e.RunUntil(limit); err != nil || e.Now() != 0 || len(m.ticks) != 1 {
			t.Fatalf("until %v: now %v, ticks %v, error %v", limit, e.Now(), m.ticks, err)
		}
	}
	if err := e.RunUntil(30); err != nil || !slices.Equal(m.ticks, []Time{0, 10, 20, 30}) {
		t.Fatalf("until 30: ticks %v, error %v", m.ticks, err)
	}
	e.Schedule(&stamped{sec: Time(30).Seconds(), handler: &collect{}}) // now is not the past
	if err := e.Run(); err != nil || e.Now() != 990 || e.CurrentTime() != Time(990).Seconds() {
		t.Fatalf("run: now %v, %v, error %v", e.Now(), e.CurrentTime(), err)
	}
}

func TestWakeIsNeverWithinItsInstant(t *testing.T) {
	e := NewEngine()
	m := newMetronome(e, 10, 2) // woken at 0 before the start
	mustPanic(t, "before time 0", func() { e.Wake(m.id, -1) })
	m.during = func(now Time) {
		mustPanic(t, "now", func() { e.Wake(m.id, now) })
		mustPanic(t, "the past", func() { e.Wake(m.id, now-1) })
		mustPanic(t, "an Akita event in the past", func() { e.Schedule(&stamped{sec: (now - 1).Seconds()}) })
	}
	if err := e.Run(); err != nil || len(m.ticks) != 2 {
		t.Fatalf("ticks %v, error %v", m.ticks, err)
	}
}

func TestOneTickAnInstant(t *testing.T) {
	e := NewEngine()
	m := newMetronome(e, 10, 1)
	for _, at := range []Time{7, 5, 7, 5, 9, 5} {
		e.Wake(m.id, at)
	}
	if err := e.Run(); err != nil || !slices.Equal(m.ticks, []Time{0, 5, 7, 9}) {
		t.Fatalf("ticks %v, error %v", m.ticks, err)
	}
}

type failing struct{ err error }

func (f failing) Handle(sim.Event) error { return f.err }

func TestHandlerErrorEndsRun(t *testing.T) {
	e := NewEngine()
	m := newMetronome(e, 10, 5)
	want := errors.New("broken")
	e.Schedule(&stamped{sec: Time(15).Seconds(), handler: failing{want}})
	if err := e.Run(); !errors.Is(err, want) || e.Now() != 15 || len(m.ticks) != 2 {
		t.Fatalf("error %v at %v after ticks %v", err, e.Now(), m.ticks)
	}
}

type hookLog struct {
	engine *Engine
	lines  []string
	at     []sim.VTimeInSec
}

func (h *hookLog) Func(ctx sim.HookCtx) {
	ev := ctx.Item.(sim.Event)
	if ctx.Domain != sim.Hookable(h.engine) || ev.Time() != h.engine.CurrentTime() {
		panic("hook called for another time or domain")
	}
	what := "event"
	if u, ok := ev.Handler().(sim.Named); ok {
		what = u.Name()
	}
	h.lines = append(h.lines, ctx.Pos.Name+" "+what)
	h.at = append(h.at, ev.Time())
}

func TestHooksSeeTicksAndEvents(t *testing.T) {
	e := NewEngine()
	h := &hookLog{engine: e}
	e.AcceptHook(h)
	m := newMetronome(e, 10, 2)
	m.during = func(Time) { h.lines = append(h.lines, "tick") }
	odd := sim.VTimeInSec(4.2e-12) // hooks see the time to the last bit
	e.Schedule(&stamped{sec: odd, handler: &collect{}})
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	want := []string{"BeforeEvent metronome", "tick", "AfterEvent metronome", "BeforeEvent event", "AfterEvent event",
		"BeforeEvent metronome", "tick", "AfterEvent metronome"}
	if !slices.Equal(h.lines, want) || !slices.Equal(h.at, []sim.VTimeInSec{0, 0, odd, odd, 1e-11, 1e-11}) {
		t.Fatalf("hooks saw %q at %v", h.lines, h.at)
	}
}

type endLog struct{ at []sim.VTimeInSec }

func (l *endLog) Handle(now sim.VTimeInSec) { l.at = append(l.at, now) }

func TestFinished(t *testing.T) {
	for _, guest := range []bool{false, true} {
		e := NewEngine()
		var run sim.Engine = e
		before, after := &endLog{}, &endLog{}
		e.RegisterSimulationEndHandler(before)
		if guest {
			run = onAkita(e)
		}
		e.RegisterSimulationEndHandler(after)
		newMetronome(e, 10, 3)
		if err := run.Run(); err != nil {
			t.Fatal(err)
		}
		run.Finished()
		if want := []sim.VTimeInSec{2e-11}; !slices.Equal(before.at, want) || !slices.Equal(after.at, want) {
			t.Errorf("guest %v: end handlers called at %v and %v", guest, before.at, after.at)
		}
	}
}

// endless is a unit that never stops and counts its ticks.
type endless struct {
	e     *Engine
	id    UnitID
	ticks atomic.Int64
}

func (u *endless) Name() string { return "endless" }

func (u *endless) Tick(now Time) {
	u.ticks.Add(1)
	u.e.Wake(u.id, now+10)
}

func TestPauseContinueStop(t *testing.T) {
	e := NewEngine()
	u := &endless{e: e}
	u.id = e.Register(u)
	e.Wake(u.id, 0)
	done := make(chan error, 1)
	go func() { done <- e.Run() }()
	for range 20 {
		for before := u.ticks.Load(); u.ticks.Load() == before; {
			runtime.Gosched() // it runs
		}
		e.Pause()
		e.Pause() // twice is once
		paused := u.ticks.Load()
		time.Sleep(2 * time.Millisecond)
		if n := u.ticks.Load() - paused; n > 1 { // one was in progress
			t.Fatalf("%d ticks while paused", n)
		}
		e.Continue()
	}
	e.Pause()
	e.Stop() // also when paused
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	now := e.Now()
	if err := e.Run(); err != nil || e.Now() != now {
		t.Fatalf("ran on from %v to %v after Stop, error %v", now, e.Now(), err)
	}
}

func TestStopAsGuest(t *testing.T) {
	e := NewEngine()
	host := onAkita(e)
	m := newMetronome(e, 10, 1<<40)
	m.during = func(now Time) {
		if now == 50 {
			e.Stop()
		}
	}
	if err := host.Run(); err != nil || len(m.ticks) != 6 {
		t.Fatalf("ticks %v, error %v", m.ticks, err)
	}
}

// tickOrder notes who ticked.
type tickOrder struct {
	name string
	at   *[]string
}

func (u tickOrder) Name() string { return u.name }
func (u tickOrder) Tick(Time)    { *u.at = append(*u.at, u.name) }

// A unit that is to be last ticks after all others, whenever it was woken and
// however an instant is shuffled.
func TestLast(t *testing.T) {
	for seed := range uint64(50) {
		var order []string
		e := NewEngine()
		if seed > 0 {
			e.Shuffle(seed)
		}
		last := e.Register(tickOrder{"last", &order})
		e.Last(last)
		e.Wake(last, 10)
		for i := range 5 {
			e.Wake(e.Register(tickOrder{strconv.Itoa(i), &order}), 10)
		}
		if err := e.Run(); err != nil || len(order) != 6 || order[5] != "last" {
			t.Fatalf("seed %d: %v, %v", seed, order, err)
		}
	}
}
