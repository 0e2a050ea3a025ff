package clocked

import "fmt"

// Wire is a registered FIFO between one writing and one reading unit. A message
// pushed at t is visible at the reader's first clock edge at or after t+latency;
// a slot popped at t is free for the writer at t+back. Both delays are at least
// 1 ps, so neither side sees the other's action within its own instant.
type Wire[T any] struct {
	engine         *Engine
	name           string
	reader, writer UnitID
	domain         Domain
	latency, back  Time
	slots          []wireSlot[T]
	head, count    int
	lastAt         Time
	writerWaits    bool
	readerWaits    bool
	quiet          bool
	watch          watchers[T]
}

type wireSlot[T any] struct {
	at  Time // visible to the reader when occupied, free for the writer when not
	msg T
}

// WireSpec says how a wire is built.
type WireSpec struct {
	Name           string
	Writer, Reader UnitID
	Domain         Domain // the reader's clock; the zero value: no clock, any picosecond
	Depth          int    // messages, at least 2
	Latency        Time   // at least 1 ps
	Back           Time   // time until a freed slot is seen by the writer; 0: the same as Latency
	Quiet          bool   // a push wakes the reader only if it called Await
}

// NewWire builds a wire on an engine.
func NewWire[T any](e *Engine, s WireSpec) *Wire[T] {
	if s.Depth < 2 || s.Latency < 1 {
		panic(fmt.Sprintf("clocked: wire %s: depth %d, latency %d ps: at least 2 and 1 ps", s.Name, s.Depth, s.Latency))
	}
	if s.Domain.period == 0 {
		s.Domain.period = 1
	}
	if s.Back == 0 {
		s.Back = s.Latency
	}
	return &Wire[T]{engine: e, name: s.Name, reader: s.Reader, writer: s.Writer, domain: s.Domain,
		latency: s.Latency, back: s.Back, slots: make([]wireSlot[T], s.Depth), quiet: s.Quiet}
}

// Ready tells the writer whether it may push at now. When it may not, the
// writer is woken as soon as a slot is free.
func (w *Wire[T]) Ready(now Time) bool {
	if w.count == len(w.slots) {
		w.writerWaits = true
		return false
	}
	if at := w.slots[w.tail()].at; at > now {
		w.engine.Wake(w.writer, at)
		return false
	}
	return true
}

func (w *Wire[T]) tail() int {
	t := w.head + w.count
	if t >= len(w.slots) {
		t -= len(w.slots)
	}
	return t
}

// Push appends a message and returns it for the writer to fill in. The message
// holds whatever an earlier one left there: assign it whole. Call Ready first.
func (w *Wire[T]) Push(now Time) *T { return w.PushAt(now, now+w.latency) }

// PushAt appends a message that is visible at or after the given time, which
// must be later than now; messages stay in order.
func (w *Wire[T]) PushAt(now, at Time) *T {
	if w.count == len(w.slots) || at <= now {
		panic(fmt.Sprintf("clocked: wire %s: push at %v for %v with %d of %d messages", w.name, now, at, w.count, len(w.slots)))
	}
	if w.domain.period > 1 {
		at = w.domain.Edge(at)
	}
	at = max(at, w.lastAt)
	w.lastAt = at
	s := &w.slots[w.tail()]
	s.at = at
	w.count++
	if w.watch.sent != nil {
		w.pushed()
	}
	if !w.quiet {
		w.engine.Wake(w.reader, at)
	} else if w.readerWaits {
		w.readerWaits = false
		w.engine.Wake(w.reader, at)
	}
	return &s.msg
}

// Peek is the oldest message if it is visible at now, else nil.
func (w *Wire[T]) Peek(now Time) *T {
	if w.count == 0 {
		return nil
	}
	s := &w.slots[w.head]
	if s.at > now {
		return nil
	}
	return &s.msg
}

// Pop removes the oldest message, which Peek has shown.
func (w *Wire[T]) Pop(now Time) {
	if w.watch.taken != nil || w.watch.unseen > 0 {
		w.showTaken(now)
	}
	free := now + w.back
	w.slots[w.head].at = free
	w.head++
	if w.head == len(w.slots) {
		w.head = 0
	}
	w.count--
	if w.writerWaits {
		w.writerWaits = false
		w.engine.Wake(w.writer, free)
	}
}

// Await asks a quiet wire to wake the reader for the next message that is not
// visible at now.
func (w *Wire[T]) Await(now Time) {
	if w.count > 0 {
		if at := w.slots[w.head].at; at > now {
			w.engine.Wake(w.reader, at)
		}
		return
	}
	w.readerWaits = true
}

// Len is the number of messages held, visible or not.
func (w *Wire[T]) Len() int { return w.count }

// Depth is the number of messages that the wire can hold.
func (w *Wire[T]) Depth() int { return len(w.slots) }

// Name is the wire's name.
func (w *Wire[T]) Name() string { return w.name }
