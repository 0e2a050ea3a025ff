package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// held runs 20 WRITEs of 4 KiB on QP 0, whose first page answers after 100 us,
// and as many on QP 1, whose last is returned, through a receive buffer of 32 KiB.
func held(t *testing.T, full string) (s *sandwich, other *measure.Access) {
	spec := testSpec(t)
	spec.QP.FaultResponse = "hold"
	spec.QP.AckTimeout = 8
	spec.Adapter.RxBuffer, spec.Adapter.RxFull = 32<<10, full
	s = build(t, spec, 0)
	s.driver.outstanding = 100
	s.tpt.slowTime = 100 * clocked.Microsecond
	s.tpt.slow = func(q *msg.Translate) bool { return q.VA == 0x100000 && q.Hold }
	for i := range 20 {
		s.post(model.OpWrite, 0, model.VA(0x100000+i*4096), 4096)
		other = s.post(model.OpWrite, 1, model.VA(0x300000+i*4096), 4096)
	}
	s.run(t)
	for _, a := range s.driver.finished {
		if a.Status != measure.StatusOK {
			t.Errorf("access %d: %v", a.ID, a.Status)
		}
	}
	return s, other
}

func TestFullBufferPauses(t *testing.T) {
	s, other := held(t, "pause")
	st := s.resp.Stats
	// 7 packets of 4096 + 94 B (62 of headers, 16 of RETH … without preamble and gap) fit into 32 KiB.
	if want := int64(7 * (headerBytes + rethBytes + 4096 - gapBytes)); st.BufferPeak != want {
		t.Errorf("peak %d bytes, want %d", st.BufferPeak, want)
	}
	if st.RxDrops != 0 || st.Pauses == 0 || st.PausedTime < 90*clocked.Microsecond {
		t.Errorf("%+v", st)
	}
	if s.req.Stats.PacketsResent != 0 {
		t.Errorf("%d packets sent again on a lossless port", s.req.Stats.PacketsResent)
	}
	// Head-of-line blocking: the other QP waits for the paused port.
	if other.Complete-other.Issue < 100*clocked.Microsecond || other.Ledger.Causes[measure.CauseRxBuffer] == 0 {
		t.Errorf("other QP: %v", other.Ledger.Causes)
	}
}

func TestFullBufferDrops(t *testing.T) {
	s, _ := held(t, "drop")
	st := s.resp.Stats
	if st.RxDrops == 0 || st.Pauses != 0 || st.BufferPeak > 32<<10 {
		t.Errorf("%+v", st)
	}
	if s.req.Stats.PacketsResent < st.RxDrops {
		t.Errorf("%d dropped, %d sent again", st.RxDrops, s.req.Stats.PacketsResent)
	}
}

// TestBlockedNetwork: the wire to the responder is two packets deep and nobody
// reads it; the requester stops with bounded occupancy and loses nothing.
func TestBlockedNetwork(t *testing.T) {
	spec := testSpec(t)
	spec.QP.AckTimeout = 0
	s := build(t, spec, 0)
	blocked := true
	s.driver.outstanding = 50
	s.up.in = wire[*msg.Packet](s.engine, "narrow", s.req.ID(), s.up.id, 2)
	s.req.Ports.Tx = s.up.in
	s.req.Connect(s.req.Ports)
	s.up.blocked = func() bool { return blocked }
	for i := range 50 {
		s.post(model.OpWrite, uint32(i%4), model.VA(0x100000+i*4096), 4096)
	}
	s.engine.Wake(s.driver.id, ns)
	if err := s.engine.RunUntil(clocked.Millisecond); err != nil {
		t.Fatal(err)
	}
	if s.req.Stats.PacketsSent != 2 || s.driver.completions != 0 {
		t.Fatalf("%d packets sent into a blocked wire of 2", s.req.Stats.PacketsSent)
	}
	blocked = false
	s.engine.Wake(s.up.id, s.engine.Now()+ns)
	s.run(t)
	if s.resp.Stats.Messages != 50 {
		t.Errorf("%d messages", s.resp.Stats.Messages)
	}
}

