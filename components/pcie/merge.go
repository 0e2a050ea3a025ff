package pcie

import "rnicmmu/clocked"

// merge reads one or two wires of the same messages, each in its order and in
// turn while both have some; the first wire begins.
type merge[T any] struct {
	wires [2]*clocked.Wire[T] // nil: not there
	turn  uint8               // the wire that is asked first
}

// next is the wire whose message is to be taken now, nil if there is none. The
// caller must take it.
func (m *merge[T]) next(now clocked.Time) *clocked.Wire[T] {
	if w := m.wires[m.turn]; w != nil && w.Peek(now) != nil {
		m.turn ^= 1
		return w
	}
	if w := m.wires[m.turn^1]; w != nil && w.Peek(now) != nil {
		return w
	}
	return nil
}
