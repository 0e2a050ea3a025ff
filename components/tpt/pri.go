package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// pageRequests are the page request groups that wait for a response; each is of
// one page and one fault, whose token owns it.
type pageRequests struct {
	groups *ats.Groups
	bodies msg.Pool[msg.PageRequest]
}

// requestPage asks the IOMMU for a fault's page; false: no credit is free. Once
// page requests are off the fault fails.
func (u *Unit) requestPage(now clocked.Time, token int32) bool {
	x := &u.faults.list[token]
	if u.pages.groups.Disabled() {
		u.scheduleResume(now, uint32(token), true)
		return true
	}
	group, ok := u.pages.groups.Open(u.config.PASID, uint32(token), 1)
	if !ok {
		return false
	}
	x.ask = u.pages.bodies.Get()
	*x.ask = msg.PageRequest{Page: x.event.Page, QP: x.event.QP, PageRequest: ats.PageRequest{Group: group, Last: true,
		Read: true, Write: x.event.Write, PASID: u.config.PASID, VA: model.VA(x.event.Entry << u.shift)}}
	u.Stats.PageRequests++
	*u.dma.Push() = msg.DMA{Kind: msg.KindMessage, Write: true, Len: 1, Body: x.ask, Oracle: msg.Oracle{Page: msg.NoPage}}
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
	u.pages.bodies.Put(x.ask)
	x.ask = nil
	u.scheduleResume(now, token, r.Code != ats.ResponseSuccess)
	for g.Disabled() { // no response to the others counts any more
		if token, ok = g.Abandon(); !ok {
			return
		}
		u.scheduleResume(now, token, true)
	}
}
