package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// loop makes a sandwich that posts the same 64 requests again and again, 32 at
// a time on 4 QPs.
func loop(b testing.TB, op model.Op, bytes uint32) *sandwich {
	return loopOf(b, testSpec(b), op, bytes)
}

func loopOf(b testing.TB, spec Spec, op model.Op, bytes uint32) *sandwich {
	s := build(b, spec, 0)
	s.driver.keep, s.driver.outstanding = false, 32
	for i := range 64 {
		s.post(op, uint32(i%4), model.VA(0x100000+i*8192), bytes)
	}
	return s
}

// rounds posts the requests n times.
func (s *sandwich) rounds(b testing.TB, n int) {
	for range n {
		s.driver.next = 0
		s.engine.Wake(s.driver.id, s.engine.Now()+ns)
		if err := s.engine.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	for _, op := range []model.Op{model.OpWrite, model.OpRead, model.OpSend, model.OpFetchAdd} {
		s := loop(t, op, 64)
		s.rounds(t, 20)
		if n := testing.AllocsPerRun(20, func() { s.rounds(t, 1) }); n != 0 {
			t.Errorf("%v: %v allocations in 64 accesses", op, n)
		}
	}
}

func benchmark(b *testing.B, op model.Op, bytes uint32) {
	s := loop(b, op, bytes)
	s.rounds(b, 10)
	b.ReportAllocs()
	b.ResetTimer()
	s.rounds(b, (b.N+63)/64)
}

func BenchmarkWrite64(b *testing.B) { benchmark(b, model.OpWrite, 64) }
func BenchmarkWrite4K(b *testing.B) { benchmark(b, model.OpWrite, 4096) }
func BenchmarkRead64(b *testing.B)  { benchmark(b, model.OpRead, 64) }
func BenchmarkSend64(b *testing.B)  { benchmark(b, model.OpSend, 64) }

// TestPeakRate: 4 KiB WRITEs on 4 QPs fill the wire: 64 packets of
// 82+16+4096 B at 80 ps a byte, after the first one's way through the parts
// that do not overlap.
func TestPeakRate(t *testing.T) {
	s := loop(t, model.OpWrite, 4096)
	s.driver.outstanding = 64
	s.rounds(t, 1)
	var first, last clocked.Time
	s.up.seen = func(now clocked.Time, p *msg.Packet) {
		if first == 0 {
			first = now
		}
		last = now
	}
	s.rounds(t, 1)
	if got, want := last-first, clocked.Time(63*4194*80); got != want {
		t.Errorf("63 packets in %v, want %v", got, want)
	}
	if a := s.driver.work[0].Access; a.Status != measure.StatusOK {
		t.Error(a.Status)
	}
}
