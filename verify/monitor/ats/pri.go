package ats

import (
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/model/ats"
)

// group is the page requests under an index.
type group struct {
	requests int // outstanding
	closed   bool
}

// requestPage sees a page request leave.
func (m *Device) requestPage(now clocked.Time, r *ats.PageRequest) {
	g := &m.groups[r.Group%ats.MaxGroups]
	if m.disabled {
		m.log.Report(Disabled, now, "adapter %d asks for %#x", m.config.Adapter, uint64(r.VA))
	}
	if slices.Contains(m.stopped, r.PASID) {
		m.log.Report(Marked, now, "adapter %d asks for %#x of process %d", m.config.Adapter, uint64(r.VA), r.PASID)
	}
	if r.StopMarker() {
		m.stopped = append(m.stopped, r.PASID)
		return
	}
	if g.closed {
		m.log.Report(Indexed, now, "adapter %d uses group %d again", m.config.Adapter, r.Group)
	}
	g.requests++
	g.closed = r.Last
	if m.requested++; m.requested > m.config.Allocation {
		m.log.Report(Credited, now, "adapter %d has %d page requests outstanding, %d are allocated", m.config.Adapter, m.requested, m.config.Allocation)
	}
}

// respondPage sees the adapter take a response.
func (m *Device) respondPage(now clocked.Time, r *ats.PageResponse) {
	if m.disabled {
		return // to groups that were given up
	}
	if r.Group >= ats.MaxGroups || !m.groups[r.Group].closed {
		m.log.Report(Responded, now, "adapter %d has a response to group %d, which waits for none", m.config.Adapter, r.Group)
		return
	}
	g := &m.groups[r.Group]
	m.requested -= g.requests
	*g = group{}
	if r.Code.Fails() {
		m.disabled = true
		m.groups = [ats.MaxGroups]group{}
	}
}

// Finish reports what is due at rest.
func (m *Device) Finish(now clocked.Time, rest bool) {
	if !rest || m.excused || m.config.HangAt > 0 && now >= m.config.HangAt {
		return
	}
	for i := range m.groups {
		if m.groups[i].requests > 0 {
			m.log.Report(Responded, now, "adapter %d: group %d has no response", m.config.Adapter, i)
		}
	}
}
