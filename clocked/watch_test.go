package clocked

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// seen is a message and when a watcher was shown it.
type seen struct {
	at    Time
	value int
}

// talker pushes what its script says at its instant, and fills messages in only
// after it has pushed them all, as a writer may.
type talker struct {
	e      *Engine
	id     UnitID
	wire   *Wire[int]
	script map[Time]int // messages at an instant
	next   int
	sent   []seen
}

func (u *talker) Name() string { return "talker" }

func (u *talker) Tick(now Time) {
	var slots []*int
	for range u.script[now] {
		if u.wire.Ready(now) {
			slots = append(slots, u.wire.Push(now))
		}
	}
	for _, s := range slots {
		u.next++
		*s = u.next
		u.sent = append(u.sent, seen{now, u.next})
	}
}

// taker takes what it is allowed to at each tick.
type taker struct {
	wire  *Wire[int]
	most  int
	e     *Engine
	id    UnitID
	taken []seen
}

func (u *taker) Name() string { return "taker" }

func (u *taker) Tick(now Time) {
	for range u.most {
		m := u.wire.Peek(now)
		if m == nil {
			return
		}
		u.taken = append(u.taken, seen{now, *m})
		u.wire.Pop(now)
	}
	if u.wire.Len() > 0 {
		u.e.Wake(u.id, now+1)
	}
}

// TestWatchersSeeEveryMessage: what is sent and what is taken is shown whole,
// once, in order and at its instant, whatever the depth, the pace of the reader
// and the order of units within an instant.
func TestWatchersSeeEveryMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEngine()
		if seed := rapid.Uint64().Draw(t, "shuffle"); seed%2 == 1 {
			e.Shuffle(seed)
		}
		writer := &talker{e: e, script: map[Time]int{}}
		reader := &taker{e: e, most: rapid.IntRange(1, 3).Draw(t, "most")}
		writer.id, reader.id = e.Register(writer), e.Register(reader)
		spec := drawWire(t)
		spec.Writer, spec.Reader = writer.id, reader.id
		w := NewWire[int](e, spec)
		writer.wire, reader.wire = w, w
		for range rapid.IntRange(1, 20).Draw(t, "instants") {
			at := Time(rapid.IntRange(0, 60).Draw(t, "at"))
			writer.script[at] = rapid.IntRange(1, 4).Draw(t, "messages")
			e.Wake(writer.id, at)
		}
		var sent, taken []seen
		w.OnSent(func(now Time, m *int) { sent = append(sent, seen{now, *m}) })
		w.OnTaken(func(now Time, m *int) { taken = append(taken, seen{now, *m}) })
		if err := e.Run(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sent, writer.sent) {
			t.Fatalf("sent %v, shown %v", writer.sent, sent)
		}
		if !slices.Equal(taken, reader.taken) {
			t.Fatalf("taken %v, shown %v", reader.taken, taken)
		}
	})
}

// TestWatchersSeeWhatCameBeforeTheRun: a message pushed outside a tick is shown
// before it goes.
func TestWatchersSeeWhatCameBeforeTheRun(t *testing.T) {
	e := NewEngine()
	w := NewWire[int](e, WireSpec{Name: "w", Writer: e.Register(idle("w")), Reader: e.Register(idle("r")), Depth: 2, Latency: 1})
	var shown []seen
	w.OnSent(func(now Time, m *int) { shown = append(shown, seen{now, *m}) })
	*w.Push(0) = 7
	w.Pop(5)
	if err := e.Run(); err != nil || !slices.Equal(shown, []seen{{5, 7}}) {
		t.Fatalf("shown %v, %v", shown, err)
	}
}
