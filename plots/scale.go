package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// scale is a finished axis: its range, what its numbers are divided by, ticks.
type scale struct {
	min, max float64
	log      bool
	names    bool // one place a name
	unit     unit
	ticks    []plot.Tick
	label    string
	only     []float64 // ticks stand at these values, thinned until they fit
	format   func(float64) string
}

// spanOf is the range of the finite values; ok is false when there are none.
func spanOf(sets ...[]float64) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, values := range sets {
		for _, v := range values {
			if !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi, lo <= hi
}

// valueScale is a y axis over all values: logarithmic when they span more than
// 10× without a zero, else linear from zero.
func valueScale(units []unit, label string, sets ...[]float64) scale {
	lo, hi, ok := spanOf(sets...)
	if !ok || lo <= 0 || hi/lo <= 10 {
		return linearScale(units, label, sets...)
	}
	lo, hi = lo/1.08, hi*1.08 // room for a marker
	s := scale{log: true, unit: unit{base: 1}, label: label}
	if units != nil {
		s.unit = unitForSpan(units, lo, hi)
		s.label += " (" + s.unit.name + ")"
	}
	s.min, s.max = floorDigit(lo/s.unit.base), ceilDigit(hi/s.unit.base)
	s.ticks = logTicks(s.min, s.max)
	return s
}

// inOneUnit leaves of the units the one that suits all values: panels side by
// side are read against each other.
func inOneUnit(units []unit, sets ...[]float64) []unit {
	lo, hi, ok := spanOf(sets...)
	switch {
	case units == nil || !ok:
		return units
	case lo > 0 && hi/lo > 10:
		return []unit{unitForSpan(units, lo, hi)}
	}
	return []unit{unitFor(units, hi)}
}

// linearScale is a linear y axis from zero over all values.
func linearScale(units []unit, label string, sets ...[]float64) scale {
	_, hi, ok := spanOf(sets...)
	if !ok {
		hi = 0
	}
	s := scale{unit: unit{base: 1}, label: label}
	if units != nil {
		s.unit = unitFor(units, hi)
		s.label += " (" + s.unit.name + ")"
	}
	s.min, s.max, s.ticks = linearFromZero(hi / s.unit.base)
	return s
}

// linearFromZero ends at the first tick that holds hi. With three steps or more
// to it, at most a quarter stays empty.
func linearFromZero(hi float64) (lo, top float64, ticks []plot.Tick) {
	if hi < 1e-300 {
		hi = 1
	}
	step := niceStep(hi / 6)
	top = max(math.Ceil(hi/step)*step, hi)
	return 0, top, linearTicks(0, top, step)
}

// spread tells whether ascending numbers are few and nowhere crowded, so that
// ticks stand at them.
func spread(numbers []float64) bool {
	closest := math.Inf(1)
	for i, v := range numbers[1:] {
		closest = min(closest, v-numbers[i])
	}
	return len(numbers) <= 12 && closest*40 >= numbers[len(numbers)-1]-numbers[0]
}

// xScale is the swept axis: logarithmic for ladders and wide spans of positive
// numbers, places in a row for names and for wide spans with a zero.
func xScale(a Axis) scale {
	if !a.numeric() {
		return rowScale(a.label(), a.Values)
	}
	numbers := slices.Clone(a.Numbers)
	slices.Sort(numbers)
	lo, hi := numbers[0], numbers[len(numbers)-1]
	s := scale{unit: unit{base: 1}, label: a.label(), format: a.quantity}
	ladder := !slices.ContainsFunc(numbers, func(v float64) bool { return !powerOfTwo(v) })
	switch {
	case lo == hi:
		s.min, s.max, s.only = lo-1, hi+1, numbers
	case lo > 0 && (hi/lo >= 32 || ladder && len(numbers) > 2):
		s.log = true
		margin := math.Pow(hi/lo, 0.025)
		s.min, s.max = lo/margin, hi*margin
		s.only = numbers
		if !ladder && len(numbers) > 24 {
			s.only = nil
			s.ticks = logTicks(s.min, s.max)
		}
	case spread(numbers):
		margin := (hi - lo) * 0.03
		s.min, s.max, s.only = lo-margin, hi+margin, numbers
	default:
		margin := (hi - lo) * 0.03
		s.min, s.max = lo-margin, hi+margin
		step := niceStep((hi - lo) / 7)
		s.ticks = linearTicks(math.Ceil(lo/step-1e-9)*step, hi, step)
	}
	for i := range s.ticks {
		if s.ticks[i].Label != "" {
			s.ticks[i].Label = a.quantity(s.ticks[i].Value)
		}
	}
	return s
}

// rowScale has one place a name.
func rowScale(label string, names []string) scale {
	spare := max(0, 4-float64(len(names))) / 2 // a lone bar is no wall
	s := scale{names: true, min: -0.6 - spare, max: float64(len(names)) - 0.4 + spare, unit: unit{base: 1}, label: label}
	for i := range names {
		s.only = append(s.only, float64(i))
	}
	s.format = func(v float64) string { return names[int(v)] }
	return s
}

// fit sets the ticks of an axis with given places: one has a label where it is
// far enough from the last that has.
func (s *scale) fit(width vg.Length) {
	if s.only == nil {
		return
	}
	widest := vg.Length(0) // of all numbers, so that those of a ladder stand evenly
	for _, v := range s.only {
		if !s.names {
			widest = max(widest, tickText.Width(s.format(v)))
		}
	}
	place := width / vg.Length(s.max-s.min) // of a name; a longer one is cut
	end := vg.Length(math.Inf(-1))          // of the last label
	s.ticks = s.ticks[:0]
	for _, v := range s.only {
		tick := plot.Tick{Value: v}
		label := s.format(v)
		if s.names && place > vg.Points(30) {
			label = fitted(tickText, label, place-vg.Points(5))
		}
		at, half := vg.Length(s.norm(v))*width, max(widest, tickText.Width(label))/2
		if at-half > end {
			tick.Label, end = label, at+half+vg.Points(4)
		} else if len(s.only) > 64 {
			continue
		}
		s.ticks = append(s.ticks, tick)
	}
}

// norm is a value's place between 0 and 1.
func (s *scale) norm(v float64) float64 {
	if s.log {
		return math.Log(v/s.min) / math.Log(s.max/s.min)
	}
	return (v - s.min) / (s.max - s.min)
}

func (s *scale) apply(a *plot.Axis) {
	a.Min, a.Max = s.min, s.max
	a.Tick.Marker = plot.ConstantTicks(s.ticks)
	if s.log {
		a.Scale = plot.LogScale{}
	}
}

// floorDigit and ceilDigit are the nearest 1, 2, … 9 × 10^k.
func floorDigit(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	return math.Floor(v/p+1e-9) * p
}

func ceilDigit(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	return math.Ceil(v/p-1e-9) * p
}

// floor125 is the largest of 1, 2, 5 × 10^k that v reaches.
func floor125(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range [...]float64{5, 2} {
		if v >= m*p {
			return m * p
		}
	}
	return p
}

func ceil125(v float64) float64 {
	f := floor125(v)
	if f >= v {
		return f
	}
	if math.Round(f/math.Pow(10, math.Floor(math.Log10(f)+1e-9))) == 2 {
		return f * 2.5
	}
	return f * 2
}

// niceStep is the smallest of 1, 2, 5 × 10^k that is not below v.
func niceStep(v float64) float64 { return ceil125(v) }

func linearTicks(from, to, step float64) []plot.Tick {
	var ticks []plot.Tick
	for i := 0; ; i++ {
		v := from + float64(i)*step
		if v > to+step/1e6 {
			return ticks
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: plain(v)})
	}
}

// logTicks labels 1, 2, 5 within two decades, else decades; the rest are minor.
func logTicks(lo, hi float64) []plot.Tick {
	decades := math.Log10(hi) - math.Log10(lo) // the quotient may overflow
	every := max(1, int(math.Ceil(decades/8)))
	var ticks []plot.Tick
	for k := int(math.Floor(math.Log10(lo) + 1e-9)); ; k++ {
		p := math.Pow(10, float64(k))
		for m := 1.0; m < 10; m++ {
			v := m * p
			if v > hi*(1+1e-9) {
				return ticks
			}
			if v < lo*(1-1e-9) {
				continue
			}
			tick := plot.Tick{Value: v}
			if m == 1 && k%every == 0 || decades <= 2 && (m == 2 || m == 5) {
				tick.Label = plain(v)
			}
			if tick.Label != "" || decades < 6 {
				ticks = append(ticks, tick)
			}
		}
	}
}
