package dmabench

import (
	"math"
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

const hop = 1 // ns, a wire

// One transfer at a time takes the sum of its stages: hand-derived from the
// diagram of doc.go with the times of round and of the mocks.
func TestLatencies(t *testing.T) {
	spec := round(t)
	// A read DMA of 64 B: descriptor 51, wire 1, endpoint 400, store 64, told 35.
	const read = 51 + hop + 400 + 64 + 35
	// A write DMA: descriptor 51, fetch 64, wire 1, endpoint 10, told 222.
	const write = 51 + 64 + hop + 10 + 222
	for _, c := range []struct {
		test Test
		want float64 // ns
	}{
		{CommandRead, 25 + hop + 400},
		{CommandWriteRead, 25 + hop + 400}, // the mock does not make the read wait
		{DMARead, read},
		{DMAWriteRead, write + read},
	} {
		r := run(t, spec, program(c.test, 64), 0, nil).Result()
		if r.Latency != 1e3*c.want || r.Period != r.Latency || r.Counted != 20-4-1 {
			t.Errorf("%v: %+v, want %v ns and as much a period", c.test, r, c.want)
		}
	}
}

// The pieces of a lone write leave one after the other, piece_time apart, when
// all of it is fetched.
func TestPiecesOfAWrite(t *testing.T) {
	u := run(t, round(t), program(DMAWriteRead, 320), 0, nil)
	sent := u.mock.got[1]
	for i, want := range []uint32{128, 128, 64} {
		d := sent[3*7+i]
		if d.Len != want || d.PA != sent[3*7].PA+128*model.PA(i) || !d.Write || d.Notify != (i == 2) {
			t.Errorf("piece %d: %+v, want %d B, the last with an answer", i, d, want)
		}
		if at := u.mock.at[1][3*7+i] - u.mock.at[1][3*7]; at != clocked.Time(i)*17*ns {
			t.Errorf("piece %d: %v after the first, want %d ns", i, at, 17*i)
		}
	}
	last := u.mock.at[0][7] - u.mock.at[1][3*7+2]
	if want := clocked.Time(10+222+51+hop) * ns; last != want {
		t.Errorf("read %v after the last piece, want %v", last, want)
	}
	if read := u.mock.got[0][7]; read.Len != 320 || read.PA != sent[3*7].PA || read.Write {
		t.Errorf("read %+v, want the bytes that were written", read)
	}
}

// The command path keeps a write and the read behind it in order on one client.
func TestCommandsShareAClient(t *testing.T) {
	u := run(t, round(t), program(CommandWriteRead, 8), 0, nil)
	if len(u.mock.got[0]) != 40 || len(u.mock.got[1]) != 0 {
		t.Fatalf("%d and %d requests, want 40 by the first client", len(u.mock.got[0]), len(u.mock.got[1]))
	}
	for i, d := range u.mock.got[0] {
		if d.Write != (i%2 == 0) || d.Notify || u.mock.at[0][i] != u.mock.at[0][i&^1] {
			t.Errorf("request %d at %v: %+v", i, u.mock.at[0][i], d)
		}
	}
}

// Bandwidths by what limits them, hand-derived: reads by their slots, by odd_read,
// by the store; writes by pieces, with the step of the gap at three quarters of a
// piece, or by the fetch.
func TestPeriods(t *testing.T) {
	fast := func(s *Spec) { s.StoreRate, s.FetchRate = 8e12, 8e12 } // 1 ps a byte
	for _, c := range []struct {
		what   string
		test   Test
		n      uint32
		change func(*Spec)
		want   float64 // ns
	}{
		// 4 reads in 1 + 400 + 35 ns; the store's 64 ps wait for an edge of the clock.
		{"slots", ReadBandwidth, 64, func(s *Spec) { fast(s); s.ReadSlots = 4 }, (hop + 400 + 35 + 1) / 4.},
		{"odd", ReadBandwidth, 63, fast, 24},
		{"even", ReadBandwidth, 60, func(s *Spec) { fast(s); s.ReadSlots = 95 }, (hop + 400 + 35 + 1 + 51) / 95.},
		{"store", ReadBandwidth, 60, nil, 60},
		{"64", WriteBandwidth, 64, fast, 17 + 4},
		{"96", WriteBandwidth, 96, fast, 17 + 4},
		{"97", WriteBandwidth, 97, fast, 17 + 7},
		{"128", WriteBandwidth, 128, fast, 17 + 7},
		{"129", WriteBandwidth, 129, fast, 2*17 + 4},
		{"2048", WriteBandwidth, 2048, fast, 16*17 + 7},
		{"fetch", WriteBandwidth, 64, nil, 64},
		{"both", BothBandwidth, 64, fast, 17 + 4},
	} {
		spec := round(t)
		if c.change != nil {
			c.change(&spec)
		}
		p := program(c.test, c.n)
		if c.test == BothBandwidth { // contexts gather at the slower direction first
			p.Warmup, p.Transfers = 10*p.Warmup, 10*p.Transfers
		}
		r := run(t, spec, p, 0, nil).Result()
		if got := r.Period / 1e3; math.Abs(got/c.want-1) > 0.005 {
			t.Errorf("%s: a transfer in %.3f ns, want %.3f", c.what, got, c.want)
		}
	}
}

// Reads and writes in turn, over all contexts.
func TestBothTakesTurns(t *testing.T) {
	u := run(t, round(t), program(BothBandwidth, 64), 0, nil)
	if len(u.mock.got[0]) != 570 || len(u.mock.got[1]) != 570 {
		t.Errorf("%d reads, %d writes, want 570 each", len(u.mock.got[0]), len(u.mock.got[1]))
	}
}

// The order of ticks within an instant changes nothing.
func TestShuffle(t *testing.T) {
	for test := range NumTests {
		want := run(t, round(t), program(test, 129), 0, nil).Result()
		for seed := uint64(1); seed < 4; seed++ {
			if got := run(t, round(t), program(test, 129), seed, nil).Result(); got != want {
				t.Errorf("%v: %+v in another order, %+v first-in first-out", test, got, want)
			}
		}
	}
}

// A device whose endpoint takes nothing for a while loses nothing.
func TestBlockedEndpoint(t *testing.T) {
	for test := range NumTests {
		free := run(t, round(t), program(test, 320), 0, nil)
		late := run(t, round(t), program(test, 320), 0, func(m *mockEndpoint) { m.deafUntil = 5000 * ns })
		for i := range free.mock.got {
			if len(late.mock.got[i]) != len(free.mock.got[i]) {
				t.Errorf("%v: client %d sent %d requests, want %d", test, i, len(late.mock.got[i]), len(free.mock.got[i]))
			}
		}
	}
}

// What cannot be built or run is refused with its place.
func TestRefusals(t *testing.T) {
	good, run := round(t), program(ReadBandwidth, 64)
	for _, c := range []struct {
		change func(*Spec, *Program)
		want   string
	}{
		{func(s *Spec, _ *Program) { s.Clock = 0 }, "device.clock: 0 Hz"},
		{func(s *Spec, _ *Program) { s.ReadSlots = 0 }, "read_slots 0"},
		{func(s *Spec, _ *Program) { s.StoreRate = 0 }, "store_rate 0 b/s"},
		{func(s *Spec, _ *Program) { s.WritePiece = 8192 }, "device.write_piece: 8192 B"},
		{func(s *Spec, _ *Program) { s.WritePiece = 96 }, "device.write_piece: 96 B: a power of two"},
		{func(s *Spec, _ *Program) { s.WriteGap = -1 }, "a time is negative"},
		{func(_ *Spec, p *Program) { p.Bytes = 4097 }, "of 4097 B: 1 to 4096 is due"},
		{func(_ *Spec, p *Program) { p.Window = 63 }, "window of 63 B"},
		{func(_ *Spec, p *Program) { p.Base = 64 }, "base 0x40"},
		{func(_ *Spec, p *Program) { p.Transfers = p.Warmup + 95 }, "95 contexts are due"},
		{func(_ *Spec, p *Program) { p.Test = NumTests }, "test 7: 0 to 6 is due"},
	} {
		s, p := good, run
		c.change(&s, &p)
		if _, err := New(clocked.NewEngine(), "device", s, p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// The names are those of the measurements.
func TestNames(t *testing.T) {
	for test := range NumTests {
		if got, err := ParseTest(test.String()); err != nil || got != test {
			t.Errorf("%v: %v, %v", test, got, err)
		}
	}
	if _, err := ParseTest("BW_DMA"); err == nil {
		t.Error("BW_DMA is no test and was taken for one")
	}
}
