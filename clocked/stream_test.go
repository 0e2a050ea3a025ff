package clocked

import "testing"

// A stream depends on its seed and its name and on nothing else.
func TestStreams(t *testing.T) {
	first := func(seed uint64, name string) uint64 { return NewStream(seed, name).Uint64() }
	a, again, seed, name := first(1, "a"), first(1, "a"), first(2, "a"), first(1, "b")
	if a != again || a == seed || a == name {
		t.Errorf("seed 1 a: %d, then %d; seed 2 a: %d; seed 1 b: %d", a, again, seed, name)
	}
}
