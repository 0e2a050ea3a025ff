package pcie

import "rnicmmu/clocked"

// merge reads one or two wires of the same messages, each in its order and in
// turn while both have some; the first wire begins.
type merge[T any] struct {
	wires [2]*clocked.Wire[T] // the second may be nil: not there
	turn  uint8               // the wire that is asked first
}

// next is the message to be taken now, and its wire; nil if there is none. The
// caller must take it.
func (m *merge[T]) next(now clocked.Time) (*T, *clocked.Wire[T]) {
	if m.wires[1] == nil {
		return m.wires[0].Peek(now), m.wires[0]
	}
	for range m.wires {
		w := m.wires[m.turn]
		m.turn ^= 1
		if p := w.Peek(now); p != nil {
			return p, w
		}
	}
	return nil, nil
}
