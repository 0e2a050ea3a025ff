package follow

import (
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/components/tpt"
	"rnicmmu/platform"
	"rnicmmu/verify/monitor/dense"
	"rnicmmu/verify/protocol"
	"rnicmmu/verify/rule"
)

// Stats say how much was followed.
type Stats struct {
	Pages   uint64 // with a follower
	LeftOut uint64 // pages that cannot be followed
	Events  uint64
}

// Path checks a run's log.
type Path struct {
	Stats    Stats
	log      *rule.Log
	adapters []adapter
	pages    dense.Table[*page]
	space    []stretch // of the process, by address
	start    start
	commands []command // to the IOMMU, that no fence has answered
	visit    visit
	shift    uint // of the host's page
	hangs    bool // an adapter stops by design
}

// mostAdapters is how many a follower takes.
const mostAdapters = 16

// allPages is behind the last.
const allPages = 1 << 32

// kept is how many events of a page are told with a refusal; a power of two.
const kept = 16

// New puts a check beside a system that has not begun to run.
func New(s *platform.System, log *rule.Log) *Path {
	specs := s.Adapters()
	c := &Path{log: log, adapters: make([]adapter, len(specs)), shift: uint(specs[0].Host.Shift())}
	for i := range specs {
		c.adapters[i].init(i, s, &specs[i])
		c.hangs = c.hangs || specs[i].TPT.Command.HangAt > 0
	}
	if len(specs) > mostAdapters || specs[0].Host.IOMMU.Mode == "deferred" {
		return c
	}
	c.start.init(s.Setup())
	c.space = stretches(s.Mappings(0), specs[0].Host.Shift())
	c.watchKernel(s)
	c.watchUnits(s)
	c.watchMemory(s)
	c.watchIOMMU(s)
	return c
}

func (a *adapter) init(i int, s *platform.System, spec *platform.Spec) {
	mode, _ := spec.Mode()
	a.number, a.table, a.cache, a.domain, a.shift = uint16(i), mode == tpt.Table, mode == tpt.ATC, mode == tpt.Table && spec.Behind(), spec.TPT.PageShift()
	a.lay(s.Mappings(i), spec.Host.Shift())
}

// page is one that is followed, or was.
type page struct {
	over   bool // nothing more is told of it
	place  place
	path   protocol.Follower
	recent [kept]seen
	count  uint64
}

type seen struct {
	at    clocked.Time
	event protocol.Event
}

// step gives an event to its page's follower.
func (c *Path) step(now clocked.Time, p *page, e protocol.Event) {
	if p.over {
		return
	}
	c.Stats.Events++
	p.recent[p.count%kept] = seen{now, e}
	p.count++
	if r := p.path.Step(e); r != protocol.Legal {
		p.over = true
		c.log.Report(c.rule(r, e), now, "page %d: %s: %s; before that%s", e.Page, e, r, p.story())
	}
}

// rule is the one that an event breaks. What tables and caches have in common has
// one of each.
func (c *Path) rule(r protocol.Refusal, e protocol.Event) *rule.Rule {
	if x := byRefusalOfCache[r]; x != nil && c.adapters[e.Adapter].cache {
		return x
	}
	return byRefusal[r]
}

// story is what was seen of a page before the last event.
func (p *page) story() string {
	var b strings.Builder
	for i := p.count - min(p.count, kept); i+1 < p.count; i++ {
		s := &p.recent[i%kept]
		b.WriteString("; ")
		b.WriteString(s.at.String())
		b.WriteString(" ")
		b.WriteString(s.event.String())
	}
	if b.Len() == 0 {
		return " nothing"
	}
	return b.String()[1:]
}

// Finish reports what has begun and does not end.
func (c *Path) Finish(now clocked.Time, rest bool) {
	if !rest || c.hangs {
		return
	}
	c.pages.Each(0, allPages, func(_ uint64, at **page) {
		if p := *at; p != nil && !p.over {
			if err := p.path.Unfinished(); err != nil {
				c.log.Report(ruleEnd, now, "%v; before that%s", err, p.story())
			}
		}
	})
}
