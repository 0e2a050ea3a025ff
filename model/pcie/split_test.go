package pcie

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

func completions(addr model.PA, n, rcb, mps uint32, split Split, draw func() uint64) (out []uint32) {
	for n > 0 {
		p := CompletionPiece(addr, n, rcb, mps, split, draw())
		out = append(out, p)
		addr, n = addr+model.PA(p), n-p
	}
	return out
}

func zero() uint64 { return 0 }

// Vectors worked out by hand from the rules of [PG213] and [AN855].
func TestCompletionVectors(t *testing.T) {
	for _, c := range []struct {
		addr         model.PA
		n, rcb, mps  uint32
		fewest, most []uint32
	}{
		{0x10060, 256, 128, 256,
			[]uint32{256},
			[]uint32{32, 128, 96}},
		{0x10060, 512, 128, 256,
			[]uint32{160, 256, 96},
			[]uint32{32, 128, 128, 128, 96}},
		{0x10000, 64, 64, 256, []uint32{64}, []uint32{64}},
		{0x1003C, 8, 64, 128, []uint32{8}, []uint32{4, 4}},
		// 128 bytes from an odd address touch 33 double words: too many for one.
		{0x10001, 128, 64, 128,
			[]uint32{127, 1},
			[]uint32{63, 64, 1}},
	} {
		if got := completions(c.addr, c.n, c.rcb, c.mps, SplitMin, zero); !slices.Equal(got, c.fewest) {
			t.Errorf("%#x, %d B, fewest: %v, want %v", uint64(c.addr), c.n, got, c.fewest)
		}
		if got := completions(c.addr, c.n, c.rcb, c.mps, SplitRCB, zero); !slices.Equal(got, c.most) {
			t.Errorf("%#x, %d B, most: %v, want %v", uint64(c.addr), c.n, got, c.most)
		}
	}
}

// legal lists the completions that may come next, by the rules: each ends at the
// end of the request or at a boundary, and carries no more than mps.
func legal(addr model.PA, left, rcb, mps uint32) (out []uint32) {
	for n := uint32(1); n <= left; n++ {
		end := addr + model.PA(n)
		if dwords := (end+3)/4 - addr/4; dwords*4 <= model.PA(mps) && (n == left || end%model.PA(rcb) == 0) {
			out = append(out, n)
		}
	}
	return out
}

// Of the legal completions SplitMin takes the longest and SplitRCB the shortest;
// SplitRandom reaches every one, as often as the others, and no other.
func TestCompletionRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rcb := uint32(rapid.SampledFrom([]int{64, 128}).Draw(t, "rcb"))
		mps := uint32(128) << rapid.IntRange(0, 5).Draw(t, "mps")
		addr := model.PA(rapid.Uint64Range(0, 1<<40).Draw(t, "addr"))
		n := rapid.Uint32Range(1, addressBlock-uint32(addr%addressBlock)).Draw(t, "n")
		want := legal(addr, n, rcb, mps)
		if got := CompletionPiece(addr, n, rcb, mps, SplitRCB, 0); got != want[0] {
			t.Fatalf("rcb: %d of %v", got, want)
		}
		if got := CompletionPiece(addr, n, rcb, mps, SplitMin, 0); got != want[len(want)-1] {
			t.Fatalf("min: %d of %v", got, want)
		}
		start := uint64(rapid.Uint32().Draw(t, "draw")) * uint64(len(want))
		for i, w := range want {
			if got := CompletionPiece(addr, n, rcb, mps, SplitRandom, start+uint64(i)); got != w {
				t.Fatalf("random: draw %d gives %d, want %d of %v", i, got, w, want)
			}
		}
	})
}

// Rules 1 to 5 on whole reads under any policy.
func TestReadsAreTiled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rcb := uint32(rapid.SampledFrom([]int{64, 128}).Draw(t, "rcb"))
		mps := uint32(128) << rapid.IntRange(0, 5).Draw(t, "mps")
		addr := model.PA(rapid.Uint64Range(0, 1<<20).Draw(t, "addr"))
		n := rapid.Uint32Range(1, addressBlock-uint32(addr%addressBlock)).Draw(t, "n")
		split := Split(rapid.IntRange(0, 2).Draw(t, "split"))
		draw := func() uint64 { return rapid.Uint64().Draw(t, "draw") }
		got := completions(addr, n, rcb, mps, split, draw)
		at, left := addr, n
		for i, p := range got {
			switch {
			case i > 0 && at%model.PA(rcb) != 0:
				t.Fatalf("a later completion starts at %#x", uint64(at))
			case p > left:
				t.Fatalf("%d of %d", p, left)
			}
			at, left = at+model.PA(p), left-p
		}
		inside := (uint32(addr)+n-1)/rcb - uint32(addr)/rcb
		if left != 0 || uint32(len(got)) > inside+1 || split == SplitRCB && uint32(len(got)) != inside+1 {
			t.Fatalf("%v with %d boundaries inside", got, inside)
		}
	})
}

// A request is the longest that the limit and the 4 KiB block allow.
func TestRequestPiece(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := uint32(128) << rapid.IntRange(0, 5).Draw(t, "limit")
		addr := model.PA(rapid.Uint64Range(0, 1<<40).Draw(t, "addr"))
		left := rapid.Uint32Range(1, 1<<14).Draw(t, "left")
		fits := func(n uint32) bool {
			last := addr + model.PA(n) - 1
			return n <= left && (last/4-addr/4+1)*4 <= model.PA(limit) && last/4096 == addr/4096
		}
		if got := RequestPiece(addr, left, limit); got == 0 || !fits(got) || fits(got+1) {
			t.Fatalf("%d", got)
		}
	})
	for _, c := range []struct {
		addr              model.PA
		left, limit, want uint32
	}{{0x1000, 8192, 512, 512}, {0x1F80, 512, 512, 128}, {0x1004, 100, 128, 100}, {0x1001, 300, 256, 255}, {0x1FFF, 2, 128, 1}} {
		if got := RequestPiece(c.addr, c.left, c.limit); got != c.want {
			t.Errorf("%#x, %d of at most %d: %d, want %d", uint64(c.addr), c.left, c.limit, got, c.want)
		}
	}
}
