package memory

import "rnicmmu/clocked"

// timed is something that happens at an instant.
type timed[T any] struct {
	at   clocked.Time
	item T
}

// timeline holds things in order of their instants, equal ones in order of
// insertion. It is a ring that grows when full.
type timeline[T any] struct {
	ring        []timed[T]
	head, count int
}

func (l *timeline[T]) at(i int) *timed[T] { return &l.ring[(l.head+i)&(len(l.ring)-1)] }

// insert puts item behind all that happen at or before at and returns it. What
// completes nearly in order of insertion costs little.
func (l *timeline[T]) insert(at clocked.Time) *T {
	if l.count == len(l.ring) {
		l.grow()
	}
	i := l.count
	for l.count++; i > 0 && l.at(i-1).at > at; i-- {
		*l.at(i) = *l.at(i - 1)
	}
	slot := l.at(i)
	slot.at = at
	return &slot.item
}

func (l *timeline[T]) grow() {
	bigger := make([]timed[T], max(16, 2*len(l.ring)))
	for i := range l.count {
		bigger[i] = *l.at(i)
	}
	l.ring, l.head = bigger, 0
}

// due is the first item if its instant has come, else nil.
func (l *timeline[T]) due(now clocked.Time) *T {
	if l.count == 0 {
		return nil
	}
	if first := &l.ring[l.head]; first.at <= now {
		return &first.item
	}
	return nil
}

// next is the instant of the first item; there must be one.
func (l *timeline[T]) next() clocked.Time { return l.ring[l.head].at }

func (l *timeline[T]) pop() {
	var zero timed[T]
	l.ring[l.head] = zero
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.count--
}
