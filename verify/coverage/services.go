package coverage

import (
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// faults: the kernel is told of a fault.
func (c *Collector) faults(a *adapter, e *msg.Event) {
	c.moved(a, queueEvents, 1)
	c.faulted(a, reported{token: e.Token, page: e.Page, count: min(e.Count, 64)}, e.Write)
}

func (c *Collector) faulted(a *adapter, r reported, write bool) {
	if r.page == msg.NoPage {
		return
	}
	row, column := 0, faultNowhere
	if write {
		row = 1
	}
	switch at := *c.page(r.page); {
	case write && a.at(r.page).entry == entryReadOnly:
		column = faultReadOnly
	case at == contentSwapped:
		column = faultSwapped
	case at != contentNone:
		column = faultPresent
	}
	c.hit(fault, row, column)
	a.faults = append(a.faults, r)
	for p := r.page; p < r.page+r.count; p++ {
		c.meets(a, p, meetFault)
		a.at(p).faults++
	}
}

// messaged: the IOMMU sends an adapter a message.
func (c *Collector) messaged(a *adapter, m *msg.Doorbell) {
	switch b := m.Body.(type) {
	case *msg.Invalidate:
		if b.Range.Contains(0, 1) && b.Range.Contains(^model.VA(0), 1) {
			return // a context's: no page's
		}
		first, last := a.addresses(b.Range.VA, b.Range.Last())
		c.moved(a, queueITags, 1)
		c.begin(a, closing{kind: kindATS, first: first, last: last, record: b.Record, tag: 1 << (b.ITag % 32)})
		if b.Record != nil {
			c.hit(triggerScheme, int(b.Record.Trigger), a.scheme)
		}
	case *msg.PageResponse:
		c.responds(a, &b.PageResponse)
	}
}

// responds: a group of page requests is answered.
func (c *Collector) responds(a *adapter, r *ats.PageResponse) {
	code := 2
	if !r.Code.Fails() {
		code = int(r.Code)
	}
	c.hit(pageResponse, 0, code)
	kept := a.faults[:0]
	for _, f := range a.faults {
		if f.group != r.Group {
			kept = append(kept, f)
			continue
		}
		c.meets(a, f.page, meetResume)
		a.at(f.page).faults -= min(1, a.at(f.page).faults)
		c.moved(a, queuePageRequests, -1)
	}
	a.faults = kept
}

// replies: an adapter sends the IOMMU a message.
func (c *Collector) replies(a *adapter, m *msg.DMA) {
	switch b := m.Body.(type) {
	case *msg.PageRequest:
		if first, _ := a.addresses(b.VA, b.VA); first != msg.NoPage {
			c.moved(a, queuePageRequests, 1)
			c.faulted(a, reported{group: b.Group, page: first, count: 1}, b.Write)
		}
	case *msg.InvalidateDone:
		for i := range a.live {
			if x := &a.live[i]; x.tag&b.ITags != 0 && x.phase < phaseDrained {
				c.reach(a, x, phaseDrained)
			}
		}
	}
}

// completed: an Invalidate Completion is at the IOMMU.
func (c *Collector) completed(a *adapter, done *msg.InvalidateDone) {
	for i := range a.live {
		if x := &a.live[i]; x.tag&done.ITags != 0 && x.phase == phaseDrained {
			c.reach(a, x, phaseAcknowledged)
			c.moved(a, queueITags, -1)
			c.hit(invalidationEnds, 1, 0)
			x.tag = 0
		}
	}
	a.sweep()
}
