package transport

import (
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
	"rnicmmu/model/key"
)

// ending runs two requests on a QP, of which the TPT refuses the second, with a
// third behind, and returns what the Terminate message said.
func ending(t *testing.T, s *sandwich, op model.Op, n uint32) (bad *measure.Access, reason ddp.Reason) {
	s.driver.outstanding = 3
	good := s.post(model.OpWrite, 0, 0x20000, 64)
	bad = s.post(op, 0, 0x30000, n)
	after := s.post(model.OpWrite, 0, 0x40000, 64)
	told := 0
	s.down.seen = func(_ clocked.Time, p *msg.Packet) {
		if p.Segment.Message == ddp.Terminate && p.Segment.Bytes > 0 {
			told++
			reason = p.Segment.Reason
		}
	}
	s.run(t)
	if good.Status != measure.StatusOK || bad.Status != measure.StatusTerminated || after.Status != measure.StatusFlushed || told != 1 {
		t.Errorf("%v: %v, %v, %v; %d messages", op, good.Status, bad.Status, after.Status, told)
	}
	if s.req.Stats.DeadQPs != 1 || s.resp.Stats.TCP.Terminates != 1 || s.req.Stats.TCP.Terminates != 1 || !s.resp.Idle() || !s.req.Idle() || s.tpt.granted != 0 {
		t.Errorf("%v: %+v %+v", op, s.req.Stats, s.resp.Stats.TCP)
	}
	if bad.Complete-bad.Issue > 10*clocked.Microsecond {
		t.Errorf("%v: told after %v: %v", op, bad.Complete-bad.Issue, bad.Ledger.Causes)
	}
	return bad, reason
}

// D1 and KEY-1: what a key refuses ends the stream with the code of the
// check that failed, and touches no memory; base and bounds for a region of no
// bytes.
func TestIWARPTerminate(t *testing.T) {
	for _, c := range []struct {
		op   model.Op
		n    uint32
		o    msg.Outcome
		why  key.Verdict
		want uint16
	}{
		{model.OpWrite, 8, msg.OutcomeRemoteAccess, key.OutOfBounds, 0x1101},
		{model.OpWrite, 8, msg.OutcomeRemoteAccess, key.NoRegion, 0x1100},
		{model.OpWrite, 8, msg.OutcomeRemoteAccess, key.WrongPD, 0x1102},
		{model.OpRead, 9000, msg.OutcomeRemoteAccess, key.NoRight, 0x0102},
		{model.OpRead, 8, msg.OutcomeRemoteOp, key.OK, 0x0000},
		{model.OpFetchAdd, 8, msg.OutcomeRemoteAccess, key.NoRight, 0x0102},
		{model.OpSend, 8, msg.OutcomeRemoteAccess, key.NoRegion, 0x1000},
	} {
		s := warm(t, iwarpSpec(t))
		s.tpt.why = c.why
		s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
			if q.Op == model.OpSend || q.VA == 0x30000 {
				return c.o
			}
			return msg.OutcomeOK
		}
		s.host.seen = func(_ clocked.Time, d *msg.DMA) {
			if va, _, _ := user(d.PA); d.Kind == msg.KindData && va != 0x20000 {
				t.Errorf("%v: a transfer at %#x", c.op, d.PA)
			}
		}
		if _, reason := ending(t, s, c.op, c.n); reason.Bits() != c.want {
			t.Errorf("%v, %v: %v, want %#04x", c.op, c.why, reason, c.want)
		}
	}
}

// A READ that is refused at its second page: the response that is on its way
// arrives, then the Terminate message.
func TestIWARPTerminateInRead(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.tpt.why = key.NotValid
	s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
		if q.VA == 0x31000 {
			return msg.OutcomeRemoteAccess
		}
		return msg.OutcomeOK
	}
	landed := uint32(0)
	peer := s.peer.seen
	s.peer.seen = func(now clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindData && d.Write {
			landed += d.Len
		}
		peer(now, d)
	}
	if _, reason := ending(t, s, model.OpRead, 8192); reason.Bits() != 0x0100 || landed != 4096 {
		t.Errorf("%v, %d bytes arrived", reason, landed)
	}
}

