package iommu

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// ATS-1, B8: the IOTLB's copy is gone before the Invalidate Request is sent, and
// the fence ends after its completion, so that a translation request in between
// gets the new page. In the wrong order it gets the old one.
func TestOrderOfInvalidations(t *testing.T) {
	for _, right := range []bool{true, false} {
		b := oneProcess(t, defaultSpec(t), 1)
		b.answerAfter(0, 500*ns, 1)
		b.mapPages(0, 0x1000, 1<<30, 1, 0)
		b.roots[0].send(1000*ns, translate(0x1000, 1, 1, false))
		const at = 10000 * ns
		b.start()
		if err := b.engine.RunUntil(at - 100*ns); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.tables[0].Unmap(0x1000); err != nil {
			t.Fatal(err)
		}
		b.mapPages(0, 0x1000, 2<<30, 1, 0)
		iotlb := clocked.Time(at)
		if !right {
			iotlb += 300 * ns // when the adapter has asked again
		}
		first, second := b.command(iotlb, msg.IOTLBInvalidate, 0x1000, 4096), b.command(at, msg.DevTLBInvalidate, 0x1000, 4096)
		f := b.command(iotlb, msg.Fence, 0, 0)
		refetch := clocked.Time(0)
		b.roots[0].onBell = func(now clocked.Time, d msg.Doorbell) {
			if inv, ok := d.Body.(*msg.Invalidate); ok { // the adapter drops its copy and asks again
				refetch = now
				if inv.Range.VA != 0x1000 || inv.Range.Shift != 12 || inv.PASID != 1 {
					t.Errorf("%+v", inv.InvalidateRequest)
				}
				b.roots[0].send(now+2*hop, translate(0x1000, 1, 2, false))
				b.roots[0].send(now+500*ns, completion(1<<inv.ITag, 1))
				b.engine.Wake(b.ids[0], now+hop)
			}
		}
		b.run()
		want := model.PA(2 << 30)
		if !right {
			want = 1 << 30
		}
		if got := ats.Decode(b.roots[0].done[1].msg.Entry); got.PA != want {
			t.Errorf("right order %v: asked again at %v, the answer is %#x, want %#x", right, refetch, got.PA, want)
		}
		if right {
			r, iotlb := second.Record, first.Record.IOTLB
			if iotlb != at+commandTime || r.Sent < iotlb || r.Acknowledged <= r.Sent || r.DevTLB != r.Acknowledged || b.fenced(f) < r.Acknowledged {
				t.Errorf("IOTLB %v, sent %v, acknowledged %v, fenced %v", iotlb, r.Sent, r.Acknowledged, b.fenced(f))
			}
		}
	}
}

// ATS-4: an Invalidate Completion is credited only when the writes before it are
// placed.
func TestCompletionPushesWrites(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.latency = func(client int, write bool) clocked.Time {
		if write {
			return 5000 * ns
		}
		return 100 * ns
	}
	c := b.command(1000*ns, msg.DevTLBInvalidate, 0x1000, 4096)
	f := b.command(1000*ns, msg.Fence, 0, 0)
	w := store(1<<30, 1, 1)
	w.Address.Translated = true
	b.roots[0].send(2000*ns, w)
	b.roots[0].send(2001*ns, completion(1, 1))
	b.run()
	placed := b.seen(1) + 5000*ns
	if c.Record.Acknowledged <= placed || b.fenced(f) <= placed || c.Record.Acknowledged > placed+10*ns {
		t.Errorf("acknowledged at %v, fenced at %v, the write is placed at %v", c.Record.Acknowledged, b.fenced(f), placed)
	}
}

// ATS-2, B10: of 33 Invalidate Requests 32 are sent; the 33rd waits until one has
// both its completions. A third completion changes nothing.
func TestTags(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	for i := range 33 {
		b.command(1000*ns, msg.DevTLBInvalidate, model.VA(i)<<12, 4096)
	}
	f := b.command(1000*ns, msg.Fence, 0, 0)
	b.roots[0].send(10000*ns, completion(1<<5, 2))
	b.roots[0].send(20000*ns, completion(1<<5, 2))
	b.start()
	sent := func(at clocked.Time) int {
		if err := b.engine.RunUntil(at); err != nil {
			t.Fatal(err)
		}
		return len(b.roots[0].bells)
	}
	if n := sent(19000 * ns); n != 32 {
		t.Errorf("%d requests sent before a tag has both completions", n)
	}
	if n := sent(21000 * ns); n != 33 {
		t.Errorf("%d requests sent after", n)
	}
	if tag := b.roots[0].bells[32].msg.Body.(*msg.Invalidate).ITag; tag != 5 {
		t.Errorf("ITag %d", tag)
	}
	for range 2 {
		b.roots[0].send(30000*ns, completion(^uint32(0), 2))
	}
	b.roots[0].send(31000*ns, completion(1<<7, 2))
	b.run()
	s := b.unit.Stats()
	if s.DevTLBInvalidates != 33 || s.TagsStalled != 1 || s.UnexpectedCompletions != 1 || s.TimedOut != 0 || b.fenced(f) < 30000*ns {
		t.Errorf("%+v, fenced at %v", s, b.fenced(f))
	}
}

