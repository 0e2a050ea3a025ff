package clocked

// watchers look at a wire's messages. They may change nothing, and a wire
// without any pays a comparison a message.
type watchers[T any] struct {
	sent, taken []func(now Time, m *T)
	unseen      int // messages pushed that the first have not been shown
}

// OnSent has f shown every message when the tick, or the Akita event, in which
// it was pushed is over, in order.
func (w *Wire[T]) OnSent(f func(now Time, m *T)) { w.watch.sent = append(w.watch.sent, f) }

// OnTaken has f shown every message as the reader removes it. What the message
// points to may be its reader's by then, and changed.
func (w *Wire[T]) OnTaken(f func(now Time, m *T)) { w.watch.taken = append(w.watch.taken, f) }

// pushed remembers to show a message that its writer has yet to fill in.
func (w *Wire[T]) pushed() {
	w.watch.unseen++
	if w.watch.unseen == 1 {
		w.engine.watched = append(w.engine.watched, w)
	}
}

func (w *Wire[T]) showSent(now Time) {
	for i := w.count - w.watch.unseen; i < w.count; i++ {
		at := w.head + i
		if at >= len(w.slots) {
			at -= len(w.slots)
		}
		for _, f := range w.watch.sent {
			f(now, &w.slots[at].msg)
		}
	}
	w.watch.unseen = 0
}

// showTaken shows a message that goes. One that was pushed outside a tick may
// not have been shown when it came.
func (w *Wire[T]) showTaken(now Time) {
	if w.watch.unseen > 0 {
		w.showSent(now)
	}
	for _, f := range w.watch.taken {
		f(now, &w.slots[w.head].msg)
	}
}

// watched is a wire with messages that have not been shown.
type watched interface{ showSent(now Time) }

// show lets watchers see what was pushed in the tick that is over.
func (e *Engine) show() {
	for _, w := range e.watched {
		w.showSent(e.now)
	}
	e.watched = e.watched[:0]
}