// A READ that is refused in the middle of a response: the message takes the
// response's place.
func TestIWARPTerminateInResponse(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
		if q.VA == 0x31000 {
			return msg.OutcomeRemoteAccess
		}
		return msg.OutcomeOK
	}
	a := s.post(model.OpRead, 0, 0x30800, 4096)
	data := 0
	s.down.seen = func(_ clocked.Time, p *msg.Packet) {
		if p.Payload > 0 {
			data++
		}
	}
	s.run(t)
	if a.Status != measure.StatusTerminated || data != 0 || !s.resp.Idle() {
		t.Errorf("%v, %d responses", a.Status, data)
	}
}

// iWARP has no RNR NAK: a SEND without a receive buffer, or too long for it,
// ends the stream, and nothing is looked up.
func TestIWARPSendWithoutBuffer(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.resp.qps[0].repost = nil
	if _, reason := ending(t, s, model.OpSend, 64); reason != ddp.NoBuffer() || s.resp.Stats.RNRNoReceive != 0 || s.tpt.lookups != 2 {
		t.Errorf("%v, %d look-ups", reason, s.tpt.lookups)
	}
	s = warm(t, iwarpSpec(t))
	s.resp.buffers[0].Len = 32
	if _, reason := ending(t, s, model.OpSend, 64); reason != ddp.TooLong() || s.tpt.lookups != 2 {
		t.Errorf("%v, %d look-ups", reason, s.tpt.lookups)
	}
}

// D2: READ and WRITE of no bytes complete whatever the key, without a
// look-up.
func TestIWARPZeroLength(t *testing.T) {
	s := build(t, iwarpSpec(t), 0)
	s.tpt.decide = func(clocked.Time, *msg.Translate) msg.Outcome { return msg.OutcomeRemoteAccess }
	for _, op := range []model.Op{model.OpWrite, model.OpRead, model.OpSend} {
		s.post(op, 0, 0x100000, 0)
	}
	s.run(t)
	for _, a := range s.driver.finished {
		if a.Status != measure.StatusOK {
			t.Errorf("%v: %v", a.Op, a.Status)
		}
	}
	if s.tpt.lookups != 0 || s.host.count[msg.KindData] != 0 || s.resp.Stats.Messages != 3 {
		t.Errorf("%d look-ups, %d transfers, %d messages", s.tpt.lookups, s.host.count[msg.KindData], s.resp.Stats.Messages)
	}
}

// D7: of 16 WRITEs in flight the key dies when 4 are acknowledged. All
// complete, in order: some good, one terminated, the rest flushed, and nothing
// is written once the key is dead.
func TestIWARPKeyDies(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.driver.outstanding = 16
	dead := false
	s.tpt.decide = func(clocked.Time, *msg.Translate) msg.Outcome {
		if dead = dead || s.driver.completions >= 1+4; dead {
			return msg.OutcomeRemoteAccess
		}
		return msg.OutcomeOK
	}
	late, refused := 0, 0
	s.host.seen = func(_ clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindData && refused > 0 {
			late++
		}
	}
	s.down.seen = func(_ clocked.Time, p *msg.Packet) {
		if p.Segment.Message == ddp.Terminate && p.Segment.Bytes > 0 {
			refused++
		}
	}
	for i := range 16 {
		s.post(model.OpWrite, 0, model.VA(0x20000+i*4096), 4096)
	}
	s.run(t)
	want := measure.StatusOK
	counts := map[measure.Status]int{}
	for i, a := range s.driver.finished[1:] {
		if a.ID != uint64(i+1) {
			t.Errorf("access %d completes as the %d-th", a.ID, i+1)
		}
		if a.Status != want && want == measure.StatusOK {
			want = measure.StatusTerminated
		}
		if a.Status != want {
			t.Errorf("access %d: %v, want %v", a.ID, a.Status, want)
		}
		if want == measure.StatusTerminated {
			want = measure.StatusFlushed
		}
		counts[a.Status]++
	}
	if counts[measure.StatusOK] < 4 || counts[measure.StatusTerminated] != 1 || late != 0 || refused != 1 {
		t.Errorf("%v, %d transfers behind the refusal, %d messages", counts, late, refused)
	}
}

