package plots

import "strings"

// pairing is two metrics of one kind that are read against each other.
type pairing struct {
	label   string // of the y axis
	names   [2]string
	metrics [2]Metric
	scale   func(units []unit, label string, sets ...[]float64) scale
}

var (
	mttLookups = pairing{"share of MTT lookups (%)", [2]string{"missed", "walked the table"}, [2]Metric{MissRate, WalkRate}, linearScale}
	pageEvents = pairing{"per 1000 accesses", [2]string{"faults", "invalidations"}, [2]Metric{FaultRate, InvalidationRate}, valueScale}
)

// pair draws both metrics in one panel and names them above it. Of very many
// groups it draws the first metric only, for legibility.
func (s *sweepFigure) pair(x scale, of pairing) *panel {
	first, second := s.series(of.metrics[0]), s.series(of.metrics[1])
	n := len(first)
	if n > mostPanels {
		p := s.panel(x, of.scale(nil, of.label, ys(first)...), first)
		p.title = of.names[0]
		return p
	}
	y := of.scale(nil, of.label, append(ys(first), ys(second)...)...)
	looks := [2]func(i, n int) look{s.joinedLook, s.secondLook}
	p := s.lines(x, y, first, looks[0])
	for i, one := range second {
		p.Add(curve{one.X, scaled(one.Y, y), looks[1](i, n)})
	}
	for k, name := range of.names {
		sample := looks[k](0, n)
		if n > 1 {
			sample.color = softInk
		}
		p.legend = append(p.legend, entry{name: name, look: sample})
	}
	return p
}

// joinedLook leaves dashes to the second metric.
func (s *sweepFigure) joinedLook(i, n int) look {
	l := s.look(i, n)
	l.dashes = nil
	return l
}

// secondLook is in the colour of the group's first metric, or in the next where
// there is one group.
func (s *sweepFigure) secondLook(i, n int) look {
	l := s.look(i, n)
	l.dashes, l.glyph = dashPatterns[2], heavyPlus{}
	if n == 1 {
		l.color = seriesColors[1]
	}
	return l
}

// missRate is misses and walks in one panel, or in two where groups are many.
func (s *sweepFigure) missRate() *figure {
	f := s.figure("miss-rate", "miss rate")
	if len(s.layout.Groups) <= mostPanels {
		f.panels = [][]*panel{{s.pair(s.x(1), mttLookups)}}
		s.groupLegend(f)
		return f
	}
	var row []*panel
	sets := [2][]Series{s.series(MissRate), s.series(WalkRate)}
	y := linearScale(nil, mttLookups.label, append(ys(sets[0]), ys(sets[1])...)...)
	for k, series := range sets {
		p := s.panel(s.x(2), y, series)
		p.title = mttLookups.names[k]
		row = append(row, p)
	}
	f.arrange(row, 2)
	s.groupLegend(f)
	return f
}

// pages says whether any point has faults or invalidations.
func (s *sweepFigure) pages() bool {
	events := append(ys(s.series(FaultRate)), ys(s.series(InvalidationRate))...)
	_, hi, ok := spanOf(events...)
	return ok && hi > 0
}

func (s *sweepFigure) paging() *figure {
	if !s.pages() {
		return nil
	}
	f := s.figure("paging", "faults and invalidations")
	var row []*panel
	for k, name := range pageEvents.names {
		series := s.series(pageEvents.metrics[k])
		row = append(row, s.panel(s.x(2), valueScale(nil, name+" "+pageEvents.label, ys(series)...), series))
	}
	f.panels = [][]*panel{row}
	f.shareX()
	s.groupLegend(f)
	return f
}

// cpu is what the host's own program pays for the adapter's scheme: pinned pages
// are pages that it lacks.
func (s *sweepFigure) cpu() *figure {
	series := s.series(CPUStall)
	if _, _, ok := spanOf(ys(series)...); !ok {
		return nil
	}
	f := s.figure("cpu", "what the host's own program waits")
	f.panels = [][]*panel{{s.panel(s.x(1), valueScale(timeUnits, "mean stall of a CPU access", ys(series)...), series)}}
	s.groupLegend(f)
	return f
}

// overview is two panels on one x axis: the miss rate over latency where the
// adapter's tables are swept or there is one group, else latency over paging,
// or over throughput where nothing is paged.
func (s *sweepFigure) overview() *figure {
	x := s.x(1)
	f := s.figure("overview", "")
	f.height, f.title = tallHeight, s.title
	single, tables := len(s.layout.Groups) == 1, strings.HasPrefix(s.layout.X.Key, "tpt.")
	var upper, lower *panel
	if single || tables {
		upper = s.pair(x, mttLookups)
	} else {
		upper = s.p99(x)
	}
	switch {
	case single:
		lower = s.percentilePanels(f, x, 1)[0]
		lower.legend, f.legend = f.legend, nil
	case tables:
		lower = s.p99(x)
	case s.pages():
		lower = s.pair(x, pageEvents)
	default:
		rate := s.series(Throughput)
		lower = s.panel(x, s.throughputScale(rate), rate)
	}
	if !single {
		s.groupLegend(f)
	}
	upper.hideX()
	f.panels = [][]*panel{{upper}, {lower}}
	return f
}

func (s *sweepFigure) p99(x scale) *panel {
	series := s.series(Latency("p99"))
	return s.panel(x, valueScale(timeUnits, "p99 latency", ys(series)...), series)
}
