package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
	"rnicmmu/model/rc"
)

// final are the statuses of a read that ends without data, for good.
var final = []msg.Status{msg.StatusUnsupported, msg.StatusAbort, msg.StatusPoisoned, msg.StatusTimeout}

// failing answers the n-th read of a kind from now on, counted from 0, with a status.
func failing(m *mockEndpoint, kind msg.Kind, n int, status msg.Status) {
	m.status = func(_ clocked.Time, d *msg.DMA) msg.Status {
		if d.Kind != kind {
			return msg.StatusSuccess
		}
		n--
		if n == -1 {
			return status
		}
		return msg.StatusSuccess
	}
}

// naks counts the NAKs that end a QP, and fails the test if there is an RNR NAK.
func naks(t *testing.T, s *sandwich) *int {
	n := new(int)
	s.down.seen = func(_ clocked.Time, p *msg.Packet) {
		switch y := rc.Syndrome(p.Syndrome); {
		case y.RNR():
			t.Errorf("QP %d: %v", p.QP, y)
		case y.Fatal():
			*n++
		}
	}
	return n
}

// atRest asserts that nothing is left of what failed.
func (s *sandwich) atRest(t *testing.T, what ...any) {
	t.Helper()
	if !s.resp.Idle() || !s.req.Idle() || s.tpt.granted != 0 {
		t.Errorf("%v: not idle, %d translations out: %v %v", what, s.tpt.granted, s.resp.Waits(), s.req.Waits())
	}
}

// A QP whose context cannot be read answers nobody: no NAK, no access to memory,
// and what comes again finds it dead though its context can be read by then. The
// peer runs out of retries. A context that was not read is not kept, and another
// QP goes on.
func TestContextUnreadable(t *testing.T) {
	for _, status := range final {
		for _, op := range []model.Op{model.OpRead, model.OpWrite, model.OpSend, model.OpFetchAdd} {
			spec := testSpec(t)
			spec.QP.Retry, spec.QP.AckTimeout = 2, 4
			s := warm(t, spec)
			s.driver.outstanding = 3
			told := naks(t, s)
			failing(s.host, msg.KindQPC, 0, status)
			data, looked := s.host.count[msg.KindData], s.tpt.lookups
			bad := s.post(op, 1, 0x20000, 8)
			after := s.post(model.OpWrite, 1, 0x30000, 64)
			other := s.post(model.OpWrite, 0, 0x40000, 64)
			s.run(t)
			if bad.Status != measure.StatusRetryExceeded || after.Status != measure.StatusFlushed || other.Status != measure.StatusOK || *told != 0 {
				t.Errorf("%v, %v: %v, %v, another QP's %v, %d NAKs", status, op, bad.Status, after.Status, other.Status, *told)
			}
			if st := &s.resp.Stats; st.ContextErrors != 1 || st.ContextMisses != 3 || s.req.Stats.Timeouts != 3 {
				t.Errorf("%v, %v: %d errors of 3 contexts that missed (%d), %d time-outs", status, op, st.ContextErrors, st.ContextMisses, s.req.Stats.Timeouts)
			}
			if s.host.count[msg.KindData] != data+1 || s.tpt.lookups != looked+1 {
				t.Errorf("%v, %v: %d transfers, %d look-ups, of the other QP's WRITE 1 each", status, op, s.host.count[msg.KindData]-data, s.tpt.lookups-looked)
			}
			s.atRest(t, status, op)
		}
	}
}

// A SEND whose receive work request cannot be read meets a remote operational
// error, and no RNR NAK: coming again would find the same. No page is looked up,
// nothing is stored, and no receive completes.
func TestReceiveUnreadable(t *testing.T) {
	for _, status := range append(final, msg.StatusRetry) {
		s := warm(t, testSpec(t))
		s.driver.outstanding = 3
		told := naks(t, s)
		failing(s.host, msg.KindRecvWQE, 0, status)
		data, looked := s.host.count[msg.KindData], s.tpt.lookups
		before := s.post(model.OpWrite, 0, 0x20000, 64)
		bad := s.post(model.OpSend, 0, 0, 64)
		after := s.post(model.OpSend, 0, 0, 64)
		s.run(t)
		if before.Status != measure.StatusOK || bad.Status != measure.StatusRemoteOp || after.Status != measure.StatusFlushed || *told != 1 {
			t.Errorf("%v: %v, %v, %v, %d NAKs", status, before.Status, bad.Status, after.Status, *told)
		}
		if s.host.count[msg.KindData] != data+1 || s.tpt.lookups != looked+1 || s.host.count[msg.KindCQE] != 0 || s.resp.qps[0].receives != 0 {
			t.Errorf("%v: %d transfers and %d look-ups for a WRITE, %d receives completed, %d left", status,
				s.host.count[msg.KindData]-data, s.tpt.lookups-looked, s.host.count[msg.KindCQE], s.resp.qps[0].receives)
		}
		s.atRest(t, status)
	}
}

