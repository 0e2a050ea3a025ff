package pcie

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*want {
		t.Errorf("%s: %.6f GB/s, want %.6f", what, got/1e9, want/1e9)
	}
}

// stream is DLLPs of which one leaves in the limit at most, and at least one in
// the limit, an interval of the TLPs that cause them and a TLP of their own line:
// all in bytes on the line.
type stream struct{ limit, interval, line float64 }

// between wants the rate without DLLPs less what streams take of the line.
func between(t *testing.T, what string, got, without float64, streams ...stream) {
	t.Helper()
	least, most := without, without
	for _, s := range streams {
		least -= without * DLLPBytes / s.limit
		most -= without * DLLPBytes / (s.limit + s.interval + s.line)
	}
	if got < least*(1-1e-9) || got > most*(1+1e-9) {
		t.Errorf("%s: %.6f GB/s, want %.6f to %.6f", what, got/1e9, least/1e9, most/1e9)
	}
}

// Bytes a second after line coding, from the definition of the rates.
const (
	gen3x8  = 8e9 * 8 / 8 * 128 / 130
	gen4x16 = 16e9 * 16 / 8 * 128 / 130
	gen5x16 = 32e9 * 16 / 8 * 128 / 130
	gen6x16 = 64e9 * 16 / 8 * 236 / 256
)

// Writes: the payload's part of the TLPs, published as 5.73, 7.20, 22.91, 28.81,
// 45.83 and 57.61 GB/s; Ack and UpdateFC travel the other way.
func TestWriteBandwidth(t *testing.T) {
	for _, c := range []struct {
		gen, lanes int
		n          uint32
		want       float64
	}{
		{3, 8, 64, gen3x8 * 64 / 88}, {3, 8, 256, gen3x8 * 256 / 280}, {4, 16, 64, gen4x16 * 64 / 88},
		{4, 16, 4096, gen4x16 * 256 / 280}, {5, 16, 64, gen5x16 * 64 / 88}, {5, 16, 256, gen5x16 * 256 / 280},
		{4, 16, 300, gen4x16 * 300 / (280 + 68)}, {4, 16, 63, gen4x16 * 63 / 88},
		{6, 16, 64, gen6x16 * 64 / 80},
	} {
		l := Link{Gen: c.gen, Lanes: c.lanes, MPS: 256, MRRS: 512, RCB: 64, Header: Header4DW, DLLPs: true}
		near(t, "writes", l.WriteBandwidth(c.n), c.want)
	}
	l := Link{Gen: 4, Lanes: 16, MPS: 256, MRRS: 512, RCB: 64, Header: Header3DW, Prefixes: 1, Digest: true}
	near(t, "short address, prefix and digest", l.WriteBandwidth(64), gen4x16*64/92)
	l.SKP = true
	near(t, "with SKP", l.WriteBandwidth(64), gen4x16*64/92*369/370)
	l.Gen, l.Lanes = 2, 8
	near(t, "with SKP at Gen2", l.WriteBandwidth(64), 4e9*64/92*1534/1538)
	l.Gen = 6
	near(t, "with SKP at Gen6", l.WriteBandwidth(64), gen6x16/2*64/84*(11968-40)/11968)
}

// Reads at Gen4 x16, MPS 256. The limit of an Ack or UpdateFC is 168 symbol times of
// 16 lanes, 2688 bytes.
func TestReadBandwidth(t *testing.T) {
	for _, c := range []struct {
		what string
		l    Link
		n    uint32
		want float64
	}{
		{"64 B without DLLPs", Link{MRRS: 512}, 64, gen4x16 * 64 / 84},
		{"512 B without DLLPs", Link{MRRS: 512}, 512, gen4x16 * 512 / 552},
		{"512 B, one completion a boundary", Link{MRRS: 512, Split: SplitRCB}, 512, gen4x16 * 64 / 84},
		{"4 KiB, requests of 512 B", Link{MRRS: 512}, 4096, gen4x16 * 512 / 552},
		// A request for each 4416 bytes has an Ack and an UpdateFC of its own.
		{"4 KiB", Link{MRRS: 4096, DLLPs: true}, 4096, gen4x16 * 4096 / (4416 + 16)},
		{"4 B with prefix, SKP", Link{MRRS: 512, Prefixes: 1, SKP: true}, 4, gen4x16 * 369 / 370 * 4 / 28},
	} {
		c.l.Gen, c.l.Lanes, c.l.MPS, c.l.RCB, c.l.Header = 4, 16, 256, 64, Header4DW
		near(t, c.what, c.l.ReadBandwidth(c.n), c.want)
	}
	gen4 := Link{Gen: 4, Lanes: 16, MPS: 256, MRRS: 512, RCB: 64, Header: Header4DW, DLLPs: true}
	// An Ack and an UpdateFC for the requests, one each 552 bytes, among completions of 276.
	each := stream{2688, 552, 276}
	between(t, "512 B", gen4.ReadBandwidth(512), gen4x16*512/552, each, each)
	// 28 B of request for 28 of completion: equal but for the streams, two of them
	// against the completions, one against the requests.
	gen4.Prefixes = 1
	each = stream{2688, 28, 28}
	between(t, "8 B with prefix", gen4.ReadBandwidth(8), gen4x16*8/28, each, each)
	// 28 B of request for 24 of completion.
	between(t, "4 B with prefix", gen4.ReadBandwidth(4), gen4x16*4/28, each)
	l := Link{Gen: 6, Lanes: 16, MPS: 256, MRRS: 512, RCB: 64, Header: Header4DW, DLLPs: true}
	near(t, "64 B in flits", l.ReadBandwidth(64), gen6x16*64/76)
}

