package follow

import (
	"cmp"
	"slices"
	"sort"

	"rnicmmu/clocked"
	"rnicmmu/model"
	"rnicmmu/platform"
	"rnicmmu/verify/protocol"
)

// stretch is memory of the process: whole pages, under consecutive numbers.
type stretch struct {
	va    model.VA
	first uint32
	pages uint64
}

// stretches is what mappings lie in, by address.
func stretches(all []platform.Mapping, shift model.PageShift) (found []stretch) {
	for i := range all {
		m := &all[i]
		if n := shift.Span(m.VA, m.Length); n > 0 {
			found = append(found, stretch{model.VA(shift.Number(m.VA) << shift), m.FirstPage, n})
		}
	}
	slices.SortFunc(found, func(x, y stretch) int { return cmp.Compare(x.va, y.va) })
	n := 0
	for _, x := range found {
		if n > 0 {
			last := &found[n-1]
			if at := shift.Number(x.va) - shift.Number(last.va); at <= last.pages && uint64(x.first-last.first) == at {
				last.pages = max(last.pages, at+x.pages)
				continue
			}
		}
		found[n] = x
		n++
	}
	return found[:n]
}

// pageAt is the page of an address.
func (c *Path) pageAt(va model.VA) (page uint32, ok bool) {
	i := sort.Search(len(c.space), func(i int) bool { return c.space[i].va > va }) - 1
	if i < 0 {
		return 0, false
	}
	at := uint64(va-c.space[i].va) >> c.shift
	return c.space[i].first + uint32(at), at < c.space[i].pages
}

// visit is an event for pages of a range.
type visit struct {
	now   clocked.Time
	event protocol.Event
	do    func(n uint64, at **page) // made once
}

// each gives an event to the pages of [first, end): all of them, or those that are
// followed already.
func (c *Path) each(now clocked.Time, first, end model.VA, e protocol.Event, all bool) {
	if c.visit.do == nil {
		c.visit.do = c.visited
	}
	c.visit.now, c.visit.event = now, e
	i := max(0, sort.Search(len(c.space), func(i int) bool { return c.space[i].va > first })-1)
	for ; i < len(c.space) && c.space[i].va < end; i++ {
		x := &c.space[i]
		from, to := uint64(0), x.pages
		if first > x.va {
			from = uint64(first-x.va) >> c.shift
		}
		to = min(to, (uint64(end-x.va)-1)>>c.shift+1)
		if from >= to {
			continue
		}
		for n := from; all && n < to; n++ {
			c.known(x.first + uint32(n))
		}
		c.pages.Each(uint64(x.first)+from, uint64(x.first)+to-1, c.visit.do)
	}
}

func (c *Path) visited(n uint64, at **page) {
	if *at != nil {
		c.visit.event.Page = uint32(n)
		c.step(c.visit.now, *at, c.visit.event)
	}
}
