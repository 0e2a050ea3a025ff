package plots

import "strings"

// tableLookups are the metrics of the translation cache.
var tableLookups = []labelled{{label: "missed", metric: MissRate}, {label: "walked the table", metric: WalkRate}}

// pageEvents are the metrics of paging.
var pageEvents = []labelled{
	{"faults per 1000 accesses", FaultRate, true}, {"invalidations per 1000 accesses", InvalidationRate, true},
}

// lookups is the misses and walks of the only group in one panel.
func (s *sweepFigure) lookups(x scale) *panel {
	var sets [][]float64
	for _, m := range tableLookups {
		sets = append(sets, ys(s.series(m.metric))...)
	}
	y := linearScale(nil, "share of MTT look-ups (%)", sets...)
	p := s.newPanel(x, y, s.layout.Groups, inInk)
	for k, m := range tableLookups {
		one, look := s.series(m.metric)[0], s.quantityLook(k, len(tableLookups))
		p.Add(curve{one.X, scaled(one.Y, y), look})
		p.legend = append(p.legend, entry{name: m.label, look: look})
	}
	if _, _, ok := spanOf(sets...); !ok {
		p.Add(noValue)
	}
	return p
}

// lookupPanels are misses and walks, a panel each on one scale.
func (s *sweepFigure) lookupPanels() []*panel {
	sets := append(ys(s.series(MissRate)), ys(s.series(WalkRate))...)
	var row []*panel
	for _, m := range tableLookups {
		row = append(row, s.panel(s.x(2), linearScale(nil, "look-ups that "+m.label+" (%)", sets...), s.series(m.metric)))
	}
	return row
}

// missRate is misses and walks.
func (s *sweepFigure) missRate() *figure {
	f := s.figure("miss-rate", "look-ups of the translation cache (MTT)")
	if len(s.layout.Groups) == 1 {
		f.panels = [][]*panel{{s.lookups(s.x(1))}}
		s.crossLegend(f)
		return f
	}
	f.rows(s.lookupPanels(), 2)
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
	f.rows(s.panels(2, nil, pageEvents...), 2)
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

// overview is the miss rate over latency for one group; else two panels of
// latency under the adapter's tables where these are swept, or over paging, or
// over throughput and misses where nothing is paged.
func (s *sweepFigure) overview() *figure {
	f := s.figure("overview", "")
	f.height, f.title = tallHeight, s.title
	if len(s.layout.Groups) == 1 {
		upper, lower := s.lookups(s.x(1)), s.percentilePanels(f, s.x(1), 1)[0]
		lower.legend, f.legend = f.legend, nil
		upper.hideX()
		f.panels = [][]*panel{{upper}, {lower}}
		return f
	}
	latency := s.panels(2, timeUnits, latencies(2)...)
	switch {
	case strings.HasPrefix(s.layout.X.Key, "tpt."):
		f.rows(append(s.lookupPanels(), latency...), 2)
	case s.pages():
		f.rows(append(latency, s.panels(2, nil, pageEvents...)...), 2)
	default:
		rate := s.series(Throughput)
		f.rows(append(latency, s.panel(s.x(2), s.throughputScale(rate), rate), s.lookupPanels()[0]), 2)
	}
	s.groupLegend(f)
	return f
}
