package pcie

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Symbol times by hand: 10 bits at 2.5 and 5 GT/s; 8 × 130/128 bits at 8, 16 and
// 32 GT/s; 8 bits at 64 GT/s.
func TestSymbolTimes(t *testing.T) {
	for i, want := range [][2]int64{{4000, 1}, {2000, 1}, {8125, 8}, {8125, 16}, {8125, 32}, {125, 1}} {
		gen := i + 1
		num, den := SymbolTime(gen)
		if num != want[0] || den != want[1] {
			t.Errorf("Gen%d: %d/%d, want %d/%d", gen, num, den, want[0], want[1])
		}
		rate, coded := []float64{2.5, 5, 8, 16, 32, 64}[i], []float64{10, 10, 8.125, 8.125, 8.125, 8}[i]
		if got := float64(num) / float64(den); got != coded/rate*1000 {
			t.Errorf("Gen%d: %v ps, want %v", gen, got, coded/rate*1000)
		}
	}
}

// Bytes a second of the published table: 1, 2, 3.938, 7.877, 15.754 GB/s at x4,
// and so on in proportion; 118 GB/s of TLPs at Gen6 x16.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		gen, lanes int
		want       float64 // GB/s
	}{
		{1, 4, 1}, {1, 16, 4}, {2, 8, 4}, {3, 4, 3.938}, {3, 8, 7.877}, {3, 16, 15.754}, {4, 4, 7.877},
		{4, 16, 31.508}, {5, 8, 31.508}, {5, 16, 63.015}, {6, 4, 29.5}, {6, 8, 59}, {6, 16, 118},
	} {
		if got := TLPRate(c.gen, c.lanes) / 1e9; math.Abs(got-c.want) > 0.0005 {
			t.Errorf("Gen%d x%d: %.4f GB/s, want %.3f", c.gen, c.lanes, got, c.want)
		}
	}
}

// A byte over n lanes takes an n-th of a symbol time, exactly and in lowest terms.
func TestByteTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen, lanes := rapid.IntRange(FirstGen, LastGen).Draw(t, "gen"), rapid.IntRange(1, 32).Draw(t, "lanes")
		num, den := ByteTime(gen, lanes)
		n, d := SymbolTime(gen)
		if num*d*int64(lanes) != n*den {
			t.Fatalf("%d/%d, a symbol takes %d/%d", num, den, n, d)
		}
		for k := int64(2); k <= den; k++ {
			if num%k == 0 && den%k == 0 {
				t.Fatalf("%d/%d is not in lowest terms", num, den)
			}
		}
	})
	if num, den := ByteTime(4, 16); num != 8125 || den != 256 {
		t.Errorf("Gen4 x16: %d/%d, want 8125/256", num, den)
	}
	if num, den := ByteTime(1, 16); num != 250 || den != 1 {
		t.Errorf("Gen1 x16: %d/%d, want 250/1", num, den)
	}
}

// Limits of the published table in nanoseconds: 168 symbols are 85 at Gen4, 43 at
// Gen5; and rounding is up.
func TestSymbols(t *testing.T) {
	for _, c := range []struct {
		gen     int
		n, want int64
	}{
		{1, 237, 948_000}, {3, 168, 170_625}, {4, 168, 85_313}, {5, 168, 42_657}, {3, 1, 1016}, {3, 8, 8125}, {6, 4, 500}, {4, 0, 0},
	} {
		if got := Symbols(c.gen, c.n); got != c.want {
			t.Errorf("Gen%d, %d symbols: %d ps, want %d", c.gen, c.n, got, c.want)
		}
	}
}

// SKP takes 4 of 1538 symbols with 8b/10b, a block of 370 with 128b/130b, and 40
// bytes of each lane in 748 flits.
func TestSKP(t *testing.T) {
	for gen, want := range map[int][2]int64{1: {1538, 4}, 2: {1538, 4}, 3: {5920, 16}, 4: {5920, 16}, 5: {5920, 16}, 6: {11968, 40}} {
		if interval, length := SKP(gen); interval != want[0] || length != want[1] {
			t.Errorf("Gen%d: %d in %d, want %d in %d", gen, length, interval, want[1], want[0])
		}
	}
}

func TestFlits(t *testing.T) {
	for gen := FirstGen; gen <= LastGen; gen++ {
		if Flits(gen) != (gen == 6) {
			t.Errorf("Gen%d: %t", gen, Flits(gen))
		}
	}
	if FlitTLPBytes+6+8+6 != FlitBytes {
		t.Errorf("a flit's parts do not fill it")
	}
}
