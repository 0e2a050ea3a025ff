package follow

import (
	"cmp"
	"slices"
	"sort"

	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/platform"
	"rnicmmu/verify/protocol"
)

// place is the byte at which a page is followed.
type place struct{ va model.VA }

// adapter is how an adapter names pages.
type adapter struct {
	number  uint16
	table   bool
	cache   bool // it asks the IOMMU, and keeps what that says
	domain  bool // its table holds addresses of the DMA domain
	dead    bool
	shift   model.PageShift
	host    model.PageShift
	byEntry []platform.Mapping
	byPage  []platform.Mapping
	most    uint32 // pages of the longest mapping
	asks    []ask  // by queue pair
	ring    []ask  // of the backup ring
	given   []uint32
	faults  []uint32
	tags    [ats.MaxTags]tag
}

// lay takes what the adapter knows.
func (a *adapter) lay(all []platform.Mapping, host model.PageShift) {
	a.host, a.byEntry = host, all
	a.byPage = slices.SortedFunc(slices.Values(all), func(x, y platform.Mapping) int { return cmp.Compare(x.FirstPage, y.FirstPage) })
	for i := range all {
		a.most = max(a.most, uint32(host.Span(all[i].VA, all[i].Length)))
	}
}

// base is the address of a mapping's page.
func (a *adapter) base(m *platform.Mapping, p uint32) model.VA {
	return model.VA((a.host.Number(m.VA) + uint64(p-m.FirstPage)) << a.host)
}

// pageOf is the page of a mapping's address.
func (a *adapter) pageOf(m *platform.Mapping, va model.VA) uint32 {
	return m.FirstPage + uint32(a.host.Number(va)-a.host.Number(m.VA))
}

// entryOf is the table entry of a mapping's address.
func (a *adapter) entryOf(m *platform.Mapping, va model.VA) uint64 {
	return m.FirstEntry + a.shift.Number(va) - a.shift.Number(m.VA)
}

// holding visits the mappings that hold a part of a page.
func (a *adapter) holding(p uint32, visit func(m *platform.Mapping)) {
	first := uint32(0)
	if p >= a.most {
		first = p - a.most
	}
	i := sort.Search(len(a.byPage), func(i int) bool { return a.byPage[i].FirstPage >= first })
	for ; i < len(a.byPage) && a.byPage[i].FirstPage <= p; i++ {
		m := &a.byPage[i]
		if m.Length > 0 && p-m.FirstPage < uint32(a.host.Span(m.VA, m.Length)) {
			visit(m)
		}
	}
}

// mapping is the one that holds a byte of a page, and how many do.
func (a *adapter) mapping(p uint32, va model.VA) (found *platform.Mapping, n int) {
	a.holding(p, func(m *platform.Mapping) {
		if va >= m.VA && uint64(va-m.VA) < m.Length {
			found, n = m, n+1
		}
	})
	return found, n
}

// frame is what an entry holds, as the frame that it leads a page to.
func (a *adapter) frame(p *page, pa model.PA) uint32 {
	in := model.PA(a.shift.Bytes() - 1)
	pa = pa&^in | model.PA(p.place.va)&in
	in = model.PA(a.host.Bytes() - 1)
	if a.domain {
		if frame, has := p.path.Frame(); has && pa == model.PA(p.place.va) {
			return frame
		}
		return nowhere
	}
	if pa&in != model.PA(p.place.va)&in {
		return nowhere
	}
	return uint32(pa >> a.host)
}

// nowhere is no frame's number.
const nowhere = 1<<28 - 1

// start is the state in which the system is set up.
type start struct {
	resident []kernel.Run
	fills    [mostAdapters][]kernel.Fill
}

func (s *start) init(setup kernel.Setup) {
	s.resident = slices.SortedFunc(slices.Values(setup.Resident), func(x, y kernel.Run) int { return cmp.Compare(x.First, y.First) })
	for _, f := range setup.Fills {
		s.fills[f.Adapter] = append(s.fills[f.Adapter], f)
	}
	for i := range s.fills {
		slices.SortFunc(s.fills[i], func(x, y kernel.Fill) int { return cmp.Compare(x.Entry, y.Entry) })
	}
}

// frame is that of a page.
func (s *start) frame(p uint32) uint32 {
	i := sort.Search(len(s.resident), func(i int) bool { return s.resident[i].First > p }) - 1
	if i < 0 || p-s.resident[i].First >= s.resident[i].Count {
		return msg.NoPage
	}
	return s.resident[i].Frame + p - s.resident[i].First
}

// fill is what an entry holds.
func (s *start) fill(a *adapter, entry uint64) (pa model.PA, write, filled bool) {
	fills := s.fills[a.number]
	i := sort.Search(len(fills), func(i int) bool { return fills[i].Entry > entry }) - 1
	if i < 0 || entry-fills[i].Entry >= fills[i].Count {
		return 0, false, false
	}
	return fills[i].PA + model.PA((entry-fills[i].Entry)<<a.shift), fills[i].Write, true
}

// at is a page that a mapping holds, followed at a byte of it or, if it is
// followed already, where it is.
func (c *Path) at(n uint32, va model.VA) *page {
	slot := c.pages.At(uint64(n))
	if *slot == nil {
		*slot = &page{place: place{va}, path: *protocol.NewFollower(n)}
		c.begin(n, *slot)
	}
	return *slot
}

// known is a page by its number, made where an adapter's table may hold it; nil
// otherwise.
func (c *Path) known(n uint32) *page {
	if slot := c.pages.Get(uint64(n)); slot != nil && *slot != nil {
		return *slot
	}
	var found *page
	for i := range c.adapters {
		if a := &c.adapters[i]; found == nil {
			a.holding(n, func(m *platform.Mapping) {
				if found == nil {
					found = c.at(n, max(m.VA, a.base(m, n)))
				}
			})
		}
	}
	return found
}

// touched is a page of which somebody has to do with va.
func (c *Path) touched(n uint32, va model.VA) *page {
	if slot := c.pages.Get(uint64(n)); slot != nil && *slot != nil {
		return *slot
	}
	if at, ok := c.pageAt(va); !ok || at != n {
		return c.known(n)
	}
	return c.at(n, va)
}

// begin makes a page what it is when the run begins.
func (c *Path) begin(n uint32, p *page) {
	event := protocol.Event{Page: n, Frame: c.start.frame(n)}
	resident := event.Frame != msg.NoPage
	if resident {
		event.Kind = protocol.FrameAssigned
		p.path.Step(event)
	}
	for i := range c.adapters {
		a := &c.adapters[i]
		event.Adapter = a.number
		if a.dead {
			event.Kind = protocol.CutOff
			p.path.Step(event)
		}
		if a.dead || !a.table {
			continue
		}
		m, several := a.mapping(n, p.place.va)
		if several > 1 {
			c.leaveOut(p)
			return
		}
		if several == 0 || !resident {
			continue
		}
		if pa, write, filled := c.start.fill(a, a.entryOf(m, p.place.va)); filled {
			event.Kind, event.Write, event.Frame = protocol.FillSent, write, a.frame(p, pa)
			p.path.Step(event)
			event.Kind = protocol.CommandCompleted
			p.path.Step(event)
		}
	}
	c.Stats.Pages++
}

// leaveOut ends a page's following.
func (c *Path) leaveOut(p *page) {
	if !p.over {
		p.over = true
		c.Stats.LeftOut++
	}
}
