package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// left is when a packet's first bit left: before its serialization at 80 ps a
// byte, the pipeline and the way.
func left(s *Spec, p *msg.Packet) clocked.Time {
	return p.Arrived - s.Network.Latency - s.Adapter.TxPipeline - clocked.Time(p.WireLen)*80
}

// RC-7, C9: of two READs the first is slow. A fenced SEND leaves when both are
// answered, and its payload is read no earlier; without a fence it leaves at
// once.
func TestFence(t *testing.T) {
	for _, fence := range []bool{true, false} {
		spec := testSpec(t)
		spec.QP.FaultResponse = "hold"
		s := warm(t, spec)
		start := s.engine.Now()
		s.driver.outstanding = 3
		s.tpt.slowTime = 50 * clocked.Microsecond
		s.tpt.slow = func(q *msg.Translate) bool { return q.VA == 0x100000 }
		first := s.post(model.OpRead, 0, 0x100000, 64)
		second := s.post(model.OpRead, 0, 0x200000, 64)
		s.post(model.OpSend, 0, 0, 256)
		s.driver.work[len(s.driver.work)-1].Fence = fence
		var sent, answered, payload clocked.Time
		s.up.seen = func(_ clocked.Time, p *msg.Packet) {
			if p.Op == model.OpSend {
				sent = left(&spec, p)
			}
		}
		s.down.seen = func(now clocked.Time, p *msg.Packet) {
			if p.Op == model.OpRead {
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
		if fence && (payload < answered || sent != payload+ns+300*ns+ns) {
			t.Errorf("READs answered at %v, payload read at %v, SEND left at %v", answered, payload, sent)
		}
		if !fence && sent-start > 10*clocked.Microsecond {
			t.Errorf("without a fence the SEND left after %v", sent-start)
		}
		if first.Status != measure.StatusOK || second.Complete < first.Complete || answered-start < 50*clocked.Microsecond {
			t.Errorf("READs at %v and %v", first.Complete, second.Complete)
		}
	}
}

// A fenced request that is sent again does not wait for READs behind it.
func TestFenceResent(t *testing.T) {
	spec := testSpec(t)
	spec.QP.AckTimeout = 4
	s := warm(t, spec)
	s.driver.outstanding = 3
	s.post(model.OpRead, 0, 0x100000, 64)
	s.post(model.OpWrite, 0, 0x200000, 64)
	s.driver.work[len(s.driver.work)-1].Fence = true
	behind := s.post(model.OpRead, 0, 0x300000, 64)
	lost := false
	s.up.drop = func(p *msg.Packet) bool {
		drop := !lost && p.Op == model.OpWrite
		lost = lost || drop
		return drop
	}
	s.run(t)
	if s.req.Stats.PacketsResent != 2 || behind.Status != measure.StatusOK {
		t.Errorf("%+v, %v", s.req.Stats, behind.Status)
	}
}
