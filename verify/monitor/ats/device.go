// Package ats watches address translation services and page requests: Device at
// an adapter's ports, IOMMU between kernel, IOMMU and root ports.
//
//	kernel ──commands──▶ IOMMU ──Invalidate Request──▶ root port ═▶ adapter
//	       ◀──fences────       ◀─Invalidate Completion─           ◀═
package ats

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/verify/monitor/dense"
	"rnicmmu/verify/monitor/host"
	"rnicmmu/verify/rule"
)

// DeviceConfig says what is watched.
type DeviceConfig struct {
	Adapter    int
	On         bool // ATS is
	PASID      uint32
	Shift      model.PageShift // of the adapter's page
	Allocation int             // page requests
	HangAt     clocked.Time    // 0: the adapter does not stop by design
	Frames     *host.Frames    // told what the adapter may reach; nil: nobody
}

// Device watches an adapter.
type Device struct {
	config    DeviceConfig
	log       *rule.Log
	excused   bool
	seq       uint64
	pages     dense.Table[page]
	requests  []request // by the low half of the cookie
	given     []given   // by handle
	live      []uint32
	tags      [ats.MaxTags]invalidation
	stores    dense.Table[stores] // by page of PA
	groups    [ats.MaxGroups]group
	requested int
	disabled  bool
	stopped   []uint32 // processes
}

// page is what the last answer for it said.
type page struct {
	pa               model.PA
	answer           answer
	write            bool
	asked, forgotten uint64 // seq of the request, and of the last request to forget it that was completed
}

type answer uint8

const (
	never answer = iota
	good
	empty
	untranslated
)

type request struct {
	live  bool
	store bool
	page  uint64
	seq   uint64
}

type given struct {
	live  bool
	place uint32
	page  uint64
	asked uint64
}

type invalidation struct {
	live  bool
	taken uint64
	body  ats.InvalidateRequest
	due   []due // stores under way when it was completed
}

type due struct{ page, bytes uint64 }

// stores counts the bytes stored by a page's physical address.
type stores struct{ sent, arrived uint64 }

// NewDevice watches an adapter that has not begun to run.
func NewDevice(c DeviceConfig, log *rule.Log) *Device { return &Device{config: c, log: log} }

// CutOff tells that the kernel has given the adapter up.
func (m *Device) CutOff() { m.excused = true }

// usable tells whether a page's answer may still be used.
func (p *page) usable() bool { return p.answer == good && p.asked >= p.forgotten }

// DMA sees what the translation unit asks of its endpoint.
func (m *Device) DMA(now clocked.Time, d *msg.DMA) {
	if d.Address.Translated {
		m.log.Report(Translated, now, "adapter %d: %v of the translation unit at %#x is marked translated", m.config.Adapter, d.Kind, uint64(d.PA))
	}
	switch d.Kind {
	case msg.KindATS:
		m.ask(now, d)
	case msg.KindMessage:
		switch body := d.Body.(type) {
		case *msg.InvalidateDone:
			m.complete(now, &body.InvalidateCompletion)
		case *msg.PageRequest:
			m.requestPage(now, &body.PageRequest)
		}
	}
}

func (m *Device) ask(now clocked.Time, d *msg.DMA) {
	m.seq++
	if uint64(d.PA)%model.Shift4K.Bytes() != 0 || d.Len == 0 || d.Len%ats.EntryBytes != 0 || d.Address.PASID != m.config.PASID || !m.config.On {
		m.log.Report(Aligned, now, "adapter %d: translation request for %d B at %#x of process %d", m.config.Adapter, d.Len, uint64(d.PA), d.Address.PASID)
	}
	m.pages.At(uint64(d.PA) >> m.config.Shift) // for an invalidation to find, which may pass the answer
	*dense.Slot(&m.requests, d.Cookie&(1<<32-1)) = request{live: true, store: d.Address.Store, page: uint64(d.PA) >> m.config.Shift, seq: m.seq}
}

