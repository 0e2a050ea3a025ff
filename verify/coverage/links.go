package coverage

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/platform"
)

// Arrivals of TLPs.
const (
	arrivalTaken = iota
	arrivalDamaged
	arrivalFraming
	arrivalDropped
)

var (
	linkTLP = cross("link_tlp", "adapter's link: direction and class of a TLP × whether it is sent again",
		[]string{"up, posted", "up, non-posted", "up, completion", "down, posted", "down, non-posted", "down, completion"}, []string{"first", "again"}).
		ignore("the host reads nothing of an adapter", "down, non-posted"+times+"*", "up, completion"+times+"*")
	linkArrival = cross("link_arrival", "adapter's link: direction × what becomes of a TLP that arrives", []string{"up", "down"},
		[]string{"accepted", "damaged", "boundaries lost", "out of turn or twice"})
	readCompletions = cross("read_completions", "read completion boundary × completions with data of one read", []string{"64 B", "128 B"}, sizes(tlpCounts)).
			ignore("without data it is no completion with data", "*"+times+"0")
)

// lineWatch looks at one direction of an adapter's link.
type lineWatch struct {
	c           *Collector
	row         int // 0 up, 1 down
	rcb         int
	completions []uint64 // of a read so far, by tag
}

func (c *Collector) watchLinks(s *platform.System) {
	for _, l := range s.Links() {
		if l.Peer || l.Upstream {
			continue
		}
		rcb := 0
		if l.Down.Spec.RCB == 128 {
			rcb = 1
		}
		l.Up.Watch(&lineWatch{c: c, row: 0, rcb: rcb})
		l.Down.Watch(&lineWatch{c: c, row: 1, rcb: rcb})
	}
}

// Sent is a TLP that goes onto the line.
func (w *lineWatch) Sent(_, _ clocked.Time, p *pcie.Shown, again bool) {
	column := 0
	if again {
		column = 1
	}
	w.c.hit(linkTLP, 3*w.row+int(p.Type), column)
	if p.Type != msg.Completion || !p.Payload || again {
		return
	}
	for len(w.completions) <= int(p.Tag) {
		w.completions = append(w.completions, 0)
	}
	w.completions[p.Tag]++
	if p.Last {
		w.c.hit(readCompletions, w.rcb, size(w.completions[p.Tag], tlpCounts))
		w.completions[p.Tag] = 0
	}
}

// Arrived is a TLP whose last byte is there.
func (w *lineWatch) Arrived(_ clocked.Time, a *pcie.Arrival) {
	column := arrivalDropped
	switch {
	case a.Framing:
		column = arrivalFraming
	case a.Damaged:
		column = arrivalDamaged
	case a.Accepted != nil:
		column = arrivalTaken
	}
	w.c.hit(linkArrival, w.row, column)
}

// Drained, Departed, Collected and Held tell nothing that is counted.
func (w *lineWatch) Drained(clocked.Time, *pcie.Shown)                {}
func (w *lineWatch) Departed(_, _ clocked.Time, _ *pcie.DLLP, _ bool) {}
func (w *lineWatch) Collected(clocked.Time, *pcie.DLLP)               {}
func (w *lineWatch) Held(_, _ clocked.Time)                           {}
