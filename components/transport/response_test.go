package transport

import (
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// TestLaterAck: the ACK of the first of two WRITEs is lost; the second's ACK
// completes both, in order, and nothing is sent again.
func TestLaterAck(t *testing.T) {
	s := warm(t, testSpec(t))
	s.driver.outstanding = 2
	lost := false
	s.down.drop = func(*msg.Packet) bool { first := !lost; lost = true; return first }
	a := s.post(model.OpWrite, 0, 0x20000, 64)
	b := s.post(model.OpWrite, 0, 0x30000, 64)
	s.run(t)
	if s.req.Stats.PacketsResent != 0 || a.Status != measure.StatusOK || b.Status != measure.StatusOK || a.Complete > b.Complete {
		t.Errorf("%d sent again, %v at %v, %v at %v", s.req.Stats.PacketsResent, a.Status, a.Complete, b.Status, b.Complete)
	}
}

// RC-5: the response of a READ is lost and the ACKs of three WRITEs behind it
// arrive: an implied NAK, long before the time-out, and only one go-back.
func TestSkippedRead(t *testing.T) {
	s := warm(t, testSpec(t))
	s.driver.outstanding = 4
	lost := false
	s.down.drop = func(*msg.Packet) bool { first := !lost; lost = true; return first }
	read := s.post(model.OpRead, 0, 0x20000, 64)
	for range 3 {
		s.post(model.OpWrite, 0, 0x30000, 64)
	}
	s.run(t)
	if st := s.req.Stats; st.ImpliedNaks != 1 || st.GoBacks != 1 || st.Timeouts != 0 || read.Complete-read.Issue > 10*clocked.Microsecond {
		t.Errorf("%+v, READ took %v", st, read.Complete-read.Issue)
	}
}

// TestRevokeHeld: the translation of a page of 64 KiB is revoked while a WRITE
// of 4 packets goes through it: it is given back, and the next packet looks it
// up again, with the key check.
func TestRevokeHeld(t *testing.T) {
	spec := testSpec(t)
	spec.AdapterPage = model.Shift64K
	s := warm(t, spec)
	s.tpt.record, s.tpt.revokeAt = true, s.tpt.lookups+1
	s.post(model.OpWrite, 0, 0x100000, 4*4096)
	s.run(t)
	if n := len(s.tpt.asked); n != 2 || !s.tpt.asked[1].CheckKey || s.tpt.asked[1].Replay || s.tpt.asked[1].VA != 0x101000 {
		t.Errorf("%d look-ups: %+v", n, s.tpt.asked)
	}
	if s.resp.Stats.Revoked != 1 || s.tpt.granted != 0 {
		t.Errorf("%d revoked, %d not given back", s.resp.Stats.Revoked, s.tpt.granted)
	}
}

// TestWorkRequestFetch: a plain doorbell costs one read of the work request,
// 1 ns and 300 ns and 1 ns, charged to post; data beyond qp.inline is read too.
func TestWorkRequestFetch(t *testing.T) {
	s := warm(t, testSpec(t))
	s.driver.fetch = true
	a := s.post(model.OpWrite, 0, 0x20000, 256)
	s.run(t)
	read := ns + 300*ns + ns
	if post, payload := a.Ledger.Causes[measure.CausePost], a.Ledger.Causes[measure.CausePayload]; post != ns+read || payload != read {
		t.Errorf("post %v, payload %v; want %v and %v", post, payload, ns+read, read)
	}
	if s.peer.count[msg.KindWQE] != 1 || s.peer.count[msg.KindData] != 1 {
		t.Errorf("%v", s.peer.count)
	}
}

// TestWaits: a run stopped in the middle says who waits for what.
func TestWaits(t *testing.T) {
	spec := testSpec(t)
	spec.QP.FaultResponse = "hold"
	s := warm(t, spec)
	s.tpt.slow, s.tpt.slowTime = func(*msg.Translate) bool { return true }, clocked.Millisecond
	s.post(model.OpWrite, 2, 0x20000, 64)
	s.engine.Wake(s.driver.id, s.engine.Now()+ns)
	if err := s.engine.RunUntil(s.engine.Now() + 100*clocked.Microsecond); err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(s.resp.Waits(), "\n"); !strings.HasPrefix(w, "responder: QP 2 PSN 16777211 waits for a translation at va 0x20000 since ") {
		t.Errorf("responder: %s", w)
	}
	if w := strings.Join(s.req.Waits(), "\n"); !strings.HasPrefix(w, "requester: QP 2 runs: 1 requests, unacknowledged PSN 16777211, next PSN 16777212, timer at ") {
		t.Errorf("requester: %s", w)
	}
	if s.req.Idle() || s.resp.Idle() {
		t.Error("idle with a request open")
	}
}

func TestSpecErrors(t *testing.T) {
	for name, spoil := range map[string]func(*Spec){
		"QPs":           func(s *Spec) { s.QPs = 0 },
		"qp.mtu":        func(s *Spec) { s.QP.MTU = 1500 },
		"ack_point":     func(s *Spec) { s.QP.AckPoint = "never" },
		"translate_per": func(s *Spec) { s.TranslatePer = "byte" },
		"page shifts":   func(s *Spec) { s.HostPage = 3 },
		"MPS":           func(s *Spec) { s.MPS = 300 },
		"qpc_entries":   func(s *Spec) { s.Adapter.QPCEntries, s.Adapter.QPCWays = 24, 8 },
		"network.rate":  func(s *Spec) { s.Network.Rate = 0 },
	} {
		spec := testSpec(t)
		spoil(&spec)
		buffers := make([]RecvBuffers, max(0, spec.QPs))
		_, err := NewResponder(clocked.NewEngine(), "responder", spec, HostMemory{Entries: 1}, buffers, 0, &msg.Pool[msg.Packet]{})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
