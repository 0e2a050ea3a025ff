package plots

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"pgregory.net/rapid"
)

func labels(ticks []plot.Tick) string {
	var out []string
	for _, t := range ticks {
		if t.Label != "" {
			out = append(out, t.Label)
		}
	}
	return strings.Join(out, " ")
}

func TestLadderOfEntriesHasPlainLabels(t *testing.T) {
	a := newAxisOf("64", "128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768", "65536")
	s := xScale(a)
	s.fit(figureWidth)
	if want := "64 128 256 512 1Ki 2Ki 4Ki 8Ki 16Ki 32Ki 64Ki"; !s.log || labels(s.ticks) != want {
		t.Errorf("log %v, ticks %q", s.log, labels(s.ticks))
	}
	s.fit(figureWidth / 6)
	if got := labels(s.ticks); len(s.ticks) != 11 || !strings.HasPrefix(got, "64 ") || strings.Contains(got, "128") {
		t.Errorf("narrow: %d ticks, labels %q", len(s.ticks), got)
	}
}

func newAxisOf(values ...string) Axis {
	var rows []Row
	for _, v := range values {
		rows = append(rows, Row{Values: []string{v}})
	}
	return newAxis("tpt.mtt.entries", 0, rows)
}

func TestAxesChooseTheirScale(t *testing.T) {
	for _, c := range []struct {
		values string
		log    bool
		ticks  string
	}{
		{"0.5 0.75 1 1.25 1.5 2 3 4", false, "0.5 0.75 1 1.25 1.5 2 3 4"},
		{"0 1 2 4 1024", false, "0 200 400 600 800 1000"},
		{"10ns 100ns 1us 10us", true, "10 ns 100 ns 1 µs 10 µs"},
		{"4KiB 64KiB 2MiB 1GiB", true, "4KiB 64KiB 2MiB 1GiB"},
		{"400MHz 800MHz 1.2GHz", false, "400 MHz 800 MHz 1.2 GHz"},
		{"lru fifo", false, "lru fifo"},
		{"16", false, "16"},
	} {
		s := xScale(newAxisOf(strings.Fields(c.values)...))
		s.fit(figureWidth)
		if s.log != c.log || labels(s.ticks) != c.ticks {
			t.Errorf("%s: log %v, ticks %q; want %v, %q", c.values, s.log, labels(s.ticks), c.log, c.ticks)
		}
	}
}

func TestValueAxes(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		values   []float64
		log      bool
		min, max float64
		label    string
		ticks    string
	}{
		{[]float64{1.4e6, 6.8e6}, false, 0, 8, "t (µs)", "0 2 4 6 8"},
		{[]float64{1.5e6, 1.2e9}, true, 1, 2000, "t (µs)", "1 10 100 1000"},
		{[]float64{300e3, 4e6}, true, 0.2, 5, "t (µs)", "0.2 0.5 1 2 5"},
		{[]float64{0, 900e3}, false, 0, 1000, "t (ns)", "0 200 400 600 800 1000"},
		{[]float64{0, 9.8e6}, false, 0, 10, "t (µs)", "0 2 4 6 8 10"},
		{[]float64{0, 10.1e6}, false, 0, 12, "t (µs)", "0 2 4 6 8 10 12"},
		{[]float64{600e3, 9.5e9}, true, 0.0005, 20, "t (ms)", "0.001 0.01 0.1 1 10"}, // in µs a tick of five digits
		{[]float64{0, 0}, false, 0, 1, "t (ps)", "0 0.2 0.4 0.6 0.8 1"},
		{[]float64{none}, false, 0, 1, "t (ps)", "0 0.2 0.4 0.6 0.8 1"},
		{nil, false, 0, 1, "t (ps)", "0 0.2 0.4 0.6 0.8 1"},
	} {
		s := valueScale(timeUnits, "t", c.values)
		if s.log != c.log || math.Abs(s.min-c.min) > 1e-9 || math.Abs(s.max-c.max) > 1e-9*c.max || s.label != c.label || labels(s.ticks) != c.ticks {
			t.Errorf("%v: log %v %g … %g %q %q", c.values, s.log, s.min, s.max, s.label, labels(s.ticks))
		}
	}
}