// A Terminate message that is lost comes again by TCP's timer, a reset that is
// lost by the answer to it.
func TestIWARPLostTerminate(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.tpt.decide = func(clocked.Time, *msg.Translate) msg.Outcome { return msg.OutcomeRemoteAccess }
	terminates, resets := 0, 0
	s.down.drop = func(p *msg.Packet) bool {
		if p.Segment.Message == ddp.Terminate && p.Segment.Bytes > 0 {
			terminates++
			return terminates == 1
		}
		return false
	}
	s.up.drop = func(p *msg.Packet) bool {
		if p.Segment.Reset {
			resets++
			return resets == 1
		}
		return false
	}
	a := s.post(model.OpWrite, 0, 0x20000, 64)
	s.run(t)
	if a.Status != measure.StatusTerminated || terminates != 3 || resets != 2 || !s.resp.Idle() || s.resp.Stats.TCP.Timeouts != 2 {
		t.Errorf("%v, %d Terminate messages, %d resets, %+v", a.Status, terminates, resets, s.resp.Stats.TCP)
	}
}

// A responder whose responses never arrive gives up and resets the stream, and
// the READ fails.
func TestIWARPResponderGivesUp(t *testing.T) {
	spec := iwarpSpec(t)
	spec.TCP.Retries = 1
	s := warm(t, spec)
	s.down.drop = func(p *msg.Packet) bool { return p.Payload > 0 }
	acked := false
	s.down.seen = func(_ clocked.Time, p *msg.Packet) { acked = acked || p.Segment.Bytes == 0 }
	s.post(model.OpRead, 0, 0x20000, 64)
	a := s.post(model.OpWrite, 0, 0x30000, 64)
	s.driver.outstanding = 2
	s.run(t)
	if a.Status != measure.StatusFlushed || s.driver.finished[1].Status != measure.StatusRetryExceeded || !acked || s.req.Stats.DeadQPs != 1 {
		t.Errorf("%v, %v", s.driver.finished[1].Status, a.Status)
	}
	if !s.resp.Idle() || s.tpt.granted != 0 {
		t.Error("not idle")
	}
}

// A run stopped while TCP waits says so.
func TestIWARPWaits(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.absentUntil(0x20000, clocked.Never/2)
	s.post(model.OpWrite, 2, 0x20000, 64)
	s.engine.Wake(s.driver.id, s.engine.Now()+ns)
	if err := s.engine.RunUntil(s.engine.Now() + 100*msec); err != nil {
		t.Fatal(err)
	}
	w := strings.Join(s.req.Waits(), "\n")
	if !strings.HasPrefix(w, "requester: QP 2 runs: 1 requests, unacknowledged byte 16777211 of the stream, 84 in flight, window 41200, timer at 40") {
		t.Error(w)
	}
	if s.req.Idle() {
		t.Error("idle with a request open")
	}
}

func TestTCPSpecErrors(t *testing.T) {
	for name, spoil := range map[string]func(*Spec){
		"tcp.min_rto":        func(s *Spec) { s.TCP.MinRTO = s.TCP.MaxRTO + 1 },
		"tcp.window":         func(s *Spec) { s.TCP.Window = 4000 },
		"tcp.ack_every":      func(s *Spec) { s.TCP.AckEvery = 0 },
		"tcp.out_of_order":   func(s *Spec) { s.TCP.OutOfOrder = "lose" },
		"qp.fault_response":  func(s *Spec) { s.QP.FaultResponse = "backup" },
		"segments of":        func(s *Spec) { s.TCP.InitialWindow = 5000 },
		"requester: network": func(s *Spec) { s.Network.Rate = 0 },
	} {
		spec := iwarpSpec(t)
		spoil(&spec)
		_, err := NewRequester(clocked.NewEngine(), "requester", spec, LocalMemory{Entries: 1, Bytes: 1}, 0, &msg.Pool[msg.Packet]{})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
