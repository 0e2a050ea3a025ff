package transport

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// failOnce answers the first read of a kind at va with a status.
func (s *sandwich) failOnce(kind msg.Kind, at model.VA, status msg.Status) {
	failed := false
	s.host.status = func(_ clocked.Time, d *msg.DMA) msg.Status {
		va, _, ok := user(d.PA)
		if failed || !ok || d.Kind != kind || va != at {
			return msg.StatusSuccess
		}
		failed = true
		return status
	}
}

// A READ of 4 pages meets an absent page 2 at the IOMMU, when its responses
// are already being read: the third response is an RNR NAK at its PSN, the
// fourth does not leave, and the READ goes on from there.
func TestReadRetry(t *testing.T) {
	spec := testSpec(t)
	s := warm(t, spec)
	s.driver.outstanding = 2
	s.failOnce(msg.KindData, 0x102000, msg.StatusRetry)
	var asked, answers []string
	first := rc.PSN(firstPSN + 1)
	s.up.seen = func(_ clocked.Time, p *msg.Packet) {
		asked = append(asked, p.Op.String()+at(p, first))
	}
	s.down.seen = func(_ clocked.Time, p *msg.Packet) {
		name := rc.Syndrome(p.Syndrome).String()
		if p.Op == model.OpRead && p.Payload > 0 {
			name = "data"
		}
		answers = append(answers, name+at(p, first))
	}
	read := s.post(model.OpRead, 0, 0x100000, 4*4096)
	s.post(model.OpWrite, 0, 0x200000, 64)
	s.run(t)
	op := model.OpRead.String()
	want := []string{op + " 0", model.OpWrite.String() + " 4", op + " 2", model.OpWrite.String() + " 4"}
	if !slices.Equal(asked, want) {
		t.Errorf("requests %v, want %v", asked, want)
	}
	if want := []string{"data 0", "data 1", "RNR NAK timer 12 2", "ACK 4", "data 2", "data 3", "ACK 4"}; !slices.Equal(answers, want) {
		t.Errorf("answers %v, want %v", answers, want)
	}
	if read.Counts.RNRNaks != 1 || s.resp.Stats.RNRAbsent != 1 || s.req.Stats.GoBacks != 0 {
		t.Errorf("%d NAKs, %+v", read.Counts.RNRNaks, s.resp.Stats)
	}
}

// A READ that is put off at page 1 by the IOMMU and refused at page 3 by its
// key: the refusal still reaches the requester.
func TestReadRetryRefused(t *testing.T) {
	spec := testSpec(t)
	spec.QP.Retry, spec.QP.AckTimeout = 1, 4
	s := warm(t, spec)
	s.failOnce(msg.KindData, 0x101000, msg.StatusRetry)
	s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
		if q.VA == 0x103000 {
			return msg.OutcomeRemoteAccess
		}
		return msg.OutcomeOK
	}
	a := s.post(model.OpRead, 0, 0x100000, 4*4096)
	s.run(t)
	if a.Status != measure.StatusRemoteAccess || s.req.Stats.Timeouts != 0 {
		t.Errorf("%v after %d time-outs", a.Status, s.req.Stats.Timeouts)
	}
}

// at is a packet's PSN, counted from a first one.
func at(p *msg.Packet, first rc.PSN) string {
	return " " + string(rune('0'+rc.PSN(p.PSN).Sub(first)))
}

// KEY-5: an atomic whose read meets an absent page at the IOMMU has not been
// executed: it comes again, and is executed once.
func TestAtomicRetry(t *testing.T) {
	s := warm(t, testSpec(t))
	s.failOnce(msg.KindData, 0x20000, msg.StatusRetry)
	stores := 0
	s.host.seen = func(_ clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindData && d.Write {
			stores++
		}
	}
	messages := s.resp.Stats.Messages
	a := s.post(model.OpFetchAdd, 0, 0x20000, 8)
	s.run(t)
	if stores != 1 || a.Counts.RNRNaks != 1 || s.resp.Stats.RNRAbsent != 1 || s.resp.Stats.Messages != messages+1 {
		t.Errorf("%d stores, %d NAKs, %+v", stores, a.Counts.RNRNaks, s.resp.Stats)
	}
}

// process is the address of memory that the IOMMU translates by the process's
// page table.
var process = msg.Address{PASID: 7}

