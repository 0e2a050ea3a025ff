package pcie

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// gen6 is a link in flit mode without SKP.
func gen6(lanes int) option {
	return func(s *rigSpec) { s.Gen, s.Lanes, s.SKP = 6, lanes, false }
}

// flitTime is that of a flit on so many lanes: 256 bytes of 125 ps a lane.
func flitTime(lanes int) clocked.Time { return clocked.Time(256 * 125 / lanes) }

// lastFlit is the end of the flit in which so many bytes of TLPs end that follow
// each other from the start of a flit on: 236 of them travel in each.
func lastFlit(start clocked.Time, bytes int64, flit clocked.Time) clocked.Time {
	return start + clocked.Time((bytes+235)/236)*flit
}

// up6 is a memory write of n bytes in flit mode: no framing, LCRC or sequence
// number.
func up6(n int64) int64 { return 16 + n }

// TLPs find the line idle, start with the next flit and are there when the flit of
// their last byte is; those behind them follow without a gap.
func TestFlitArrival(t *testing.T) {
	for _, lanes := range []int{1, 4, 16, 32} {
		for _, n := range []uint32{4, 64, 220, 256} { // 220: a flit
			for wait := range clocked.Time(4) {
				r := newRig(t, gen6(lanes))
				r.clients[0].start = 100*ns + wait*cycle
				r.clients[0].todo = repeat(write1(1<<32, n), 8)
				r.run(t)
				flit := flitTime(lanes)
				sent := r.clock().Edge(r.clients[0].start) + cycle
				from := (sent + flit - 1) / flit * flit
				num, den := rules.ByteTime(6, lanes)
				// A client's writes come a cycle apart, which is more than short ones take.
				if up6(int64(n))*num*256/(den*236) < int64(cycle) {
					r.memory.got = r.memory.got[:1]
				}
				for i, m := range r.memory.got {
					if want := lastFlit(from, int64(i+1)*up6(int64(n)), flit) + r.spec.LinkLatency + hop; m.at != want {
						t.Errorf("x%d, %d bytes: write %d of %v came at %v, want %v", lanes, n, i, sent, m.at, want)
					}
				}
			}
		}
	}
}

// Of 256 bytes 236 are of TLPs, and Acks, UpdateFC and what else the data link
// layer says take none of them: what goes down changes nothing of what goes up.
func TestFlitEfficiency(t *testing.T) {
	const n = 20_000
	run := func(gen int, bells bool) (at []clocked.Time) {
		r := newRig(t, gen6(16), func(s *rigSpec) { s.Gen = gen })
		r.clients[0].todo = repeat(write1(1<<32, 256), n)
		if bells {
			ways[1].load(r, 0, n)
		}
		r.run(t)
		for _, m := range r.memory.got {
			at = append(at, m.at)
		}
		return at
	}
	alone := run(6, false)
	from := clocked.Time(4000) // the first is there at 2500 ps
	if want := lastFlit(from, n*up6(256), 2000) + 33*ns + hop; alone[n-1] != want {
		t.Errorf("%d writes of 256 bytes took %v, want %v", n, alone[n-1], want)
	}
	rate := n * float64(up6(256)) / float64(alone[n-1]-from) * 1e3 // GB/s
	if want := 128.0 * 236 / 256; math.Abs(rate/want-1) > 0.002 {
		t.Errorf("%.2f GB/s of TLPs, want %.2f", rate, want)
	}
	if !slices.Equal(alone, run(6, true)) {
		t.Errorf("Acks and UpdateFC slow TLPs of the same direction down")
	}
	if slices.Equal(run(5, false), run(5, true)) {
		t.Errorf("Acks and UpdateFC cost nothing at Gen5 either")
	}
}

// Tags of 14 bits let more than 768 reads be outstanding, under tags from 1024 on.
func TestFlitTags(t *testing.T) {
	const n = 2000
	r := newRig(t, gen6(16), func(s *rigSpec) {
		s.TagBits, s.Scale, s.CompletionBuffer, s.latency = 14, 16, 1<<20, 10*clocked.Microsecond
		s.Credits.NPH, s.Credits.PH, s.AdapterCredits.NPH = 2032, 2032, 2032
	})
	r.clients[0].todo = repeat(read1(1<<32, 64), n)
	r.runUntil(t, 9*clocked.Microsecond)
	if used := r.Endpoint.tags.used(); used != n {
		t.Errorf("%d reads are outstanding, want %d", used, n)
	}
	r.run(t)
	asked := map[uint16]bool{}
	for _, m := range r.memory.got {
		if m.msg.Tag < 1024 || m.msg.Tag >= 1<<14 || asked[m.msg.Tag] {
			t.Fatalf("tag %d of a request, twice: %v; want each of 1024 to 16383 once", m.msg.Tag, asked[m.msg.Tag])
		}
		asked[m.msg.Tag] = true
	}
	if len(r.clients[0].dones) != n {
		t.Errorf("%d of %d reads are answered", len(r.clients[0].dones), n)
	}
	conserved(t, r)
}

