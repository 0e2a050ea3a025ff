package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// oneWay is the time from the choice of a packet of n wire bytes to its
// processing: 80 ps a byte at 100 Gb/s, pipelines, propagation, and the
// 1 ns of the mock between the two ends.
func oneWay(s *Spec, bytes int64, receivePipeline bool) clocked.Time {
	t := clocked.Time(bytes*80) + s.Adapter.TxPipeline + s.Network.Latency + ns
	if receivePipeline {
		t += s.Adapter.RxPipeline
	}
	return t
}

func warm(t *testing.T, spec Spec) *sandwich {
	s := build(t, spec, 0)
	s.post(model.OpWrite, 0, 0x10000, 8) // brings the QP context in
	s.run(t)
	return s
}

func TestUnloadedWrite(t *testing.T) {
	spec := testSpec(t)
	hop := ns
	translate := hop + 15*ns + hop
	dma := hop
	for _, c := range []struct {
		point string
		want  clocked.Time
	}{
		{"receipt", 0},
		{"issue", dma + 20*ns + hop},      // until the endpoint has issued the write
		{"placement", dma + 400*ns + hop}, // a read round trip behind the write
	} {
		spec.QP.AckPoint = c.point
		s := warm(t, spec)
		a := s.post(model.OpWrite, 0, 0x20000, 64)
		s.run(t)
		// Doorbell 1 hop; request 82+16+64 B; translation; ACK 82+4 B; CQE 1 hop.
		want := hop + oneWay(&spec, 162, true) + translate + c.want + oneWay(&spec, 86, false) + hop
		if got := a.Complete - a.Issue; got != want {
			t.Errorf("%s: %v, want %v: %v", c.point, got, want, a.Ledger.Causes)
		}
	}
}

func TestUnloadedRead(t *testing.T) {
	spec := testSpec(t)
	s := warm(t, spec)
	a := s.post(model.OpRead, 0, 0x20000, 64)
	s.run(t)
	hop := ns
	// Request 82+16 B; translation; memory read 1 hop + 400 ns + 1 hop; response 82+4+64 B;
	// the data write takes the DMA wire in the same instant as the CQE.
	want := hop + oneWay(&spec, 98, true) + hop + 15*ns + hop + hop + 400*ns + hop + oneWay(&spec, 150, false) + hop
	if got := a.Complete - a.Issue; got != want {
		t.Errorf("%v, want %v: %v", got, want, a.Ledger.Causes)
	}
	if got := a.Ledger.Causes[measure.CauseHostMemory]; got != hop+400*ns {
		t.Errorf("host memory %v", got)
	}
}
