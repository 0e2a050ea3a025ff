package coverage

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/platform"
	"rnicmmu/verify/wires"
)

// Rows of crosses of DMA.
const (
	rowStore = iota
	rowRead
)

// watchData looks at the DMA of the responders, and at root ports.
func (c *Collector) watchData(s *platform.System) {
	for i, w := range wires.Of[msg.DMA](s, "responder", "") {
		a, depth := &c.adapters[i], w.Wire.Depth()
		w.Wire.OnSent(func(_ clocked.Time, m *msg.DMA) {
			c.transfers(a, m)
			c.filled(queueDMA, w.Wire.Len(), depth)
		})
	}
	for i, w := range wires.Of[msg.DMADone](s, "", "responder") {
		a := &c.adapters[i]
		w.Wire.OnTaken(func(_ clocked.Time, m *msg.DMADone) { c.transferred(a, m) })
	}
	for _, from := range []string{"pcie.root", "switch.root"} {
		for _, w := range wires.Of[msg.MemReq](s, from, "") {
			depth := w.Wire.Depth()
			w.Wire.OnSent(func(_ clocked.Time, m *msg.MemReq) {
				c.filled(queueHost, w.Wire.Len(), depth)
				if m.Kind == msg.KindData {
					c.cut(&c.adapters[m.Adapter], m)
				}
			})
			w.Wire.OnTaken(func(_ clocked.Time, m *msg.MemReq) { c.reaches(&c.adapters[m.Adapter], m) })
		}
	}
}

// transfers: DMA of data begins.
func (c *Collector) transfers(a *adapter, m *msg.DMA) {
	if m.Kind != msg.KindData || m.Oracle.Page == msg.NoPage || a.dead {
		return
	}
	f := a.at(m.Oracle.Page)
	if m.Write {
		c.meets(a, m.Oracle.Page, meetWrite)
		f.writes += m.Len
		return
	}
	c.meets(a, m.Oracle.Page, meetRead)
	f.reads++
	for uint64(len(a.reads)) <= m.Cookie {
		a.reads = append(a.reads, msg.NoPage)
	}
	a.reads[m.Cookie] = m.Oracle.Page
}

// transferred: a read of a responder is answered.
func (c *Collector) transferred(a *adapter, m *msg.DMADone) {
	if m.Write {
		return
	}
	if row := dmaKindRow[m.Kind]; row > 0 {
		c.hit(dmaStatus, int(row-1), int(m.Status))
	}
	if m.Kind == msg.KindData && m.Cookie < uint64(len(a.reads)) && a.reads[m.Cookie] != msg.NoPage {
		a.at(a.reads[m.Cookie]).reads--
		a.reads[m.Cookie] = msg.NoPage
	}
}

// reaches: memory, or the IOMMU, takes a request of an adapter.
func (c *Collector) reaches(a *adapter, m *msg.MemReq) {
	if done, ok := m.Body.(*msg.InvalidateDone); ok {
		c.completed(a, done)
		return
	}
	if m.Kind != msg.KindData || m.Oracle.Page == msg.NoPage {
		return
	}
	f := a.at(m.Oracle.Page)
	row, n := rowRead, 1
	if m.Write {
		row = rowStore
		f.writes -= min(m.Len, f.writes)
		if at := c.page(m.Oracle.Page); *at == contentPresent {
			*at = contentStored
		}
	}
	if f.live > 0 {
		for i := range a.live {
			if x := &a.live[i]; x.first <= m.Oracle.Page && m.Oracle.Page <= x.last && x.kind != kindKey && x.phase < phaseAcknowledged {
				n++
			}
		}
	}
	c.hit(allowedSet, row, min(n, 3)-1)
}

// run is the TLPs of one DMA so far.
type run struct {
	n     uint64
	write uint64 // identity of the data
	next  model.PA
}

// cut says why TLPs of data end where they do. TLPs of a message that follow
// each other in memory count as of one DMA.
func (c *Collector) cut(a *adapter, m *msg.MemReq) {
	row := rowRead
	if m.Write {
		row = rowStore
	}
	r := &a.runs[row]
	c.hit(dmaStart, row, aligned(uint64(m.PA)))
	if r.next != m.PA || r.write>>24 != m.Oracle.Write>>24 || r.n == 0 {
		if r.n > 0 {
			c.hit(dmaTLPs, row, size(r.n, tlpCounts))
		}
		*r = run{}
	}
	r.n++
	r.next, r.write = m.PA+model.PA(m.Len), m.Oracle.Write
	switch most := a.most[row]; {
	case r.next%4096 == 0 && m.Len < most:
		c.hit(dmaCut, row, cutBlock)
	case m.Len == most:
		c.hit(dmaCut, row, cutMost)
	case r.n > 1:
		c.hit(dmaCut, row, cutTail)
	case r.next%64 == 0:
		c.hit(dmaCut, row, cutOther)
	default:
		c.hit(dmaCut, row, cutWhole)
	}
}