// The ACK of a WRITE to a process address follows the proof that the page was
// there, whatever qp.ack_point says: as long as with ack_point placement, whose
// flush the proof takes the place of. Where the adapter translated the address
// itself, or it belongs to no process, there is none.
func TestProofBeforeAck(t *testing.T) {
	unloaded := func(address msg.Address, point string) (clocked.Time, int) {
		spec := testSpec(t)
		spec.QP.AckPoint = point
		s := warm(t, spec)
		s.tpt.address = address
		a := s.post(model.OpWrite, 0, 0x20000, 64)
		s.run(t)
		return a.Complete - a.Issue, s.host.count[msg.KindFlush]
	}
	for _, point := range ackPointNames {
		spec := testSpec(t)
		// Doorbell, request, look-up; write, with the read behind it, and 400 ns; ACK, entry.
		want := ns + oneWay(&spec, 162, true) + 17*ns + ns + 400*ns + ns + oneWay(&spec, 86, false) + ns
		flushes := map[string]int{"receipt": 1, "issue": 1, "placement": 2}[point] // that of the first WRITE
		if got, n := unloaded(process, point); got != want || n != flushes {
			t.Errorf("%s: %v and %d flushes, want %v and %d", point, got, n, want, flushes)
		}
	}
	for _, a := range []msg.Address{{}, {PASID: 7, Translated: true}} {
		if _, n := unloaded(a, "issue"); n != 0 {
			t.Errorf("%+v: %d flushes", a, n)
		}
	}
}

// A WRITE of two pages whose first was absent at the IOMMU: the posted write is
// lost, an RNR NAK brings the packet again, and only then is the second page
// written. Of a SEND the receive completion waits for the proof too.
func TestWriteRetry(t *testing.T) {
	for _, op := range []model.Op{model.OpWrite, model.OpSend} {
		s := warm(t, testSpec(t))
		s.tpt.address = process
		va := model.VA(0x100800)
		if op == model.OpSend {
			va = 1 << 32 // the first receive buffer of QP 0
		}
		s.failOnce(msg.KindFlush, va, msg.StatusRetry)
		var order []string
		s.host.seen = func(_ clocked.Time, d *msg.DMA) {
			switch {
			case (d.Kind == msg.KindData || d.Kind == msg.KindFlush) && d.Address != msg.Address{PASID: process.PASID, Writer: 1}:
				t.Errorf("%v: address %+v", d.Kind, d.Address)
			case d.Kind != msg.KindRecvWQE:
				order = append(order, d.Kind.String())
			}
		}
		a := s.post(op, 0, va, 4096)
		s.run(t)
		want := []string{"data", "flush", "data", "flush"}
		if op == model.OpWrite {
			want = append(want, "data", "flush") // the second page
		} else {
			want = append(want, "cqe")
		}
		if !slices.Equal(order, want) || a.Counts.RNRNaks != 1 || s.resp.Stats.RNRAbsent != 1 {
			t.Errorf("%v: %v, want %v; %d NAKs", op, order, want, a.Counts.RNRNaks)
		}
	}
}

// What memory refuses for good, a read or the proof of a write, is a remote
// operational error: NAK, and the QP is flushed.
func TestBusAbort(t *testing.T) {
	for _, status := range final {
		for _, op := range []model.Op{model.OpRead, model.OpWrite, model.OpFetchAdd} {
			s := warm(t, testSpec(t))
			s.driver.outstanding = 3
			s.tpt.address = process
			kind, bytes := msg.KindData, uint32(3*4096)
			if op == model.OpWrite {
				kind = msg.KindFlush
			}
			if op.Atomic() {
				bytes = 8
			}
			s.failOnce(kind, 0x100000, status)
			before := s.post(model.OpWrite, 0, 0x300000, 64)
			bad := s.post(op, 0, 0x100000, bytes)
			after := s.post(model.OpWrite, 0, 0x200000, 64)
			s.run(t)
			if before.Status != measure.StatusOK || bad.Status != measure.StatusRemoteOp || after.Status != measure.StatusFlushed {
				t.Errorf("%v, %v: %v, %v, %v", status, op, before.Status, bad.Status, after.Status)
			}
			if s.resp.protocol.(*rcResponder).recvs[0].rules.State != rc.Error || !s.resp.Idle() || s.tpt.granted != 0 {
				t.Errorf("%v: responder's QP %v", op, s.resp.protocol.(*rcResponder).recvs[0].rules.State)
			}
		}
	}
}

// An atomic whose store may or may not have met its page cannot come again.
func TestAtomicInDoubt(t *testing.T) {
	s := warm(t, testSpec(t))
	s.tpt.address = process
	s.failOnce(msg.KindFlush, 0x20000, msg.StatusRetry)
	a := s.post(model.OpFetchAdd, 0, 0x20000, 8)
	s.run(t)
	if a.Status != measure.StatusRemoteOp {
		t.Error(a.Status)
	}
}
