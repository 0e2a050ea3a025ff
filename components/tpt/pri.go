package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// pageRequests are the page request groups that wait for a response; each is of
// one fault, whose token owns it.
type pageRequests struct {
	groups *ats.Groups
	bodies msg.Pool[msg.PageRequest]
}

// requestPage asks the IOMMU for a fault's pages; false: credits lack. Once page
// requests are off the fault fails.
func (u *Unit) requestPage(now clocked.Time, token int32) bool {
	x := &u.faults.list[token]
	if u.pages.groups.Disabled() {
		u.scheduleResume(now, uint32(token), true)
		return true
	}
	group, ok := u.pages.groups.Open(u.config.PASID, uint32(token), int(x.event.Count))
	if !ok {
		return false
	}
	for n := range x.event.Count {
		ask := u.pages.bodies.Get()
		*ask = msg.PageRequest{QP: x.event.QP, PageRequest: ats.PageRequest{Group: group, Last: n == x.event.Count-1,
			Read: true, Write: x.event.Write, PASID: u.config.PASID, VA: model.VA((x.event.Entry + uint64(n)) << u.shift)}}
		x.asks = append(x.asks, ask)
		u.Stats.PageRequests++
		*u.dma.Push() = msg.DMA{Kind: msg.KindMessage, Write: true, Len: 1, Body: ask, Oracle: msg.Oracle{Page: msg.NoPage}}
	}
	return true
}

// respondPage ends the fault of a group. The response carries no translation:
// what is held asks for one again. One to no pending group is counted only.
func (u *Unit) respondPage(now clocked.Time, r *ats.PageResponse) {
	g := u.pages.groups
	token, ok := g.Close(*r)
	if !ok {
		u.Stats.StrayResponses++
		return
	}
	x := &u.faults.list[token]
	for _, ask := range x.asks {
		u.pages.bodies.Put(ask)
	}
	x.asks = x.asks[:0]
	u.scheduleResume(now, token, r.Code != ats.ResponseSuccess)
	for g.Disabled() { // no response to the others counts any more
		if token, ok = g.Abandon(); !ok {
			return
		}
		u.scheduleResume(now, token, true)
	}
}
