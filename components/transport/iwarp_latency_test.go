package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// unloadedWrite is the latency of a WRITE of 64 B acknowledged at issue: doorbell
// 1 hop; segment 90 + 2+14+64+4 B; look-up; write; ACK of 90 B; completion entry
// 1 hop. Of this everything but the doorbell comes behind the moment at which
// the segment leaves. Without time stamps headers are 12 B shorter, and the ACK
// is the shortest frame.
func unloadedWrite(s *Spec) clocked.Time {
	segment, ack := int64(174), int64(90)
	if !s.TCP.Timestamps {
		segment, ack = 162, 84
	}
	return ns + oneWay(s, segment, true) + (ns + 15*ns + ns) + (ns + 20*ns + ns) + oneWay(s, ack, false) + ns
}

func TestIWARPUnloadedWrite(t *testing.T) {
	spec := iwarpSpec(t)
	for _, c := range []struct {
		point string
		less  clocked.Time
	}{
		{"receipt", ns + 20*ns + ns},
		{"issue", 0},
		{"placement", (ns + 20*ns + ns) - (ns + 400*ns + ns)}, // a read round trip behind the write
		{"issue", 0},
	} {
		spec.QP.AckPoint = c.point
		spec.TCP.Timestamps = !spec.TCP.Timestamps
		s := warm(t, spec)
		a := s.post(model.OpWrite, 0, 0x20000, 64)
		s.run(t)
		want := unloadedWrite(&spec) - c.less
		if got := a.Complete - a.Issue; got != want {
			t.Errorf("%s: %v, want %v: %v", c.point, got, want, a.Ledger.Causes)
		}
	}
}

func TestIWARPUnloadedRead(t *testing.T) {
	spec := iwarpSpec(t)
	s := warm(t, spec)
	a := s.post(model.OpRead, 0, 0x20000, 64)
	s.run(t)
	// Request 90 + 2+18+28+4 B; look-up; memory read; response 90 + 2+14+64+4 B.
	want := ns + oneWay(&spec, 142, true) + (ns + 15*ns + ns) + (ns + 400*ns + ns) + oneWay(&spec, 174, false) + ns
	if got := a.Complete - a.Issue; got != want {
		t.Errorf("%v, want %v: %v", got, want, a.Ledger.Causes)
	}
	if got := a.Ledger.Causes[measure.CauseHostMemory]; got != ns+400*ns {
		t.Errorf("host memory %v", got)
	}
}

func TestIWARPUnloadedSend(t *testing.T) {
	spec := iwarpSpec(t)
	s := warm(t, spec)
	s.post(model.OpSend, 0, 0, 64) // fetches receive work requests for both
	s.run(t)
	a := s.post(model.OpSend, 0, 0, 64)
	s.run(t)
	// Segment 90 + 2+18+64+4 B.
	want := ns + oneWay(&spec, 178, true) + (ns + 15*ns + ns) + (ns + 20*ns + ns) + oneWay(&spec, 90, false) + ns
	if got := a.Complete - a.Issue; got != want {
		t.Errorf("%v, want %v: %v", got, want, a.Ledger.Causes)
	}
}

func TestIWARPUnloadedAtomic(t *testing.T) {
	spec := iwarpSpec(t)
	s := warm(t, spec)
	a := s.post(model.OpFetchAdd, 0, 0x20000, 8)
	s.run(t)
	// Request 90 + 2+18+52+4 B; look-up; old value read; the response, 90 + 2+18+12+4 B, leaves with the write.
	want := ns + oneWay(&spec, 166, true) + (ns + 15*ns + ns) + (ns + 400*ns + ns) + oneWay(&spec, 126, false) + ns
	if got := a.Complete - a.Issue; got != want {
		t.Errorf("%v, want %v: %v", got, want, a.Ledger.Causes)
	}
}