// Reads and writes at once: with 256 B a write and a request share 304 bytes
// against a completion of 276; with 64 B, 112 against 84.
func TestBothBandwidth(t *testing.T) {
	for _, c := range []struct {
		what string
		n    uint32
		want float64 // without DLLPs
		acks stream  // of the completions
	}{
		{"256 B", 256, gen4x16 * 256 / 304, stream{2688, 304, 280}},
		{"64 B", 64, gen4x16 * 64 / 112, stream{2688, 112, 88}},
		// 16 writes and a request, 4504 bytes, against 16 completions.
		{"4 KiB", 4096, gen4x16 * 4096 / (16*280 + 24), stream{2688, 4504 / 16., 280}},
	} {
		l := Link{Gen: 4, Lanes: 16, MPS: 256, MRRS: 4096, RCB: 64, Header: Header4DW}
		near(t, c.what, l.BothBandwidth(c.n), c.want)
		l.DLLPs = true
		between(t, c.what, l.BothBandwidth(c.n), c.want, c.acks)
	}
	// With MPS 128, a short header and a completion of 64 B a boundary the way of the
	// completions is the slower: 4 × 84 bytes against 2 × 148 + 20. Three streams are on
	// it, with a limit of 144 symbol times: of 3 requests, of 2 writes and of a read.
	l := Link{Gen: 4, Lanes: 16, MPS: 128, MRRS: 512, RCB: 64, Split: SplitRCB, Header: Header3DW, DLLPs: true}
	between(t, "256 B, completions of 64 B", l.BothBandwidth(256), gen4x16*256/336,
		stream{16 * 144, 336 / 3., 84}, stream{16 * 144, 336 / 2., 84}, stream{16 * 144, 336, 84})
}

// At the rate found, TLPs and DLLPs fill the direction. How many TLPs share a DLLP
// is counted one by one: those that come from the first until the limit is over
// and the line is free, at a thousand points of the TLP that is on it.
func TestDirectionIsFull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Link{
			Gen: rapid.IntRange(1, 5).Draw(t, "gen"), Lanes: 1 << rapid.IntRange(0, 5).Draw(t, "lanes"),
			MPS: 128 << rapid.IntRange(0, 5).Draw(t, "mps"), SKP: rapid.Bool().Draw(t, "skp"), DLLPs: true,
		}
		count := rapid.IntRange(1, 16).Draw(t, "count")
		f := flow{tlps: load{float64(count), float64(count) * rapid.Float64Range(20, 300).Draw(t, "bytes")}}
		for i := range f.dllps {
			f.dllps[i] = float64(rapid.IntRange(0, 40).Draw(t, "cause"))
		}
		rate := l.most(&f)
		num, den := SymbolTime(l.Gen)
		symbol := float64(num) / float64(den) / 1e12
		limit := float64(AckLimit(l.Gen, l.Lanes, l.MPS)) * symbol
		carried := rate * f.tlps.bytes
		for _, cause := range f.dllps {
			if cause == 0 {
				continue
			}
			const points = 1000
			shared := 0
			for i := range points {
				left := limit + (float64(i)+0.5)/points/rate/f.tlps.count
				for at := 0.0; at < left; at += 1 / rate / cause {
					shared++
				}
			}
			carried += 8 * rate * cause / (float64(shared) / points)
		}
		room := float64(l.Lanes) / symbol
		if l.SKP {
			interval, length := SKP(l.Gen)
			room *= float64(interval-length) / float64(interval)
		}
		if math.Abs(carried/room-1) > 2e-4 {
			t.Fatalf("%.0f B/s of %.0f", carried, room)
		}
	})
}

// Published sizings: 31.5 GB/s over a loop of 300 ns are 34 writes of 256 B; 64 B
// reads take 225 tags at 600 ns, and 525 at 63 GB/s and 700 ns; 512 B reads 35.
func TestSizing(t *testing.T) {
	const ns = 1000
	if h, d := CreditsFor(31_500_000_000, 300*ns, 280, 256); h != 34 || d != 544 {
		t.Errorf("credits: %d headers, %d data; want 34, 544", h, d)
	}
	if h, d := CreditsFor(31_500_000_000, 300*ns, 88, 63); h != 108 || d != 432 {
		t.Errorf("credits of 63 B: %d headers, %d data; want 108, 432", h, d)
	}
	for _, c := range []struct{ rate, time, bytes, want int64 }{
		{31_500_000_000, 600 * ns, 84, 225}, {63_000_000_000, 700 * ns, 84, 525}, {31_500_000_000, 600 * ns, 552, 35},
		{63_000_000_000, 700 * ns, 28, 1575}, {1, 1, 1, 1}, {118_000_000_000, 1_000_000_000, 76, 1_552_632},
	} {
		if got := TagsFor(c.rate, c.time, c.bytes); got != c.want {
			t.Errorf("%d B/s for %d ps: %d tags, want %d", c.rate, c.time, got, c.want)
		}
	}
}
