package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
)

// A full receive buffer drops, whatever adapter.rx_full says: a paused port
// would hold back the ACKs that make room. TCP sends what was dropped again.
func TestIWARPFullBufferDrops(t *testing.T) {
	spec := iwarpSpec(t)
	spec.QP.FaultResponse = "hold"
	spec.Adapter.RxBuffer, spec.Adapter.RxFull = 8<<10, "pause"
	s := build(t, spec, 0)
	s.driver.outstanding = 20
	s.tpt.slowTime = 100 * clocked.Microsecond
	s.tpt.slow = func(q *msg.Translate) bool { return q.VA == 0x100000 }
	for i := range 20 {
		s.post(model.OpWrite, 0, model.VA(0x100000+i*4096), 4096)
	}
	s.run(t)
	for _, a := range s.driver.finished {
		if a.Status != measure.StatusOK {
			t.Errorf("access %d: %v", a.ID, a.Status)
		}
	}
	if st := s.resp.Stats; st.RxDrops == 0 || st.Pauses != 0 || st.BufferPeak > 8<<10 || s.req.Stats.PacketsResent < st.RxDrops || s.resp.used != 0 {
		t.Errorf("%+v, %d sent again, %d bytes left", st, s.req.Stats.PacketsResent, s.resp.used)
	}
}

// Early segments take half of the receive buffer at most, so that the missing
// one always finds room.
func TestIWARPEarlyTakesHalf(t *testing.T) {
	spec := iwarpSpec(t)
	spec.Adapter.RxBuffer = 32 << 10
	s := warm(t, spec)
	s.driver.outstanding = 20
	s.absentUntil(0x100000, 10*clocked.Microsecond)
	for i := range 20 {
		s.post(model.OpWrite, 0, model.VA(0x100000+i*4096), 4096)
	}
	most := int64(0)
	s.host.seen = func(clocked.Time, *msg.DMA) { most = max(most, s.resp.protocol.(*iwarpResponder).held) }
	s.run(t)
	// 3 frames of 90 + 2+14+4096+4 B without preamble and gap fit into 16 KiB.
	if n := s.resp.Stats.TCP.Held; n < 3 || most > 3*4186 || s.resp.used != 0 {
		t.Errorf("%d kept, %d bytes at most, %d left", n, most, s.resp.used)
	}
}

// Of four segments the first two meet absent pages, the second for longer. When the
// first comes again and is taken, the second is not there yet: the first is
// acknowledged all the same, at once.
func TestIWARPAckUpToTheNextGap(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.driver.outstanding = 4
	start := s.engine.Now()
	s.tpt.decide = func(now clocked.Time, q *msg.Translate) msg.Outcome {
		if q.VA == 0x20000 && now < start+clocked.Microsecond || q.VA == 0x21000 && now < start+100*msec {
			return msg.OutcomeAbsent
		}
		return msg.OutcomeOK
	}
	for i := range 4 {
		s.post(model.OpWrite, 0, model.VA(0x20000+i*0x1000), 64)
	}
	s.run(t)
	first, second := s.driver.finished[1], s.driver.finished[2]
	if first.Complete-first.Issue > 10*clocked.Microsecond || second.Counts.TCPDrops < 2 || second.Complete-second.Issue < 200*msec {
		t.Errorf("first %v, second %v, %+v", first.Complete-first.Issue, second.Complete-second.Issue, second.Counts)
	}
	checkDrops(t, s)
}

// A SEND that is dropped gives its receive buffer back and takes the same again.
func TestIWARPSendTakesOneBuffer(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	n := 0
	s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
		if n++; n == 1 {
			return msg.OutcomeAbsent
		}
		return msg.OutcomeOK
	}
	var placed []model.VA
	s.host.seen = func(_ clocked.Time, d *msg.DMA) {
		if va, _, ok := user(d.PA); ok {
			placed = append(placed, va)
		}
	}
	a := s.post(model.OpSend, 0, 0, 64)
	s.post(model.OpSend, 0, 0, 64)
	s.run(t)
	first := s.resp.buffers[0].VA
	if a.Counts.TCPDrops != 1 || len(placed) != 2 || placed[0] != first || placed[1] != first+16384 || s.host.count[msg.KindCQE] != 2 {
		t.Errorf("%+v, placed at %#x, %d completions", a.Counts, placed, s.host.count[msg.KindCQE])
	}
}

// A stream that ends while segments are kept and a response has begun leaves
// nothing behind: when its key dies, and when it is given up.
func TestIWARPEndsClean(t *testing.T) {
	for _, o := range []msg.Outcome{msg.OutcomeRemoteAccess, msg.OutcomeAbsent} {
		spec := iwarpSpec(t)
		spec.TCP.Retries = 1
		s := warm(t, spec)
		s.driver.outstanding = 4
		first := true
		s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
			if q.VA != 0x21000 {
				return msg.OutcomeOK
			}
			if first {
				first = false
				return msg.OutcomeAbsent
			}
			return o
		}
		read := s.post(model.OpRead, 0, 0x20800, 4096) // its only response needs both pages
		for i := range 3 {
			s.post(model.OpWrite, 0, model.VA(0x30000+i*0x1000), 64)
		}
		s.run(t)
		want := measure.StatusTerminated
		if o == msg.OutcomeAbsent {
			want = measure.StatusRetryExceeded
		}
		if read.Status != want || s.resp.Stats.TCP.Held != 3 || !s.resp.Idle() || s.resp.used != 0 || s.resp.replies.used != 0 {
			t.Errorf("%v, %d kept, idle %v, %d bytes and %d replies left", read.Status, s.resp.Stats.TCP.Held, s.resp.Idle(), s.resp.used, s.resp.replies.used)
		}
	}
}

// A READ of 7 pages whose third fails for good when it is read: two responses,
// the Terminate message, and no response behind it.
func TestIWARPNothingBehindTerminate(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.failOnce(msg.KindData, 0x22000, msg.StatusAbort)
	var sent []ddp.Message
	s.down.seen = func(_ clocked.Time, p *msg.Packet) {
		if p.Segment.Bytes > 0 {
			sent = append(sent, p.Segment.Message)
		}
	}
	a := s.post(model.OpRead, 0, 0x20000, 7*4096)
	s.run(t)
	if a.Status != measure.StatusTerminated || len(sent) != 3 || sent[2] != ddp.Terminate || !s.resp.Idle() {
		t.Errorf("%v, sent %v", a.Status, sent)
	}
}

// A WRITE that is acknowledged and waits for the READ before it is charged for
// that, not for the time-out of the WRITE behind it.
func TestIWARPOrderOfCompletion(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.driver.outstanding = 3
	lost := false
	s.down.drop = func(p *msg.Packet) bool {
		drop := p.Payload > 0 && !lost
		lost = lost || drop
		return drop
	}
	s.absentUntil(0x40000, clocked.Microsecond)
	read := s.post(model.OpRead, 0, 0x20000, 64)
	done := s.post(model.OpWrite, 0, 0x30000, 64)
	late := s.post(model.OpWrite, 0, 0x40000, 64)
	s.run(t)
	if c := done.Ledger.Causes; c[measure.CauseRTOWait] != 0 || c[measure.CauseSendQueue] < 190*msec || done.Complete < read.Complete {
		t.Errorf("acknowledged WRITE: %v", c)
	}
	if late.Ledger.Causes[measure.CauseRTOWait] < 199*msec || read.Ledger.Causes[measure.CauseRTOWait] < 190*msec {
		t.Errorf("late WRITE %v, READ %v", late.Ledger.Causes, read.Ledger.Causes)
	}
}
