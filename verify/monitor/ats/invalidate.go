package ats

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// Doorbell sees the adapter take a message.
func (m *Device) Doorbell(now clocked.Time, d *msg.Doorbell) {
	switch body := d.Body.(type) {
	case *msg.Invalidate:
		m.seq++
		t := &m.tags[body.ITag%ats.MaxTags]
		t.live, t.taken, t.body = true, m.seq, body.InvalidateRequest
	case *msg.PageResponse:
		m.respondPage(now, &body.PageResponse)
	}
}

// complete sees an Invalidate Completion leave.
func (m *Device) complete(now clocked.Time, c *ats.InvalidateCompletion) {
	for i := range m.tags {
		if c.ITags>>i&1 == 0 {
			continue
		}
		t := &m.tags[i]
		if !t.live {
			m.log.Report(Counted, now, "adapter %d completes ITag %d, which has no request", m.config.Adapter, i)
			continue
		}
		t.live = false
		if m.config.On && (t.body.Global || t.body.PASID == m.config.PASID) {
			m.forget(now, i)
		}
	}
}

// limits are the first and last page of a range.
func (m *Device) limits(r ats.Range) (first, last uint64) {
	mask := ^uint64(0)
	if r.Shift < 64 {
		mask = 1<<r.Shift - 1
	}
	return m.config.Shift.Number(r.VA &^ model.VA(mask)), m.config.Shift.Number(r.VA | model.VA(mask))
}

// forget makes void what was asked for before an invalidation.
func (m *Device) forget(now clocked.Time, tag int) {
	t := &m.tags[tag]
	first, last := m.limits(t.body.Range)
	m.pages.Each(first, last, func(_ uint64, p *page) {
		was := *p
		p.forgotten = max(p.forgotten, t.taken)
		if was.usable() && !p.usable() {
			m.reach(&was, p)
			n := uint64(was.pa) >> m.config.Shift
			if s := m.stores.Get(n); s != nil && s.arrived < s.sent {
				t.due = append(t.due, due{n, s.sent})
			}
		}
	})
	for _, h := range m.live {
		if g := &m.given[h]; g.page >= first && g.page <= last && g.asked < t.taken {
			m.log.Report(Drained, now, "adapter %d: handle %d for page %#x is given out at the completion of ITag %d", m.config.Adapter, h, g.page<<m.config.Shift, tag)
		}
	}
}
