package calibrate

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"rnicmmu/clocked"
)

// Simulated links of every generation, the narrowest, a usual one and the widest,
// are within 1 % of the closed form.
func TestClosedForms(t *testing.T) {
	widths := slices.DeleteFunc(Widths(), func(w Width) bool { return w.Lanes != 1 && w.Lanes != 8 && w.Lanes != 32 })
	rows, err := CompareClosed(t.Context(), widths, []uint32{8, 64, 256, 512, 4096}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(widths)*5*3 || len(widths)%3 != 0 {
		t.Errorf("%d rows of %d links", len(rows), len(widths))
	}
	for i := range rows {
		if r := &rows[i]; !r.Good() {
			t.Errorf("Gen%d x%d, %v of %d B: %.4g B/s, closed form %.4g (%+.2f %%)", r.Gen, r.Lanes, r.Traffic, r.Bytes,
				r.Simulated, r.Closed, 100*r.Error())
		}
	}
}

// The rules of sizing hold. Their numbers by hand: 31.5 GB/s × 300 ns ÷ 280 B are 34
// writes, of 16 units of data each; × 600 ns ÷ 84 B are 225 reads, and 63 GB/s × 700 ns
// ÷ 84 B are 525.
func TestChecks(t *testing.T) {
	checks, err := Checks()
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for i := range checks {
		values = append(values, checks[i].Value+" "+checks[i].Wanted())
	}
	if want := []string{"34 PH full", "544 PD full", "33 PH less", "543 PD less", "225 tags full", "224 tags less", "256 tags equal"}; !slices.Equal(values, want) {
		t.Errorf("%q, want %q", values, want)
	}
	if got, want := checks[len(checks)-1].Want, 256./525; got != want {
		t.Errorf("256 tags: %g wanted, want %g", got, want)
	}
	for i := range checks {
		if c := &checks[i]; !c.Good() {
			t.Errorf("%s: %s reach %.4f of full rate, want %g", c.Rule, c.Value, c.Share, c.Want)
		}
	}
}

// What a rule is judged by.
func TestCheckGood(t *testing.T) {
	for _, c := range []struct {
		check Check
		good  bool
	}{
		{Check{Share: 0.9991, Want: 1, Least: true}, true},
		{Check{Share: 0.9989, Want: 1, Least: true}, false},
		{Check{Share: 0.9989, Want: 1}, true},
		{Check{Share: 0.9991, Want: 1}, false},
		{Check{Share: 0.504, Want: 0.5}, true},
		{Check{Share: 0.494, Want: 0.5}, false},
	} {
		if c.check.Good() != c.good {
			t.Errorf("%+v: good %v", c.check, !c.good)
		}
	}
}

// each does everything once, tells how much is over, returns the error of the
// lowest that failed, and stops with its context.
func TestEach(t *testing.T) {
	var mu sync.Mutex
	seen := map[int]int{}
	last := 0
	do := func(i int) error {
		mu.Lock()
		defer mu.Unlock()
		seen[i]++
		return nil
	}
	if err := each(t.Context(), 50, func(over int) { last = max(last, over) }, do); err != nil || len(seen) != 50 || last != 50 {
		t.Errorf("%d of 50 done, %d told, error %v", len(seen), last, err)
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("%d done %d times", i, n)
		}
	}
	third, other := errors.New("third"), errors.New("other")
	if err := each(t.Context(), 8, nil, func(i int) error {
		switch i {
		case 3:
			return third
		case 0, 1, 2:
			return nil
		}
		return other
	}); !errors.Is(err, third) {
		t.Errorf("error %v, want that of the lowest", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := each(ended, 8, nil, func(int) error { t.Error("done after the end"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// An arrival counts from the end of the warm-up on.
func TestArrivals(t *testing.T) {
	a := arrivals{warmup: 2}
	for _, at := range []int64{10, 100, 200, 400} {
		a.add(clocked.Time(at))
	}
	if got, want := a.rate(64), 2*64/300e-12; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%g B/s, want %g: two transfers in 300 ps", got, want)
	}
}
