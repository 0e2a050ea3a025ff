package plots

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot/vg"

	"rnicmmu/measure"
)

// Names of a run's figures, in the order of drawing.
var runNames = []string{"latency", "causes", "invalidation"}

func runFigures(dir string, o Options) ([]*figure, error) {
	s, err := measure.ReadSummary(filepath.Join(dir, measure.SummaryFile))
	if err != nil {
		return nil, err
	}
	from, err := readOrigin(dir)
	if err != nil {
		return nil, err
	}
	var natural []*figure
	for _, draw := range []func(string, *measure.Summary) (*figure, error){runLatency, runCauses, runInvalidation} {
		f, err := draw(dir, &s)
		if err != nil {
			return nil, err
		}
		if f != nil {
			f.footer = from.smallPrint()
			natural = append(natural, f)
		}
	}
	return chosen(natural, o.Figures, runNames)
}

// runLatency is the distribution of the latency of completed accesses, from
// below in percent and from above on a logarithmic axis, where the tail shows.
func runLatency(dir string, s *measure.Summary) (*figure, error) {
	h, err := accessHistogram(filepath.Join(dir, measure.AccessesFile))
	if err != nil {
		return nil, err
	}
	if h.count == 0 {
		return nil, nil
	}
	latency, atMost := h.distribution()
	x := distributionScale(latency)
	under, over := newPanel(x, shareTo100("accesses at or under (%)")), newPanel(x, tailScale(h.count))
	rest := make([]float64, len(atMost))
	cdf := make([]float64, len(atMost))
	for i, share := range atMost {
		cdf[i], rest[i] = 100*share, 100*(1-share)
	}
	rest[len(rest)-1] = over.Y.Min // nothing is over the slowest
	marks := verticals{labels: []string{"p50", "p99", "p99.9"}}
	q := s.Accesses.LatencyPS
	for _, t := range []float64{float64(q.P50), float64(q.P99), float64(q.P999)} {
		marks.x = append(marks.x, t/x.unit.base)
	}
	rise := steps(x, scaled(latency, x), 0, cdf)
	rise.x, rise.y = append(rise.x, x.max), append(rise.y, 100)
	under.Add(marks, rise)
	over.Add(marks, steps(x, scaled(latency, x), 100, rest))
	f := &figure{name: "latency", height: figureHeight * 0.8, panels: [][]*panel{{under, over}}}
	f.title = "Latency of " + plain(float64(h.count)) + " completed accesses"
	dotted := plainLine(softInk)
	dotted.dashes = dashPatterns[2]
	f.legend = []entry{{look: dotted, name: fmt.Sprintf(
		"p50 %s, p99 %s, p99.9 %s; max %s", formatTime(float64(q.P50)), formatTime(float64(q.P99)),
		formatTime(float64(q.P999)), formatTime(float64(q.Max)))}}
	for _, p := range f.panels[0] {
		p.title = " " // room for the marks' labels
	}
	return f, nil
}

// steps is a line that goes from first at the left of the axis on to y[i] at
// x[i], straight up or down.
func steps(axis scale, x []float64, first float64, y []float64) curve {
	line := curve{x: []float64{axis.min}, y: []float64{first}, look: plainLine(seriesColors[0])}
	for i, at := range x {
		line.x = append(line.x, at, at)
		line.y = append(line.y, first, y[i])
		first = y[i]
	}
	return line
}

// runCauses is the mean latency by cause.
func runCauses(_ string, s *measure.Summary) (*figure, error) {
	n := float64(s.Accesses.Completed)
	if n == 0 {
		return nil, nil
	}
	var names []string
	var values []float64
	sum := 0.0
	for c, total := range s.Accesses.CausePS {
		if total > 0 {
			names, values = append(names, measure.Cause(c).String()), append(values, float64(total)/n)
			sum += float64(total) / n
		}
	}
	f := staircase(names, values, "mean time of an access")
	f.name = "causes"
	f.title = "Mean latency of an access by cause: " + formatTime(sum)
	return f, nil
}

// runInvalidation is the mean time of an invalidation by step.
func runInvalidation(dir string, s *measure.Summary) (*figure, error) {
	path := filepath.Join(dir, measure.InvalidationsFile)
	if s.Invalidations.Issued == 0 || !exists(path) {
		return nil, nil
	}
	steps, n, err := invalidationSteps(path)
	if err != nil || n == 0 {
		return nil, err
	}
	var names []string
	var values []float64
	total := 0.0
	for _, step := range steps {
		names, values = append(names, step.name), append(values, step.mean)
		total += step.mean
	}
	f := staircase(names, values, "mean time since the kernel called the notifier")
	f.name = "invalidation"
	f.title = fmt.Sprintf("Invalidation by step: %s from notifier to free frame, mean of %s", formatTime(total), plain(float64(n)))
	return f, nil
}

// staircase is a page with one stacked bar, unrolled.
func staircase(names []string, values []float64, label string) *figure {
	total := 0.0
	for _, v := range values {
		total += v
	}
	x := linearScale(timeUnits, label, []float64{total})
	y := rowScale("", reversed(names))
	y.fit(vg.Length(1e6))
	bar := stairs{values: scaled(values, x)}
	for i, v := range values {
		share := 0.0
		if total > 0 {
			share = 100 * v / total
		}
		bar.labels = append(bar.labels, fmt.Sprintf("%s (%s %%)", formatTime(v), sharePercent(share)))
		bar.colors = append(bar.colors, stairColor(names[i], i))
	}
	p := newPanel(x, y)
	p.Y.Tick.Length = 0
	p.Add(bar)
	height := min(tallHeight, vg.Points(float64(18*len(names)+80)))
	return &figure{height: max(height, vg.Points(150)), panels: [][]*panel{{p}}}
}

func stairColor(name string, i int) color.Color {
	if c, ok := causeColors[name]; ok {
		return c
	}
	return seriesColors[[...]int{0, 5}[i%2]]
}

func sharePercent(share float64) string {
	if share > 0 && share < 0.1 {
		return "< 0.1"
	}
	return fmt.Sprintf("%.1f", share)
}

func reversed(names []string) []string {
	out := slices.Clone(names)
	slices.Reverse(out)
	return out
}