// Done sees the translation unit take an answer.
func (m *Device) Done(now clocked.Time, d *msg.DMADone) {
	n := d.Cookie & (1<<32 - 1)
	if d.Kind != msg.KindATS || n >= uint64(len(m.requests)) || !m.requests[n].live {
		return
	}
	r := &m.requests[n]
	r.live = false
	p := m.pages.At(r.page)
	was := *p
	t := ats.Decode(d.Entry)
	switch {
	case d.Status != msg.StatusSuccess || !t.Read && !t.Write || t.Shift < m.config.Shift:
		if p.usable() {
			return // what was cached before is as good as it was
		}
		p.answer, p.asked = empty, r.seq
	case t.Untranslated:
		p.answer, p.asked = untranslated, r.seq
	default:
		offset := model.PA(r.page<<m.config.Shift) & model.PA(t.Shift.Bytes()-1)
		p.pa, p.answer, p.write, p.asked = t.PA+offset, good, t.Write, r.seq
	}
	m.reach(&was, p)
}

// reach tells the frames what changed for the adapter.
func (m *Device) reach(was, is *page) {
	f := m.config.Frames
	if f == nil {
		return
	}
	if was.usable() {
		f.Leave(m.config.Adapter, was.pa)
	}
	if is.usable() {
		f.Reach(m.config.Adapter, is.pa)
	}
}

// Given sees a translation of va given out.
func (m *Device) Given(now clocked.Time, va model.VA, store bool, t *msg.Translation) {
	n := m.config.Shift.Number(va)
	p := m.pages.At(n)
	offset := model.PA(uint64(va) & (m.config.Shift.Bytes() - 1))
	switch {
	case p.answer == untranslated:
		m.log.Report(Untranslated, now, "adapter %d: %#x is given out", m.config.Adapter, uint64(va))
	case p.answer != good:
		m.log.Report(Empty, now, "adapter %d: %#x is given out, and no answer permits it", m.config.Adapter, uint64(va))
	case !p.usable():
		m.log.Report(Stale, now, "adapter %d: %#x is given out as %#x, from before an invalidation that is complete", m.config.Adapter, uint64(va), uint64(t.PA))
	case p.pa+offset != t.PA || (store || t.Write) && !p.write:
		m.log.Report(Permitted, now, "adapter %d: %#x is given out as %#x (store %v), the answer was %#x (write %v)", m.config.Adapter, uint64(va), uint64(t.PA), store || t.Write, uint64(p.pa), p.write)
	}
	g := dense.Slot(&m.given, uint64(t.Handle))
	if g.live {
		m.Taken(t.Handle)
	}
	*g = given{live: true, place: uint32(len(m.live)), page: n, asked: p.asked}
	m.live = append(m.live, t.Handle)
}

// Taken sees a translation come back.
func (m *Device) Taken(handle uint32) {
	g := &m.given[handle]
	last := m.live[len(m.live)-1]
	m.live[g.place] = last
	m.given[last].place = g.place
	m.live = m.live[:len(m.live)-1]
	g.live = false
}

// Data sees a transfer of the responder's.
func (m *Device) Data(now clocked.Time, d *msg.DMA) {
	user := d.Kind == msg.KindData && d.Oracle.Page != msg.NoPage
	if d.Address.Translated && !m.config.On || user && m.config.On && !d.Address.Translated {
		m.log.Report(Translated, now, "adapter %d: %v at %#x, translated %v", m.config.Adapter, d.Kind, uint64(d.PA), d.Address.Translated)
	}
	if m.config.On && user && d.Write {
		m.stores.At(uint64(d.PA) >> m.config.Shift).sent += uint64(d.Len)
	}
}

// Arrived sees a request of the adapter come out of its root port.
func (m *Device) Arrived(now clocked.Time, r *msg.MemReq) {
	switch {
	case r.Write && r.Kind == msg.KindData && r.Oracle.Page != msg.NoPage:
		m.stores.At(uint64(r.PA) >> m.config.Shift).arrived += uint64(r.Len)
	case r.Kind == msg.KindMessage:
		if body, ok := r.Body.(*msg.InvalidateDone); ok {
			m.pushed(now, body.ITags)
		}
	}
}

// pushed judges the stores before an Invalidate Completion that has come.
func (m *Device) pushed(now clocked.Time, tags uint32) {
	for i := range m.tags {
		if tags>>i&1 == 0 {
			continue
		}
		for _, d := range m.tags[i].due {
			if s := m.stores.At(d.page); s.arrived < d.bytes && !m.excused {
				m.log.Report(Pushed, now, "adapter %d: the completion of ITag %d comes in front of %d B for %#x", m.config.Adapter, i, d.bytes-s.arrived, d.page<<m.config.Shift)
			}
		}
		m.tags[i].due = m.tags[i].due[:0]
	}
}
