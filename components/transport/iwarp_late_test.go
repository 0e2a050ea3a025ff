package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
)

// RC-7, C9: under iWARP too a fenced SEND leaves when both READs before it are
// answered, and its payload is read no earlier.
func TestIWARPFence(t *testing.T) {
	for _, n := range []uint32{64, 256} { // within the work request, and read
		fenced(t, n)
	}
}

func fenced(t *testing.T, n uint32) {
	spec := iwarpSpec(t)
	spec.QP.FaultResponse = "hold"
	s := warm(t, spec)
	s.driver.outstanding = 3
	s.tpt.slowTime = 50 * clocked.Microsecond
	s.tpt.slow = func(q *msg.Translate) bool { return q.VA == 0x100000 }
	s.post(model.OpRead, 0, 0x100000, 64)
	s.post(model.OpRead, 0, 0x200000, 64)
	s.post(model.OpSend, 0, 0, n)
	s.driver.work[len(s.driver.work)-1].Fence = true
	var sent, answered, payload clocked.Time
	s.up.seen = func(_ clocked.Time, p *msg.Packet) {
		if p.Segment.Message == ddp.Send {
			sent = left(&spec, p)
		}
	}
	s.down.seen = func(now clocked.Time, p *msg.Packet) {
		if p.Segment.Message == ddp.ReadResponse {
			answered = now + ns
		}
	}
	seen := s.peer.seen
	s.peer.seen = func(now clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindData && !d.Write {
			payload = now - ns
		}
		seen(now, d)
	}
	s.run(t)
	read := n > 64
	if answered == 0 || sent < answered || read && (payload < answered || sent != payload+ns+300*ns+ns) {
		t.Errorf("%d bytes: READs answered at %v, payload read at %v, SEND left at %v", n, answered, payload, sent)
	}
}

// FRW-4: under iWARP too the data of a SEND with invalidate are written before
// the key dies, and the receive completion comes behind. A READ by the dead key
// ends the stream.
func TestIWARPInvalidate(t *testing.T) {
	k := newKiller(t, iwarpSpec(t))
	a := k.send(64, 0x500)
	k.run(t)
	if a.Status != measure.StatusOK || k.kills != 1 || k.placed == 0 || k.placed > k.asked || k.entry < k.asked+5*clocked.Microsecond {
		t.Errorf("%v, %d kills: data at %v, key at %v, completion at %v", a.Status, k.kills, k.placed, k.asked, k.entry)
	}
	read := k.post(model.OpRead, 0, 0x20000, 64)
	k.run(t)
	if read.Status != measure.StatusTerminated {
		t.Errorf("READ by a dead key: %v", read.Status)
	}
}

// A key that cannot be invalidated ends the stream, with the code for it, and
// no receive completion is written.
func TestIWARPInvalidateRefused(t *testing.T) {
	k := newKiller(t, iwarpSpec(t))
	k.refuse = true
	var reason ddp.Reason
	k.down.seen = func(_ clocked.Time, p *msg.Packet) {
		if p.Segment.Message == ddp.Terminate && p.Segment.Bytes > 0 {
			reason = p.Segment.Reason
		}
	}
	a := k.send(64, 0x500)
	k.run(t)
	if a.Status != measure.StatusTerminated || reason != ddp.CannotInvalidate() || k.entry != 0 || k.resp.Stats.KillsRefused != 1 {
		t.Errorf("%v, %v, completion at %v, %+v", a.Status, reason, k.entry, k.resp.Stats)
	}
}

// What an IOMMU finds absent behind the translation: a WRITE's segment and an
// atomic's request are dropped and come again, a READ whose request TCP has
// taken ends the stream.
func TestIWARPLateAbsent(t *testing.T) {
	for _, c := range []struct {
		op    model.Op
		kind  msg.Kind
		want  measure.Status
		drops uint32
	}{
		{model.OpWrite, msg.KindFlush, measure.StatusOK, 1},
		{model.OpCompareSwap, msg.KindData, measure.StatusOK, 1},
		{model.OpRead, msg.KindData, measure.StatusTerminated, 0},
	} {
		s := warm(t, iwarpSpec(t))
		s.tpt.address = msg.Address{PASID: 1}
		s.failOnce(c.kind, 0x20000, msg.StatusRetry)
		a := s.post(c.op, 0, 0x20000, 8)
		s.run(t)
		if a.Status != c.want || a.Counts.TCPDrops != c.drops || s.resp.Stats.TCP.DropsAbsent != uint64(c.drops) {
			t.Errorf("%v: %v, %+v", c.op, a.Status, a.Counts)
		}
		if !s.resp.Idle() || s.tpt.granted != 0 {
			t.Errorf("%v: not idle", c.op)
		}
	}
}

// A bus that fails for good behind a WRITE that is to be acknowledged at
// placement: the stream ends, and the WRITE is not acknowledged.
func TestIWARPLateAbort(t *testing.T) {
	spec := iwarpSpec(t)
	spec.QP.AckPoint = "placement"
	s := warm(t, spec)
	s.driver.outstanding = 3
	failed := false
	s.host.status = func(_ clocked.Time, d *msg.DMA) msg.Status {
		if d.Kind != msg.KindFlush || failed {
			return msg.StatusSuccess
		}
		failed = true // those behind it succeed, and are not acknowledged either
		return msg.StatusAbort
	}
	for range 3 {
		s.post(model.OpWrite, 0, 0x20000, 64)
	}
	s.run(t)
	for i, want := range []measure.Status{measure.StatusTerminated, measure.StatusFlushed, measure.StatusFlushed} {
		if got := s.driver.finished[i+1].Status; got != want {
			t.Errorf("WRITE %d: %v, want %v", i, got, want)
		}
	}
	if !s.resp.Idle() {
		t.Error("not idle")
	}
}