// A lone WRITE waits for the delayed ACK; the second of two does not.
func TestIWARPDelayedAck(t *testing.T) {
	spec := iwarpSpec(t)
	spec.TCP.AckEvery = 2
	s := build(t, spec, 0)
	s.driver.outstanding = 2
	for range 2 {
		s.post(model.OpWrite, 0, 0x10000, 8)
	}
	s.run(t)
	if n := s.resp.Stats.TCP.Acks; n != 1 {
		t.Fatalf("%d ACKs for two segments", n)
	}
	a := s.post(model.OpWrite, 0, 0x20000, 64)
	s.run(t)
	want := unloadedWrite(&spec) + 40*clocked.Millisecond
	if got := a.Complete - a.Issue; got != want {
		t.Errorf("%v, want %v: %v", got, want, a.Ledger.Causes)
	}
}

// ACKs of READ responses travel with the next request: 20 READs one after the
// other need one ACK of their own, the last.
func TestIWARPPiggyback(t *testing.T) {
	spec := iwarpSpec(t)
	spec.TCP.AckEvery = 2
	s := build(t, spec, 0)
	for i := range 20 {
		s.post(model.OpRead, 0, model.VA(0x10000+i*4096), 64)
	}
	s.run(t)
	if req, resp := s.req.Stats.TCP.Acks, s.resp.Stats.TCP.Acks; req != 1 || resp != 0 {
		t.Errorf("requester %d, responder %d segments without data", req, resp)
	}
}

// TestIWARPPeakRate: 4 KiB WRITEs on 4 QPs fill the wire with segments of
// 90 + 2+14+4096+4 B at 80 ps a byte, READs the other one.
func TestIWARPPeakRate(t *testing.T) {
	for _, op := range []model.Op{model.OpWrite, model.OpRead} {
		s := loopOf(t, iwarpSpec(t), op, 4096)
		s.driver.outstanding = 64
		s.rounds(t, 1)
		var first, last clocked.Time
		n := 0
		seen := func(now clocked.Time, p *msg.Packet) {
			if p.Payload == 0 {
				return
			}
			if n++; first == 0 {
				first = now
			}
			last = now
		}
		if op == model.OpWrite {
			s.up.seen = seen
		} else {
			s.down.seen = seen
		}
		s.rounds(t, 1)
		acks := s.req.Stats.TCP.Acks
		if got, want := last-first, clocked.Time(63*4206*80); n != 64 || got != want {
			t.Errorf("%v: %d segments in %v, want %v (%d ACKs)", op, n, got, want, acks)
		}
	}
}

// TestIWARPSlowStart: of a message of 1 MiB 10, 20, 40, 80 segments leave in the
// first round trips of 1 ms.
func TestIWARPSlowStart(t *testing.T) {
	spec := iwarpSpec(t)
	spec.Network.Latency = 500 * clocked.Microsecond
	spec.TCP.Window = 1 << 20
	s := build(t, spec, 0)
	s.driver.outstanding = 1
	var bursts []int
	var before clocked.Time
	s.up.seen = func(now clocked.Time, p *msg.Packet) {
		if now-before > 500*clocked.Microsecond {
			bursts = append(bursts, 0)
		}
		bursts[len(bursts)-1]++
		before = now
	}
	a := s.post(model.OpWrite, 0, 0x100000, 1<<20)
	s.run(t)
	want := []int{10, 20, 40, 80, 106} // 256 in all
	if len(bursts) != len(want) {
		t.Fatalf("%v, want %v", bursts, want)
	}
	for i := range want {
		if bursts[i] != want[i] {
			t.Fatalf("%v, want %v", bursts, want)
		}
	}
	if rounds := (a.Complete - a.Issue) / clocked.Millisecond; rounds != 5 {
		t.Errorf("%d round trips", rounds)
	}
}

func TestIWARPNoAllocation(t *testing.T) {
	for _, op := range []model.Op{model.OpWrite, model.OpRead, model.OpSend, model.OpFetchAdd} {
		s := loopOf(t, iwarpSpec(t), op, 64)
		s.rounds(t, 20)
		if n := testing.AllocsPerRun(20, func() { s.rounds(t, 1) }); n != 0 {
			t.Errorf("%v: %v allocations in 64 accesses", op, n)
		}
	}
}

func BenchmarkIWARPWrite64(b *testing.B) {
	s := loopOf(b, iwarpSpec(b), model.OpWrite, 64)
	s.rounds(b, 10)
	b.ReportAllocs()
	b.ResetTimer()
	s.rounds(b, (b.N+63)/64)
}
