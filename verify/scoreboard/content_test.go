package scoreboard

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bytesOf is a block's content, byte by byte.
func bytesOf(c content, n uint32) []identity {
	out := make([]identity, n)
	for _, s := range c {
		for x := s.at; x < s.end; x++ {
			out[x] = identity{s.origin, s.from + x - s.at}
		}
	}
	return out
}

// TestContentIsItsBytes: spans say what an array of bytes says after the same
// stores, are in their one normal form, and compare as the bytes do.
func TestContentIsItsBytes(t *testing.T) {
	const size = 24
	rapid.Check(t, func(t *rapid.T) {
		var c [2]content
		var want [2][]identity
		for k := range want {
			want[k] = make([]identity, size)
		}
		for range rapid.IntRange(1, 12).Draw(t, "stores") {
			k := rapid.IntRange(0, 1).Draw(t, "block")
			n := span{at: rapid.Uint32Range(0, size).Draw(t, "at"), from: rapid.Uint32Range(0, 3).Draw(t, "from"),
				origin: rapid.Uint64Range(1, 2).Draw(t, "origin")}
			n.end = rapid.Uint32Range(n.at, size).Draw(t, "end")
			if rapid.Bool().Draw(t, "continues") {
				n.from = n.at // so that runs join
			}
			c[k].store(n)
			for x := n.at; x < n.end; x++ {
				want[k][x] = identity{n.origin, n.from + x - n.at}
			}
			if got := bytesOf(c[k], size); !slices.Equal(got, want[k]) {
				t.Fatalf("after %+v: %v, want %v", n, got, want[k])
			}
			for i := range c[k] {
				if s := c[k][i]; s.at >= s.end || i > 0 && (c[k][i-1].end > s.at || c[k][i-1].precedes(&s)) {
					t.Fatalf("not normal: %+v", c[k])
				}
			}
		}
		at := rapid.Uint32Range(0, size).Draw(t, "from")
		end := rapid.Uint32Range(at, size).Draw(t, "to")
		first, same := equal(c[0], c[1], at, end)
		if want := slices.Equal(want[0][at:end], want[1][at:end]); same != want {
			t.Fatalf("[%d, %d) of %+v and %+v: same %v, want %v", at, end, c[0], c[1], same, want)
		}
		if !same && (want[0][first] == want[1][first] || !slices.Equal(want[0][at:first], want[1][at:first])) {
			t.Fatalf("first difference at %d: %v and %v", first, want[0], want[1])
		}
	})
}

// TestCover: a set of bytes has what was put into it, in one piece or several.
func TestCover(t *testing.T) {
	var c cover
	c.add(4, 8)
	c.add(0, 4)
	if !c.has(0, 8) || c.has(0, 9) || c.has(7, 9) || !c.has(9, 9) {
		t.Errorf("%+v", c)
	}
	c.add(10, 12)
	if c.has(0, 12) || !c.has(10, 12) {
		t.Errorf("%+v", c)
	}
	c.add(8, 10)
	if !c.has(0, 12) || len(c.content) != 1 {
		t.Errorf("%+v", c)
	}
}