// ATS-8: an adapter that does not answer costs one time-out, told at the command;
// other adapters' invalidations go on meanwhile. Its tag is not used again, a
// late completion is credited to nobody, and when all tags are lost later
// invalidations time out at once.
func TestTimeOut(t *testing.T) {
	spec := defaultSpec(t)
	spec.ATSDepth = 2
	b := oneProcess(t, spec, 2)
	b.answerAfter(1, 500*ns, 1)
	first := b.command(1000*ns, msg.DevTLBInvalidate, 0x1000, 4096)
	f1 := b.command(1000*ns, msg.Fence, 0, 0)
	other := &msg.IOMMUCommand{Op: msg.DevTLBInvalidate, Adapter: 1, PASID: 1, Record: &measure.Invalidation{}}
	b.kernel.send(2000*ns, other)
	b.run()
	if !first.TimedOut || b.fenced(f1) != 1000*ns+spec.ATSTimeout+hop || other.TimedOut || other.Record.Acknowledged > 4000*ns {
		t.Errorf("timed out %v, fenced at %v; the other: %v, acknowledged %v", first.TimedOut, b.fenced(f1), other.TimedOut, other.Record.Acknowledged)
	}
	t1 := b.engine.Now() + 1000*ns
	second := b.command(t1, msg.DevTLBInvalidate, 0x2000, 4096)
	f2 := b.command(t1, msg.Fence, 0, 0)
	b.roots[0].send(t1+1000*ns, completion(1, 1)) // late, for the first
	b.start()
	if err := b.engine.RunUntil(t1 + 2000*ns); err != nil {
		t.Fatal(err)
	}
	if b.roots[0].bells[0].msg.Body.(*msg.Invalidate).Record != nil {
		t.Error("a late adapter can still stamp a record that is the kernel's again")
	}
	if b.fenced(f2) >= 0 || first.Record.Acknowledged != 0 || second.Record.Acknowledged != 0 || b.roots[0].bells[1].msg.Body.(*msg.Invalidate).ITag != 1 {
		t.Error("the late completion of the first request was credited to the second")
	}
	b.run()
	t2 := b.engine.Now() + 1000*ns
	third := b.command(t2, msg.DevTLBInvalidate, 0, 0) // tag 0 is free again
	b.run()
	t3 := b.engine.Now() + 1000*ns
	fourth := b.command(t3, msg.DevTLBInvalidate, 0, 0)
	f4 := b.command(t3, msg.Fence, 0, 0)
	b.run()
	if !second.TimedOut || !third.TimedOut || !fourth.TimedOut || b.fenced(f4) != t3+hop || b.unit.Stats().DevTLBInvalidates != 4 {
		t.Errorf("second %v, third %v, fourth %v fenced at %v after %v, %+v", second.TimedOut, third.TimedOut, fourth.TimedOut, b.fenced(f4), t3, b.unit.Stats())
	}
}

// ATS-7: a queue that waits for a tag, and requests on absent pages, do not stop
// completions, page requests and the ring's register.
func TestNothingWaitsInACircle(t *testing.T) {
	spec := defaultSpec(t)
	spec.ATSDepth, spec.PageRequests = 1, 1
	b := oneProcess(t, spec, 1)
	b.command(1000*ns, msg.DevTLBInvalidate, 0, 0)
	b.command(1000*ns, msg.DevTLBInvalidate, 0, 0) // stalls
	f := b.command(1000*ns, msg.Fence, 0, 0)
	b.roots[0].send(2000*ns, pageRequest(1, 1, true, false))
	b.kernel.send(3000*ns, &msg.IOMMUCommand{Op: msg.FreeRing, Count: 1})
	b.roots[0].send(4000*ns, pageRequest(2, 1, true, false)) // finds room
	b.roots[0].send(4000*ns, store(0x9000, 1, 1))            // absent
	b.roots[0].send(5000*ns, completion(1, 1))
	b.roots[0].send(7000*ns, completion(1, 1))
	b.run()
	if s := b.unit.Stats(); s.PageRequests != 2 || s.AutoReply != 0 || s.TimedOut != 0 || b.fenced(f) < 7000*ns || b.fenced(f) > 7010*ns {
		t.Errorf("%+v, fenced at %v", s, b.fenced(f))
	}
}
