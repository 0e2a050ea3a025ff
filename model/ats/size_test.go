package ats

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// Entries worked out by hand: size bits by [riscv-iommu] iommu_translate.c and
// [whisper] Iommu.cpp, the others by [Simics]. Attributes, bits 8 to 6, are not looked at.
func TestTranslationVectors(t *testing.T) {
	for _, c := range []struct {
		what string
		t    Translation
		want uint64
	}{
		{"4 KiB", Translation{PA: 0x5000, Shift: 12, Read: true}, 0x5001},
		{"8 KiB", Translation{PA: 0x2000, Shift: 13, Read: true, Write: true}, 0x2803},
		{"64 KiB", Translation{PA: 0x1_0000, Shift: 16, Write: true}, 0x1_7802},
		{"2 MiB", Translation{PA: 0x4000_0000, Shift: 21}, 0x400F_F800},
		{"1 GiB", Translation{PA: 0x8000_0000, Shift: 30, Untranslated: true}, 0x9FFF_F804},
		{"everything", Translation{Shift: 64, Global: true}, 0x7FFF_FFFF_FFFF_F820},
		{"to execute", Translation{PA: 0x5000, Shift: 12, Execute: true}, 0x5008},
		{"privileged", Translation{PA: 0x5000, Shift: 12, Privileged: true}, 0x5010},
		{"CXL.io", Translation{PA: 0x5000, Shift: 12, CXL: true}, 0x5200},
		{"no snoop", Translation{PA: 0x5000, Shift: 12, NoSnoop: true}, 0x5400},
		{"a frame at the top", Translation{PA: 0xFFFF_FFFF_FFFF_F000, Shift: 12}, 0xFFFF_FFFF_FFFF_F000},
	} {
		if got := Encode(c.t); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.what, got, c.want)
		}
		if got := Decode(c.want); got != c.t {
			t.Errorf("%s: decodes to %+v, want %+v", c.what, got, c.t)
		}
		if got := Decode(c.want | 0x1C0); got != c.t {
			t.Errorf("%s: with attributes it decodes to %+v", c.what, got)
		}
	}
}

// Every size comes back, with every right and at every place.
func TestTranslationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for shift := model.Shift4K; shift <= wholeSpace; shift++ {
			in := Translation{PA: model.PA(rapid.Uint64().Draw(t, "pa") &^ below(shift)), Shift: shift,
				Read: rapid.Bool().Draw(t, "r"), Write: rapid.Bool().Draw(t, "w"),
				Untranslated: rapid.Bool().Draw(t, "u"), Global: rapid.Bool().Draw(t, "g")}
			if out := Decode(Encode(in)); out != in {
				t.Fatalf("%+v comes back as %+v", in, out)
			}
			if in.Cacheable() != (in.Read || in.Write) {
				t.Fatalf("%+v: cacheable %v", in, in.Cacheable())
			}
		}
	})
}

// Any 8 bytes are an entry: the page is aligned and of a legal size, counted
// here bit by bit.
func FuzzDecode(f *testing.F) {
	for _, seed := range []uint64{0, 0x800, 0x400F_F803, ^uint64(0), 0x7FFF_FFFF_FFFF_F800} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry uint64) {
		want := model.PageShift(12)
		if entry&0x800 != 0 {
			want++
			for bit := 12; bit < 64 && entry>>bit&1 == 1 && want < 64; bit++ {
				want++
			}
		}
		got := Decode(entry)
		if got.Shift != want || uint64(got.PA)&below(got.Shift) != 0 {
			t.Errorf("%#x: %+v, want shift %d", entry, got, want)
		}
		if again := Decode(Encode(got)); again != got {
			t.Errorf("%#x: %+v, and encoded and decoded %+v", entry, got, again)
		}
	})
}