// TestNoReceive: without receive buffers a SEND meets RNR NAKs of their own
// class; nothing is looked up.
func TestNoReceive(t *testing.T) {
	spec := testSpec(t)
	spec.QP.RNRRetry, spec.QP.RNRTimer = 2, 1
	s := build(t, spec, 0)
	s.resp.qps[0].repost = nil
	a := s.post(model.OpSend, 0, 0, 64)
	s.run(t)
	if a.Status != measure.StatusRNRExceeded || s.resp.Stats.RNRNoReceive != 3 || s.tpt.lookups != 0 {
		t.Errorf("%v, %d NAKs, %d look-ups", a.Status, s.resp.Stats.RNRNoReceive, s.tpt.lookups)
	}
}

// TestReceiveFetches: 16 SENDs fetch their receive work requests 8 at a time.
func TestReceiveFetches(t *testing.T) {
	s := build(t, testSpec(t), 0)
	for range 16 {
		s.post(model.OpSend, 0, 0, 64)
	}
	s.run(t)
	if n := s.host.count[msg.KindRecvWQE]; n != 2 || s.host.count[msg.KindCQE] != 16 {
		t.Errorf("%d fetches, %d entries", n, s.host.count[msg.KindCQE])
	}
}

// TestContextCache: four QPs in turn through a cache of two contexts always
// miss; from the third on each miss writes a victim back.
func TestContextCache(t *testing.T) {
	spec := testSpec(t)
	spec.Adapter.QPCEntries, spec.Adapter.QPCWays = 2, 0
	s := build(t, spec, 0)
	for i := range 12 {
		s.post(model.OpWrite, uint32(i%4), 0x100000, 64)
	}
	s.run(t)
	if st := s.resp.Stats; st.ContextMisses != 12 || st.ContextWrites != 10 || s.host.count[msg.KindQPC] != 22 {
		t.Errorf("%+v, %d transfers", st, s.host.count[msg.KindQPC])
	}
	// A miss: write-back and read follow each other on the DMA wire, 1 ns; read 400 ns; 1 ns back.
	last := s.driver.finished[11]
	if got := last.Ledger.Causes[measure.CauseQPC]; got != 402*ns {
		t.Errorf("miss %v", got)
	}
}

// TestLookups: how many look-ups an access of 16 KiB, page aligned, makes for
// each meaning of translate_per, with packets of 1 KiB, MPS 256 and MRRS 512.
func TestLookups(t *testing.T) {
	for _, c := range []struct {
		per         string
		write, read int
	}{{"request", 4, 4}, {"packet", 16, 16}, {"tlp", 64, 32}} {
		spec := testSpec(t)
		spec.TranslatePer, spec.QP.MTU = c.per, 1024
		s := build(t, spec, 0)
		s.post(model.OpWrite, 0, 0x100000, 16<<10)
		s.run(t)
		write := s.tpt.lookups
		s.post(model.OpRead, 0, 0x100000, 16<<10)
		s.run(t)
		if write != c.write || s.tpt.lookups-write != c.read {
			t.Errorf("%s: %d and %d look-ups, want %d and %d", c.per, write, s.tpt.lookups-write, c.write, c.read)
		}
	}
}

// KEY-2, D2: an operation of no bytes touches no key and no page.
func TestZeroLength(t *testing.T) {
	s := build(t, testSpec(t), 0)
	for _, op := range []model.Op{model.OpWrite, model.OpRead, model.OpSend} {
		s.post(op, 0, 0x100000, 0)
	}
	s.run(t)
	if s.tpt.lookups != 0 || s.host.count[msg.KindData] != 0 || s.resp.Stats.Messages != 3 {
		t.Errorf("%d look-ups, %d transfers, %d messages", s.tpt.lookups, s.host.count[msg.KindData], s.resp.Stats.Messages)
	}
}