// A WRITE or SEND that is to be acknowledged when it is in memory, and whose
// flush does not come back well: nobody knows whether it is. A remote operational
// error takes the place of the ACK; requests before it are acknowledged.
func TestFlushFails(t *testing.T) {
	for _, status := range final {
		for _, op := range []model.Op{model.OpWrite, model.OpSend} {
			spec := testSpec(t)
			spec.QP.AckPoint = "placement"
			s := warm(t, spec)
			s.driver.outstanding = 3
			told := naks(t, s)
			failing(s.host, msg.KindFlush, 1, status)
			before := s.post(model.OpWrite, 0, 0x20000, 64)
			bad := s.post(op, 0, 0x30000, 64)
			after := s.post(model.OpWrite, 0, 0x40000, 64)
			s.run(t)
			if before.Status != measure.StatusOK || bad.Status != measure.StatusRemoteOp || after.Status != measure.StatusFlushed || *told != 1 {
				t.Errorf("%v, %v: %v, %v, %v, %d NAKs", status, op, before.Status, bad.Status, after.Status, *told)
			}
			s.atRest(t, status, op)
		}
	}
}

// Of a READ of many responses one cannot be read: those before it arrive, the
// NAK stands at its PSN, and none behind it leaves.
func TestReadFailsInTheMiddle(t *testing.T) {
	for _, status := range final {
		s := warm(t, testSpec(t))
		s.failOnce(msg.KindData, 0x102000, status)
		var answers []rc.PSN
		s.down.seen = func(_ clocked.Time, p *msg.Packet) { answers = append(answers, rc.PSN(p.PSN)) }
		bad := s.post(model.OpRead, 0, 0x100000, 4*4096)
		s.run(t)
		if bad.Status != measure.StatusRemoteOp || bad.Placed != 2*4096 || len(answers) != 3 || answers[2].Sub(answers[0]) != 2 {
			t.Errorf("%v: %v, %d bytes placed, answers %v", status, bad.Status, bad.Placed, answers)
		}
		s.atRest(t, status)
	}
}

// Under iWARP each of these ends the stream by a Terminate message for a
// catastrophic error, of DDP for a WRITE or SEND and of RDMAP for a READ or
// atomic.
func TestIWARPBusErrors(t *testing.T) {
	for _, status := range final {
		for _, c := range []struct {
			op   model.Op
			kind msg.Kind
			n    uint32
			want uint16
		}{
			{model.OpRead, msg.KindData, 64, 0x0000},
			{model.OpFetchAdd, msg.KindData, 8, 0x0000},
			{model.OpSend, msg.KindRecvWQE, 64, 0x1000},
			{model.OpWrite, msg.KindFlush, 64, 0x1000}, // its proof
			{model.OpSend, msg.KindFlush, 64, 0x1000},
		} {
			s := warm(t, iwarpSpec(t))
			skip := 0
			if c.kind == msg.KindFlush { // that of the WRITE before
				s.tpt.address, skip = process, 1
			}
			failing(s.host, c.kind, skip, status)
			if _, reason := ending(t, s, c.op, c.n); reason.Bits() != c.want {
				t.Errorf("%v, %v: %v, want %#04x", status, c.op, reason, c.want)
			}
			if s.host.count[msg.KindCQE] != 0 {
				t.Errorf("%v, %v: %d receives completed", status, c.op, s.host.count[msg.KindCQE])
			}
		}
	}
}

// A stream whose context cannot be read falls silent: nothing is acknowledged,
// nothing answered, and the peer gives up after its retries.
func TestIWARPContextUnreadable(t *testing.T) {
	for _, status := range final {
		spec := iwarpSpec(t)
		spec.TCP.MinRTO, spec.TCP.Retries = clocked.Millisecond, 2
		s := warm(t, spec)
		s.driver.outstanding = 2
		s.down.seen = func(_ clocked.Time, p *msg.Packet) {
			if p.QP == 1 && (p.Segment.Bytes > 0 || p.Segment.Message == ddp.Terminate) {
				t.Errorf("%v: answered by %+v", status, p.Segment)
			}
		}
		failing(s.host, msg.KindQPC, 0, status)
		bad := s.post(model.OpWrite, 1, 0x20000, 64)
		after := s.post(model.OpWrite, 1, 0x30000, 64)
		s.run(t)
		if bad.Status != measure.StatusRetryExceeded || after.Status != measure.StatusFlushed || s.resp.Stats.ContextErrors != 1 {
			t.Errorf("%v: %v, %v, %+v", status, bad.Status, after.Status, s.resp.Stats)
		}
		s.atRest(t, status)
	}
}