// A grant of nothing serves no access, and only its absence of rights matters.
func TestAllows(t *testing.T) {
	for _, c := range []struct {
		t           Translation
		read, write bool
	}{
		{Translation{}, false, false},
		{Translation{Read: true}, true, false},
		{Translation{Read: true, Write: true}, true, true},
		{Translation{Read: true, Write: true, Untranslated: true}, false, false},
	} {
		if r, w := c.t.Allows(false), c.t.Allows(true); r != c.read || w != c.write {
			t.Errorf("%+v: read %v, write %v, want %v, %v", c.t, r, w, c.read, c.write)
		}
	}
}

func TestCoverVectors(t *testing.T) {
	const gib = 1 << 30
	top := ^model.VA(0)
	for _, c := range []struct {
		what   string
		va     model.VA
		length uint64
		want   Range
	}{
		{"a byte", 0x5678, 1, Range{0x5000, 12}},
		{"pages 3 and 4", 3 << 12, 2 << 12, Range{0, 15}},
		{"20 GiB at 32 GiB", 32 * gib, 20 * gib, Range{32 * gib, 35}},
		{"everything", 0x1234, 0, Range{0, 64}},
		{"both halves", 1<<63 - 1, 2, Range{0, 64}},
		{"the upper half", 1 << 63, 1 << 63, Range{1 << 63, 63}},
		{"the last page", top - 4095, 4096, Range{top - 4095, 12}},
		{"past the top", top, 2, Range{top - 4095, 12}},
		{"far past the top", 1 << 63, ^uint64(0), Range{1 << 63, 63}},
	} {
		if got := Cover(c.va, c.length); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.what, got, c.want)
		}
	}
}

// The cover is the first aligned block, tried size after size, that holds both
// ends.
func TestCoverIsTheSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		va := rapid.Uint64().Draw(t, "va") &^ below(model.PageShift(rapid.IntRange(0, 63).Draw(t, "align")))
		length := rapid.Uint64Range(1, 1<<rapid.IntRange(0, 63).Draw(t, "size")).Draw(t, "length")
		end := va + length - 1
		if end < va {
			end = ^uint64(0)
		}
		shift := uint(12)
		for shift < 64 && va>>shift != end>>shift {
			shift++
		}
		want := Range{model.VA(va >> shift << shift), model.PageShift(shift)}
		if got := Cover(model.VA(va), length); got != want || !got.Contains(model.VA(va), length) {
			t.Fatalf("[%#x, +%#x): %#x, want %#x", va, length, got, want)
		}
	})
}

// Contains and Overlaps agree with a look at every page of a small space.
func TestRangeAgainstPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]model.VA{0, 1 << 40, ^model.VA(0) - 64<<12 + 1}).Draw(t, "base")
		shift := model.PageShift(rapid.IntRange(12, 16).Draw(t, "shift"))
		r := Range{base + model.VA(rapid.Uint64Range(0, 3).Draw(t, "place"))<<shift, shift}
		first, pages := rapid.Uint64Range(0, 63).Draw(t, "first"), rapid.Uint64Range(0, 64).Draw(t, "pages")
		inside, outside := 0, 0
		for p := first; p < min(first+pages, 64); p++ {
			if (base+model.VA(p<<12))>>shift == r.VA>>shift {
				inside++
			} else {
				outside++
			}
		}
		va := base + model.VA(first<<12)
		length := pages << 12
		if base < 1<<41 { // below the top bytes beyond the 64 pages count
			length = min(first+pages, 64)<<12 - first<<12
		}
		if got := r.Contains(va, length); got != (outside == 0) {
			t.Fatalf("%#x contains [%#x, +%#x): %v", r, va, length, got)
		}
		if got := r.Overlaps(va, length); got != (inside > 0) {
			t.Fatalf("%#x overlaps [%#x, +%#x): %v", r, va, length, got)
		}
	})
	all := Range{Shift: 64}
	if !all.Contains(1<<63-1, 1<<63) || !all.Overlaps(^model.VA(0), 1) || all.Overlaps(5, 0) {
		t.Error("the whole space holds every byte and no empty range overlaps it")
	}
}