// Panels side by side have one unit, whatever each would take alone.
func TestPanelsSideBySideHaveOneUnit(t *testing.T) {
	small, large := []float64{20e3, 500e3}, []float64{600e3, 5e6} // 20 ns … 5 µs
	units := inOneUnit(timeUnits, small, large)
	for _, set := range [][]float64{small, large} {
		if s := valueScale(units, "t", set); s.label != "t (ns)" {
			t.Errorf("%v: %s", set, s.label)
		}
	}
	if units := inOneUnit(timeUnits, []float64{0, 3e6}, []float64{4e9}); len(units) != 1 || units[0].name != "ms" {
		t.Errorf("%v, want ms", units)
	}
	if units := inOneUnit(timeUnits); len(units) != len(timeUnits) {
		t.Errorf("%v of no value", units)
	}
}

// Any values get an axis that holds them, with two labels or more, all within.
func TestEveryValueHasAPlaceOnItsAxis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 1e15), rapid.Float64Range(0, 10), rapid.Just(0.0)), 1, 20).Draw(t, "values")
		s := valueScale(timeUnits, "t", values)
		for _, v := range values {
			if v /= s.unit.base; v < s.min || v > s.max || s.log && s.min <= 0 {
				t.Fatalf("%g outside %g … %g", v, s.min, s.max)
			}
		}
		n := 0
		for _, tick := range s.ticks {
			if tick.Value < s.min*(1-1e-9) || tick.Value > s.max*(1+1e-9) {
				t.Fatalf("tick %g outside %g … %g", tick.Value, s.min, s.max)
			}
			if tick.Label != "" {
				n++
			}
		}
		if n < 2 || n > 12 {
			t.Fatalf("%d labels between %g and %g: %q", n, s.min, s.max, labels(s.ticks))
		}
	})
}

// A linear axis leaves at most a quarter over its largest value empty.
func TestLinearAxisIsFilled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hi := rapid.Float64Range(1e-12, 1e15).Draw(t, "largest")
		_, top, ticks := linearFromZero(hi)
		if top < hi || hi < 0.75*top*(1-1e-9) || len(ticks) < 4 || len(ticks) > 8 {
			t.Fatalf("%g on an axis to %g with ticks %q", hi, top, labels(ticks))
		}
	})
}

func TestRatesHaveTicksOfFourDigits(t *testing.T) {
	for _, c := range []struct {
		values       []float64
		label, ticks string
	}{
		{[]float64{28e3, 20e6}, "r (M/s)", "0.1 1 10"},
		{[]float64{19e6, 20e6}, "r (M/s)", "0 5 10 15 20"},
		{[]float64{4e3, 900e3}, "r (k/s)", "10 100 1000"},
		{[]float64{2, 4}, "r (/s)", "0 1 2 3 4"},
	} {
		if s := valueScale(rateUnits, "r", c.values); s.label != c.label || labels(s.ticks) != c.ticks {
			t.Errorf("%v: %q %q", c.values, s.label, labels(s.ticks))
		}
	}
}

func TestNumbersInWords(t *testing.T) {
	for want, got := range map[string]string{
		"1.45 µs": formatTime(1.45e6), "233 µs": formatTime(233.4e6), "1.00 µs": formatTime(999.6e3), "0": formatTime(0),
		"15.0 ms": formatTime(15e9), "7.00 ps": formatTime(7), "20 000": plain(20000), "9999": plain(9999),
		"1 234 567.5": plain(1234567.5), "0.001": plain(0.001), "-12 345": plain(-12345), "64Ki": binary(65536),
		"3Mi": binary(3 << 20), "1.5": binary(1.5), "100": plain(100),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
