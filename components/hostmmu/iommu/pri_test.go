package iommu

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

func pageRequest(group uint16, pasid uint32, last, store bool) msg.MemReq {
	return msg.MemReq{Kind: msg.KindMessage, Write: true, Body: &msg.PageRequest{
		PageRequest: ats.PageRequest{Group: group, Last: last, Read: true, Write: store, PASID: pasid, VA: model.VA(group) << 12}}}
}

func stopMarker(pasid uint32) msg.MemReq {
	return msg.MemReq{Kind: msg.KindMessage, Write: true, Body: &msg.PageRequest{PageRequest: ats.PageRequest{Last: true, PASID: pasid}}}
}

// responses are the PRG responses that an adapter got, by group.
func (r *root) responses() map[uint16][]ats.ResponseCode {
	all := map[uint16][]ats.ResponseCode{}
	for _, d := range r.bells {
		if p, ok := d.msg.Body.(*msg.PageResponse); ok {
			all[p.Group] = append(all[p.Group], p.Code)
		}
	}
	return all
}

// ATS-5: each group is answered once, by the kernel or, where the ring is full,
// by the IOMMU with success; parts of a group and stop markers are not. Freed
// places are used again.
func TestPageRequestRing(t *testing.T) {
	spec := defaultSpec(t)
	spec.PageRequests = 2
	b := oneProcess(t, spec, 1)
	for i, m := range []msg.MemReq{
		pageRequest(1, 1, false, false), pageRequest(1, 1, true, true), // fill the ring
		pageRequest(2, 1, false, false), pageRequest(2, 1, true, false), // dropped; answered
		stopMarker(1), // dropped
	} {
		b.roots[0].send(1000*ns+clocked.Time(i)*ns, m)
	}
	b.kernel.send(5000*ns, &msg.IOMMUCommand{Op: msg.FreeRing, Count: 2})
	b.kernel.send(5001*ns, &msg.IOMMUCommand{Op: msg.RespondPage, Response: ats.PageResponse{Group: 1, PASID: 1, Code: ats.ResponseInvalid}})
	b.roots[0].send(6000*ns, pageRequest(3, 1, true, false))
	b.roots[0].send(6001*ns, stopMarker(1))
	b.run()
	got := b.roots[0].responses()
	if len(got) != 2 || len(got[1]) != 1 || len(got[2]) != 1 || got[1][0] != ats.ResponseInvalid || got[2][0] != ats.ResponseSuccess {
		t.Errorf("responses %v", got)
	}
	if len(b.events) != 4 || b.events[1].msg.Request.Group != 1 || !b.events[1].msg.Request.Write || b.events[1].msg.Lost || b.events[2].msg.Request.Group != 3 || !b.events[2].msg.Lost || b.events[3].msg.Lost {
		t.Errorf("events %+v", b.events)
	}
	if s := b.unit.Stats(); s.PageRequests != 4 || s.PagesDropped != 2 || s.AutoReply != 1 {
		t.Errorf("%+v", s)
	}
	for _, d := range b.roots[0].bells {
		if !d.msg.Message || d.msg.Client != 1 || d.msg.Len != 0 {
			t.Errorf("%+v", d.msg)
		}
	}
}

// Page requests where they are off are answered invalid, and where there is no
// context with a failure; parts and stop markers never.
func TestPageRequestsOff(t *testing.T) {
	b := newBench(t, defaultSpec(t), 1, 0)
	b.setContext(0, 1, Context{Table: b.tables[0], Domain: 1, ATS: true})
	for i, m := range []msg.MemReq{pageRequest(1, 1, false, false), pageRequest(1, 1, true, false), pageRequest(2, 9, true, false), stopMarker(1), stopMarker(9)} {
		b.roots[0].send(1000*ns+clocked.Time(i)*ns, m)
	}
	b.run()
	got := b.roots[0].responses()
	if len(got) != 2 || len(got[1]) != 1 || got[1][0] != ats.ResponseInvalid || len(got[2]) != 1 || got[2][0] != ats.ResponseFailure {
		t.Errorf("responses %v", got)
	}
	if len(b.events) != 0 {
		t.Errorf("events %+v", b.events)
	}
}

// B5: a device is taken away while its page request is in the ring: the kernel
// answers by group, and later requests are refused here.
func TestDeviceRemovedWhileARequestIsInTheRing(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.roots[0].send(1000*ns, pageRequest(4, 1, true, false))
	b.run()
	b.setContext(0, 1, Context{})
	b.roots[0].onBell = func(now clocked.Time, d msg.Doorbell) {
		if _, ok := d.Body.(*msg.Invalidate); ok {
			b.roots[0].send(now+100*ns, completion(1, 1))
			b.engine.Wake(b.ids[0], now+99*ns)
		}
	}
	b.kernel.send(5000*ns, &msg.IOMMUCommand{Op: msg.ContextInvalidate, PASID: 1})
	b.kernel.send(5001*ns, &msg.IOMMUCommand{Op: msg.Fence})
	b.kernel.send(5002*ns, &msg.IOMMUCommand{Op: msg.RespondPage, Response: ats.PageResponse{Group: 4, PASID: 1, Code: ats.ResponseInvalid}})
	b.kernel.send(5003*ns, &msg.IOMMUCommand{Op: msg.FreeRing, Count: 1})
	b.roots[0].send(9000*ns, pageRequest(5, 1, true, false))
	b.run()
	got := b.roots[0].responses()
	if len(got[4]) != 1 || got[4][0] != ats.ResponseInvalid || len(got[5]) != 1 || got[5][0] != ats.ResponseFailure || b.unit.ring != 0 {
		t.Errorf("responses %v, ring %d", got, b.unit.ring)
	}
}
