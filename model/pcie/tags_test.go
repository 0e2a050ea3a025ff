package pcie

import "testing"

func TestTags(t *testing.T) {
	for bits, want := range map[int][2]int{5: {0, 32}, 8: {0, 256}, 10: {256, 768}, 14: {1024, 15360}, 0: {}, 9: {}, 64: {}} {
		if first, count := Tags(bits); first != want[0] || count != want[1] {
			t.Errorf("%d bits: %d from %d, want %d from %d", bits, count, first, want[1], want[0])
		}
	}
}
