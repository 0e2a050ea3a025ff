package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// pte is what the IOMMU answers for a page.
type pte struct {
	ats.Translation
	status msg.Status
}

// asked is a page request as the IOMMU sees it.
type asked struct {
	at  clocked.Time
	msg msg.PageRequest
}

// kill asks, as a SEND with invalidate does, for the end of the key.
func (s *sandwich) kill(at clocked.Time, qp uint32) *msg.Translate {
	m := &msg.Translate{Cookie: uint64(len(s.requests)), QP: qp, PD: 1, Key: uint32(s.key), Kill: true, Ledger: &measure.Ledger{Last: at}}
	s.requests = append(s.requests, request{Translate: m})
	s.script = append(s.script, step{at: at, req: m})
	return m
}

// dropPages is an Invalidate Request for pages of the region.
func (s *sandwich) dropPages(at clocked.Time, itag uint8, first uint64, count uint32) *msg.Invalidate {
	m := &msg.Invalidate{Record: new(measure.Invalidation), InvalidateRequest: ats.InvalidateRequest{ITag: itag, PASID: process,
		Range: ats.Cover(s.base+model.VA(first<<12), uint64(count)<<12)}}
	s.ring(at, m)
	return m
}

// answerOf is a read's answer: a translation request's is what the page table
// holds when the request is seen.
func (s *sandwich) answerOf(m *msg.DMA) msg.DMADone {
	d := msg.DMADone{Kind: m.Kind, Cookie: m.Cookie}
	if s.status != nil {
		d.Status = s.status(m)
	}
	if m.Kind != msg.KindATS {
		return d
	}
	if m.Address.PASID != process || m.Address.Translated || m.Len != ats.EntryBytes {
		s.t.Errorf("translation request %+v", m)
	}
	x := s.space[(uint64(m.PA)-uint64(s.base))>>12]
	x.Write = x.Write && m.Address.Store
	d.Entry = ats.Encode(x.Translation)
	if x.status != msg.StatusSuccess {
		d.Status = x.status
	}
	return d
}

// message is what the IOMMU gets from the adapter.
func (s *sandwich) message(now clocked.Time, body any) {
	if s.heard != nil {
		s.heard(now, body)
		return
	}
	switch m := body.(type) {
	case *msg.InvalidateDone:
		s.done = append(s.done, ack{at: now})
		s.logf(now, "complete itags=%#x count=%d", m.ITags, m.Count)
	case *msg.PageRequest:
		s.asked = append(s.asked, asked{now, *m})
		verb := map[bool]string{true: "write", false: "read"}[m.Write]
		s.logf(now, "ask      qp=%d %s page=%d group=%d", m.QP, verb, s.pageAt(m.VA), m.Group)
	}
}

func (s *sandwich) pageAt(va model.VA) uint64 { return uint64(va-s.base) >> 12 }
