package coverage

import (
	"cmp"
	"slices"

	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/platform"
)

// Collector counts the situations of one run. It looks on and changes nothing.
type Collector struct {
	hits     []uint64 // of all groups, by Group.first
	pages    []content
	adapters []adapter
	shift    model.PageShift // of the host
}

// adapter is what goes on at one adapter.
type adapter struct {
	number   int
	scheme   int
	byEntry  []platform.Mapping
	byVA     []platform.Mapping
	table    model.PA // of leaf entries
	entry    model.PageShift
	host     model.PageShift
	atc      bool
	dead     bool
	pages    []flight
	live     []closing
	commands []*msg.Command // on their way and in the adapter's queue, in order
	asked    []question     // by queue pair
	others   []question     // of the backup ring
	held     []uint32       // page, by handle
	reads    []uint32       // page, by cookie of the DMA
	faults   []reported
	walks    []walk
	queues   [numQueues]occupancy
	qps      []queuePair
	runs     [2]run    // of TLPs: stores, reads
	most     [2]uint32 // bytes of one
}

// flight is what goes on at one page of an adapter.
type flight struct {
	asked, held, reads uint16
	walks, ahead       uint8
	faults, fills      uint8
	prefetches         uint8
	live               uint8 // of adapter.live
	suspended          uint8
	entry              entry
	moving             bool
	writes             uint32 // bytes on their way
}

// question is a translation that is asked for.
type question struct {
	cookie uint64
	page   uint32
	op     model.Op
	kill   bool
	open   bool
}

// occupancy follows what a queue holds.
type occupancy struct {
	now, depth int
}

// New puts a collector beside a system that has not begun to run.
func New(s *platform.System) *Collector {
	specs := s.Adapters()
	c := &Collector{hits: make([]uint64, counters), adapters: make([]adapter, len(specs)), shift: specs[0].Host.Shift()}
	for i := range specs {
		c.adapters[i].init(c, i, s, &specs[i])
	}
	c.preset(s)
	c.watchKernel(s)
	c.watchTables(s)
	c.watchData(s)
	c.watchPeers(s)
	c.watchLinks(s)
	return c
}

func (a *adapter) init(c *Collector, i int, s *platform.System, spec *platform.Spec) {
	a.number, a.scheme = i, slices.Index(schemes, spec.Scheme)
	a.byEntry, a.table = s.Mappings(i), s.TableAt(i)
	a.byVA = slices.SortedFunc(slices.Values(a.byEntry), func(x, y platform.Mapping) int { return cmp.Compare(x.VA, y.VA) })
	a.entry, a.host = spec.TPT.PageShift(), spec.Host.Shift()
	a.atc = spec.Scheme == "sva"
	a.most = [2]uint32{uint32(spec.PCIe.MPS), uint32(spec.PCIe.MRRS)}
	depth := spec.TPT.Invalidation.QueueDepth
	for q, d := range [...]int{queueCommands: min(depth, spec.Host.Command.Outstanding), queueEvents: spec.TPT.Fault.QueueDepth,
		queuePageRequests: spec.TPT.PageRequests, queueITags: min(depth, spec.Host.IOMMU.ATSDepth), queueTranslations: spec.TPT.InFlight} {
		a.queues[q] = occupancy{depth: d}
	}
	c.hit(transportScheme, max(0, slices.Index(transports, spec.Transport)), a.scheme)
	c.hit(pageSize, max(0, slices.Index(pageShifts, a.host)), max(0, slices.Index(tableShifts, a.entry)))
}

// preset is what is in tables, frames and swap before time 0.
func (c *Collector) preset(s *platform.System) {
	setup := s.Setup()
	for _, f := range setup.Fills {
		a := &c.adapters[f.Adapter]
		first, last := a.entries(f.Entry, uint64(f.Count))
		for p := first; p <= last && p != msg.NoPage; p++ {
			a.at(p).entry = entryReadOnly
			if f.Write {
				a.at(p).entry = entryWritable
			}
		}
	}
	for _, r := range setup.Swapped {
		for i := range r.Count {
			*c.page(r.First + i) = contentSwapped
		}
	}
	for _, r := range setup.Resident {
		for i := range r.Count {
			*c.page(r.First + i) = contentPresent
		}
	}
}

// hit counts a situation: a row and a column of a cross, or row 0 of a list.
func (c *Collector) hit(g *Group, row, column int) { c.hits[g.first+row*g.columns+column]++ }

// page is where a page of the process is.
func (c *Collector) page(p uint32) *content {
	for uint32(len(c.pages)) <= p {
		c.pages = append(c.pages, contentNone)
	}
	return &c.pages[p]
}

// at is what goes on at a page.
func (a *adapter) at(p uint32) *flight {
	for uint32(len(a.pages)) <= p {
		a.pages = append(a.pages, flight{})
	}
	return &a.pages[p]
}

// moved follows a queue: it holds n more now.
func (c *Collector) moved(a *adapter, q, n int) {
	o := &a.queues[q]
	o.now = max(0, o.now+n)
	c.filled(q, o.now, o.depth)
}

func (c *Collector) filled(q, n, depth int) {
	switch {
	case n == 0:
		c.hit(queueFill, q, 0)
	case n < depth:
		c.hit(queueFill, q, 1)
	default:
		c.hit(queueFill, q, 2)
	}
}

// entries is the run of pages that entries of the table stand for; NoPage where
// they are none's.
func (a *adapter) entries(first, count uint64) (from, to uint32) {
	from = a.pageOf(first)
	if to = a.pageOf(first + max(1, count) - 1); to == msg.NoPage || to < from {
		to = from
	}
	return from, to
}

func (a *adapter) pageOf(entry uint64) uint32 {
	i, found := slices.BinarySearchFunc(a.byEntry, entry, func(m platform.Mapping, e uint64) int { return cmp.Compare(m.FirstEntry, e) })
	if !found {
		i--
	}
	if i < 0 {
		return msg.NoPage
	}
	m := &a.byEntry[i]
	va := m.VA&^model.VA(a.entry.Bytes()-1) + model.VA((entry-m.FirstEntry)<<a.entry)
	if va >= m.VA+model.VA(m.Length) {
		return msg.NoPage
	}
	return m.FirstPage + uint32(a.host.Number(max(va, m.VA))-a.host.Number(m.VA))
}

// addresses is the run of pages of [va, last], in the first mapping that has some.
func (a *adapter) addresses(va, last model.VA) (from, to uint32) {
	i, _ := slices.BinarySearchFunc(a.byVA, va, func(m platform.Mapping, v model.VA) int { return cmp.Compare(m.VA+model.VA(m.Length)-1, v) })
	if i == len(a.byVA) || a.byVA[i].VA > last {
		return msg.NoPage, msg.NoPage
	}
	m := &a.byVA[i]
	base := a.host.Number(m.VA)
	return m.FirstPage + uint32(a.host.Number(max(va, m.VA))-base), m.FirstPage + uint32(a.host.Number(min(last, m.VA+model.VA(m.Length)-1))-base)
}
