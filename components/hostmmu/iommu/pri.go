package iommu

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/ats"
)

// groups is the number of page request groups of an adapter: 9 bits.
const groups = 512

// takeMessage takes a message of an adapter in the order of posted requests.
func (u *Unit) takeMessage(now clocked.Time, r *rootPort, s *request) {
	a := &u.adapters[s.adapter]
	switch body := s.req.Body.(type) {
	case *msg.InvalidateDone:
		if r.written == r.placed {
			u.credit(now, a, body.InvalidateCompletion)
			return
		}
		*r.pending.Push() = flush{adapter: a, completion: body.InvalidateCompletion}
		u.sendFlushes(now, r)
	case *msg.PageRequest:
		u.takePageRequest(a, s, body)
	default:
		u.stats.UnknownMessages++
	}
}

// takePageRequest puts a page request into the ring. One that is refused, or
// finds the ring full, is answered here if it is the last of its group: an
// adapter expects one response for a group, and none for a stop marker.
func (u *Unit) takePageRequest(a *adapter, s *request, p *msg.PageRequest) {
	code := ats.ResponseSuccess // ring full: try again
	switch {
	case s.broken:
		code = ats.ResponseFailure
	case !s.pri:
		code = ats.ResponseInvalid
	case u.ring < u.spec.PageRequests:
		u.ring++
		u.stats.PageRequests++
		*u.events.Push() = msg.IOMMUEvent{Kind: msg.EventPage, Adapter: a.index, Request: *p, Lost: u.lost}
		u.lost = false
		return
	default:
		u.lost = true
	}
	if p.Last && (p.Read || p.Write) {
		u.stats.AutoReply++
		u.respond(a, ats.PageResponse{Group: p.Group, PASID: p.PASID, Code: code})
		return
	}
	u.stats.PagesDropped++
}

// respond sends a PRG response. The adapter uses no group again before it has
// the response, so that one place a group is enough.
func (u *Unit) respond(a *adapter, r ats.PageResponse) {
	body := &a.responses[r.Group%groups]
	*body = msg.PageResponse{PageResponse: r}
	u.send(a, msg.Doorbell{Client: adapterClient, Body: body})
}
