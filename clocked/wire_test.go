package clocked

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// wireModel is a wire as a list: everything by the number of the message.
type wireModel struct {
	spec      WireSpec
	value     []int
	at        []Time // visible
	popped    []Time
	lastEdge  Time
	nextValue int
}

func (m *wireModel) ready(now Time) bool {
	n := len(m.value)
	if n < m.spec.Depth {
		return true
	}
	return len(m.popped) > n-m.spec.Depth && m.popped[n-m.spec.Depth]+m.spec.Back <= now
}

func (m *wireModel) push(at Time) int {
	if p := m.spec.Domain.period; at%p != 0 {
		at += p - at%p
	}
	m.lastEdge = max(m.lastEdge, at)
	m.at = append(m.at, m.lastEdge)
	m.nextValue++
	m.value = append(m.value, m.nextValue)
	return m.nextValue
}

func (m *wireModel) peek(now Time) (int, bool) {
	n := len(m.popped)
	if n == len(m.value) || m.at[n] > now {
		return 0, false
	}
	return m.value[n], true
}

func drawWire(t *rapid.T) WireSpec {
	return WireSpec{
		Name:    "w",
		Domain:  Domain{period: Time(rapid.IntRange(1, 7).Draw(t, "period"))},
		Depth:   rapid.IntRange(2, 5).Draw(t, "depth"),
		Latency: Time(rapid.IntRange(1, 9).Draw(t, "latency")),
		Back:    Time(rapid.IntRange(1, 9).Draw(t, "back")),
	}
}

type idle string

func (i idle) Name() string { return string(i) }
func (i idle) Tick(Time)    {}

// Order, depth, latency, clock edges and the registered way back, for any
// sequence of calls.
func TestWireAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEngine()
		m := &wireModel{spec: drawWire(t)}
		m.spec.Writer, m.spec.Reader = e.Register(idle("writer")), e.Register(idle("reader"))
		w := NewWire[int](e, m.spec)
		now := Time(0)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now += Time(rapid.IntRange(0, 6).Draw(t, "later"))
			switch rapid.IntRange(0, 2).Draw(t, "call") {
			case 0:
				if got := w.Ready(now); got != m.ready(now) {
					t.Fatalf("at %d: ready %v", now, got)
				} else if got {
					*w.Push(now) = m.push(now + m.spec.Latency)
				}
			case 1:
				if at := now + Time(rapid.IntRange(1, 20).Draw(t, "ahead")); w.Ready(now) {
					*w.PushAt(now, at) = m.push(at)
				}
			case 2:
				want, visible := m.peek(now)
				if got := w.Peek(now); (got != nil) != visible || visible && *got != want {
					t.Fatalf("at %d: peek %v, model %d %v", now, got, want, visible)
				}
				if visible {
					w.Pop(now)
					m.popped = append(m.popped, now)
				}
			}
			if w.Len() != len(m.value)-len(m.popped) || w.Len() > w.Depth() {
				t.Fatalf("at %d: %d of %d held", now, w.Len(), w.Depth())
			}
		}
	})
}

// source pushes message k no earlier than due[k]; sink takes a message no
// earlier than busy[k] after the one before.
type source struct {
	e    *Engine
	id   UnitID
	out  *Wire[int]
	due  []Time
	sent []Time
}

func (s *source) Name() string { return "source" }

func (s *source) Tick(now Time) {
	for k := len(s.sent); k < len(s.due); k = len(s.sent) {
		if s.due[k] > now {
			s.e.Wake(s.id, s.due[k])
			return
		}
		if !s.out.Ready(now) {
			return
		}
		*s.out.Push(now) = k
		s.sent = append(s.sent, now)
	}
}

type sink struct {
	e    *Engine
	id   UnitID
	in   *Wire[int]
	busy []Time
	free Time
	got  []Time
}

func (s *sink) Name() string { return "sink" }

func (s *sink) Tick(now Time) {
	if s.free > now {
		s.e.Wake(s.id, s.free)
		return
	}
	for s.in.Peek(now) != nil {
		k := *s.in.Peek(now)
		if k != len(s.got) {
			panic(fmt.Sprintf("message %d arrives as number %d", k, len(s.got)))
		}
		s.in.Pop(now)
		s.got = append(s.got, now)
		if s.busy[k] > 0 {
			s.free = now + s.busy[k]
			s.e.Wake(s.id, s.free)
			return
		}
	}
	s.in.Await(now)
}

// flow gives the exact times at which a chain of one wire sends and takes:
//
//	sent[k] = max(due[k], sent[k-1], got[k-depth]+back)
//	got[k]  = max(edge(sent[k]+latency), got[k-1]+busy[k-1])
//
// A wake that is lost, on either side, makes a message late or never come.
func flow(s WireSpec, due, busy []Time) (sent, got []Time) {
	for k := range due {
		at := due[k]
		if k > 0 {
			at = max(at, sent[k-1])
		}
		if k >= s.Depth {
			at = max(at, got[k-s.Depth]+s.Back)
		}
		sent = append(sent, at)
		seen := s.Domain.Edge(at + s.Latency)
		if k > 0 {
			seen = max(seen, got[k-1]+busy[k-1])
		}
		got = append(got, seen)
	}
	return sent, got
}

func TestWireNeverLosesAWake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEngine()
		if rapid.Bool().Draw(t, "shuffle") {
			e.Shuffle(rapid.Uint64().Draw(t, "seed"))
		}
		n := rapid.IntRange(1, 30).Draw(t, "messages")
		times := func(name string, most int) []Time {
			return rapid.SliceOfN(rapid.Map(rapid.IntRange(0, most), func(i int) Time { return Time(i) }), n, n).Draw(t, name)
		}
		spec := drawWire(t)
		src := &source{e: e, due: times("due", 100)}
		snk := &sink{e: e, busy: times("busy", 12)}
		src.id, snk.id = e.Register(src), e.Register(snk)
		spec.Writer, spec.Reader, spec.Quiet = src.id, snk.id, rapid.Bool().Draw(t, "quiet")
		src.out = NewWire[int](e, spec)
		snk.in = src.out
		e.Wake(src.id, 0)
		e.Wake(snk.id, 0)
		if err := e.Run(); err != nil {
			t.Fatal(err)
		}
		sent, got := flow(spec, src.due, snk.busy)
		if fmt.Sprint(src.sent, snk.got) != fmt.Sprint(sent, got) {
			t.Fatalf("sent and got\n%v\n%v, by the formula\n%v\n%v", src.sent, snk.got, sent, got)
		}
	})
}

func TestWireRefusesMisuse(t *testing.T) {
	e := NewEngine()
	u := e.Register(idle("u"))
	spec := WireSpec{Name: "w", Writer: u, Reader: u, Depth: 2, Latency: 1}
	mustPanic(t, "depth 1", func() { NewWire[int](e, WireSpec{Depth: 1, Latency: 1}) })
	mustPanic(t, "latency 0", func() { NewWire[int](e, WireSpec{Depth: 2}) })
	w := NewWire[int](e, spec)
	mustPanic(t, "seen within its instant", func() { w.PushAt(5, 5) })
	w.Push(5)
	w.Push(5)
	mustPanic(t, "push on a full wire", func() { w.Push(5) })
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}
