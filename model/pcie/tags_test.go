package pcie

import "testing"

func TestTags(t *testing.T) {
	for bits, want := range map[int][2]int{5: {0, 32}, 8: {0, 256}, 10: {256, 768}, 14: {1024, 15360}, 0: {}, 9: {}, 64: {}} {
		if first, count := Tags(bits); first != want[0] || count != want[1] {
			t.Errorf("%d bits: %d from %d, want %d from %d", bits, count, first, want[1], want[0])
		}
	}
}

// A completer that returns 8 bits of a tag of 10 must not name another one.
func TestTagsCollide(t *testing.T) {
	for _, c := range []struct {
		a, b uint16
		want bool
	}{{5, 5, true}, {5, 6, false}, {0x105, 5, true}, {5, 0x305, true}, {0x105, 6, false}, {0x105, 0x205, false}, {0x105, 0x105, true}} {
		if got := TagsCollide(c.a, c.b); got != c.want {
			t.Errorf("%#x and %#x: %t", c.a, c.b, got)
		}
	}
}