// A flit is bad or good as a whole: what has a byte in a bad one is lost, TLP or
// packet of the data link layer.
func TestFlitsShareTheirFate(t *testing.T) {
	const flit = 2000
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{Gen: 6, Lanes: 16, Seed: rapid.Uint64().Draw(t, "seed")}
		s.Inject.BER = 1e-4
		f := newFaults(&s, "up", true, flit)
		fate := map[clocked.Time]bool{} // by the end of a flit
		at := clocked.Time(0)           // when the line is free
		for range rapid.IntRange(1, 200).Draw(t, "n") {
			at += clocked.Time(rapid.IntRange(0, 3000).Draw(t, "gap"))
			if rapid.Bool().Draw(t, "dllp") {
				end := (at/flit + 1) * flit
				agree(t, fate, f.dllp(at, end), end, end, flit)
				continue
			}
			took := clocked.Time(rapid.IntRange(100, 9000).Draw(t, "time"))
			end := (at + took + flit - 1) / flit * flit
			d, _ := f.tlp(at, end, 24, true)
			agree(t, fate, d == damageCorrupt, (at/flit+1)*flit, end, flit)
			at += took
		}
	})
}

// A flit is bad with the chance that one of its 2048 bits is.
func TestFlitErrorRate(t *testing.T) {
	const n, ber = 100_000, 2e-5
	s := Spec{Gen: 6, Lanes: 16}
	s.Inject.BER = ber
	f := newFaults(&s, "up", true, 2000)
	bad := 0.0
	for i := range clocked.Time(n) {
		if f.dllp(2000*i, 2000*(i+1)) {
			bad++
		}
	}
	near(t, "bad flits", bad, n*damaged(ber, rules.FlitBytes))
}

// agree checks a packet's fate against that of its flits, first to last, as far
// as it is known. One flit's is known from now on.
func agree(t tb, fate map[clocked.Time]bool, lost bool, first, last, flit clocked.Time) {
	t.Helper()
	known := true
	for at := first; at <= last; at += flit {
		b, ok := fate[at]
		if b && !lost {
			t.Fatalf("a packet in the bad flit until %v is not lost", at)
		}
		if !lost || first == last {
			fate[at] = lost
			if ok && b != lost {
				t.Fatalf("the flit until %v is bad %v and %v", at, b, lost)
			}
		}
		known = known && ok
	}
	if known && lost {
		for at := first; at <= last; at += flit {
			if fate[at] {
				return
			}
		}
		t.Fatalf("a packet is lost although its flits are good")
	}
}

// Under bit errors each bad flit costs one Nak, however many of the TLPs are in
// it, and go-back-N is as exact as it is without flits. Nothing retrains.
func TestFlitGoBackN(t *testing.T) {
	const n, bytes, ber = 1e5, 16 + 16, 1e-5
	spec := erring(t, 6, 2, 33*ns, ber)
	spec.SKP = false
	c := newCourse(t, of(spec))
	c.adapter.dma, c.adapter.end = func(i uint64) msg.DMA {
		return msg.DMA{Write: true, PA: 1<<32 + model.PA(i)<<4, Len: 16}
	}, n
	c.play(t)
	c.complete(t)
	s, took := c.Endpoint.Stats(), float64(c.host.at)
	flit := float64(flitTime(2))
	tlp := flit * bytes / 236
	q := damaged(ber, rules.FlitBytes)
	flits := n * bytes / 236.0
	near(t, "Naks", float64(s.Naks), flits*q)
	// A TLP that begins in the bad flit or before, half of one on average, then its
	// flit, the way there, the flit of the Nak that is under way there, the way back,
	// and the rest of the TLP on the line.
	latency := float64(spec.LinkLatency)
	lost := tlp/2 + flit + math.Ceil(latency/flit)*flit + latency + tlp/2
	timer := float64(rules.Symbols(6, rules.ReplayLimit(6, 2, 256)))
	spent := n*tlp + float64(s.Naks)*lost + float64(s.ReplayTimeouts)*timer
	if math.Abs(took/spent-1) > 0.002 {
		t.Errorf("took %.0f ps, want %.0f for %d Naks and %d time-outs", took, spent, s.Naks, s.ReplayTimeouts)
	}
	if c.Root.Stats().Recoveries+s.Recoveries != 0 {
		t.Errorf("%d recoveries, want none", c.Root.Stats().Recoveries+s.Recoveries)
	}
}
