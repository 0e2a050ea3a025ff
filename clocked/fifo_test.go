package clocked

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A FIFO is a slice whose first value has a number, also where numbers wrap.
func TestFIFOIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Uint32().Draw(t, "first number")
		if rapid.Bool().Draw(t, "near the wrap") {
			start = -(start % 64)
		}
		f := FIFO[int]{head: start, tail: start}
		var want []int
		check := func(t *rapid.T) {
			var got []int
			for n := f.Head(); n != f.Tail(); n++ {
				got = append(got, *f.At(n))
			}
			if !slices.Equal(got, want) || f.Len() != len(want) {
				t.Fatalf("holds %v (%d), want %v", got, f.Len(), want)
			}
			if f.Holds(f.Head()-1) || f.Holds(f.Tail()) || f.Holds(f.Head()) != (len(want) > 0) {
				t.Fatalf("holds other numbers than %d to %d", f.Head(), f.Tail())
			}
			if len(want) > 0 && *f.Front() != want[0] {
				t.Fatalf("front %d, want %d", *f.Front(), want[0])
			}
		}
		pushed := 0
		t.Repeat(map[string]func(*rapid.T){
			"": check,
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "values") {
					pushed++
					*f.Push() = pushed
					want = append(want, pushed)
				}
			},
			"pop": func(t *rapid.T) {
				for range rapid.IntRange(0, len(want)).Draw(t, "values") {
					if got := f.Pop(); got != want[0] {
						t.Fatalf("popped %d, want %d", got, want[0])
					}
					want = want[1:]
				}
			},
		})
		if f.Tail()-start != uint32(pushed) {
			t.Fatalf("number %d after %d pushes from %d", f.Tail(), pushed, start)
		}
	})
}

// Once it has held as much, a FIFO allocates no more.
func TestFIFOAllocatesOnce(t *testing.T) {
	var f FIFO[[4]uint64]
	round := func() {
		for range 100 {
			f.Push()
		}
		for f.Len() > 0 {
			f.Pop()
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
