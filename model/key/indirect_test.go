package key

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

func mustList(t testing.TB, pieces ...Piece) *List {
	t.Helper()
	l, err := NewList(pieces...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func indirect(t testing.TB, table *Table, rights Rights, pieces ...Piece) Key {
	t.Helper()
	return mustRegister(t, table, Region{PD: 1, Kind: Indirect, Rights: rights, List: mustList(t, pieces...)})
}

func TestListRules(t *testing.T) {
	for _, tc := range []struct {
		pieces []Piece
		want   error
	}{
		{nil, ErrNoPieces},
		{[]Piece{{Key: 1, Length: 1}, {Key: 1}}, ErrNoLength},
		{[]Piece{{Key: 1, VA: math.MaxUint64, Length: 2}}, ErrWraps},
		{[]Piece{{Key: 1, VA: math.MaxUint64, Length: 1}}, nil},
		{[]Piece{{Key: 1, Length: math.MaxUint64}, {Key: 1, Length: 1}}, ErrWraps},
	} {
		if _, err := NewList(tc.pieces...); !errors.Is(err, tc.want) {
			t.Errorf("%v: %v, want %v", tc.pieces, err, tc.want)
		}
	}
	table := mustTable(t, 16)
	for _, tc := range []struct {
		r    Region
		want error
	}{
		{Region{Kind: Indirect}, ErrNoPieces},
		{Region{Kind: Indirect, FastReg: true, List: mustList(t, Piece{Length: 1})}, ErrKind},
		{Region{Kind: Implicit, Length: 1 << 29, PageShift: 12}, ErrChildAlign},
		{Region{Kind: Implicit, Base: 1, Length: 1 << 30, PageShift: 12}, ErrChildAlign},
		{Region{Kind: numKinds, PageShift: 12}, ErrKind},
	} {
		if _, err := table.Register(tc.r); !errors.Is(err, tc.want) {
			t.Errorf("kind %d: %v, want %v", tc.r.Kind, err, tc.want)
		}
	}
}

// A7: the pages of an access are those that it touches behind its pieces, not
// those that its length would touch at the start of one.
func TestPagesOfAnUnalignedPiece(t *testing.T) {
	table := mustTable(t, 16)
	mr := mustRegister(t, table, region(0, 0x10000))
	k := indirect(t, table, all, Piece{Key: mr, VA: 0x1800, Length: 0x4000})
	for _, tc := range []struct {
		offset model.VA
		length uint64
		pages  uint64 // ceil(((0x1800+offset) mod 4096 + length) / 4096)
	}{{0x800, 0x1000, 1}, {0, 0x1000, 2}, {0x7FF, 0x1000, 2}, {0x7FF, 2, 2}, {0x800, 0x1001, 2}, {0, 0x4000, 5}} {
		p, v := table.Resolve(k, 1, qp, model.OpRead, tc.offset, tc.length)
		if v != OK || p.Region.Key != mr || p.VA != 0x1800+tc.offset || p.Length != tc.length || p.Pages() != tc.pages {
			t.Errorf("%#x+%#x: %v, va %#x+%#x, want %d pages", uint64(tc.offset), tc.length, v, uint64(p.VA), p.Length, tc.pages)
		}
	}
}

// A8: the rights of each piece are its own region's. Reading across both opens
// neither for more; the store that the second region forbids is refused, and its
// pages are filled for reading only.
func TestPiecesKeepTheirOwnRights(t *testing.T) {
	table := mustTable(t, 16)
	rw := mustRegister(t, table, region(0x10000, 0x1000))
	readOnly := region(0x20000, 0x1000)
	readOnly.Rights = RemoteRead
	ro := mustRegister(t, table, readOnly)
	k := indirect(t, table, all, Piece{rw, 0x10000, 0x1000}, Piece{ro, 0x20000, 0x1000})
	first, v1 := table.Resolve(k, 1, qp, model.OpRead, 0, 0x2000)
	if v1 != OK || first.Region.Key != rw || first.Length != 0x1000 {
		t.Errorf("first part: %v, %+v", v1, first)
	}
	second, v2 := table.Resolve(k, 1, qp, model.OpRead, 0x1000, 0x1000)
	if v2 != OK || second.Region.Key != ro {
		t.Errorf("second part: %v, %+v", v2, second)
	}
	if stores, ok := first.Region.Fill(true); !stores || !ok {
		t.Error("page of the writable region not filled for storing")
	}
	if stores, ok := second.Region.Fill(true); stores || !ok {
		t.Error("page of the read-only region filled for storing")
	}
	if _, v := table.Resolve(k, 1, qp, model.OpWrite, 0, 0x1000); v != OK {
		t.Errorf("WRITE to the first: %v", v)
	}
	if p, v := table.Resolve(k, 1, qp, model.OpWrite, 0x1000, 8); v != NoRight || p.Region != nil {
		t.Errorf("WRITE to the second: %v", v)
	}
	narrow := indirect(t, table, RemoteRead, Piece{rw, 0x10000, 0x1000})
	if _, v := table.Resolve(narrow, 1, qp, model.OpWrite, 0, 8); v != NoRight {
		t.Errorf("WRITE by a key for reading: %v", v)
	}
}

// KEY-1, KEY-3: what a key in the chain refuses is refused: a stale key, another
// domain, a piece that reaches outside its region.
func TestChainIsCheckedToItsEnd(t *testing.T) {
	table := mustTable(t, 16)
	mr := mustRegister(t, table, region(0x1000, 0x1000))
	foreign := region(0x1000, 0x1000)
	foreign.PD = 2
	other := mustRegister(t, table, foreign)
	for want, p := range map[Verdict]Piece{
		OK:           {mr, 0x1000, 0x1000},
		WrongVariant: {mr ^ 1, 0x1000, 8},
		NoRegion:     {0x700, 0x1000, 8},
		WrongPD:      {other, 0x1000, 8},
		OutOfBounds:  {mr, 0x1FFC, 8},
	} {
		k := indirect(t, table, all, p)
		if _, v := table.Resolve(k, 1, qp, model.OpRead, 0, p.Length); v != want {
			t.Errorf("%v, want %v", v, want)
		}
	}
	k := indirect(t, table, all, Piece{mr, 0x1000, 8})
	if err := table.Suspend(mr); err != nil {
		t.Fatal(err)
	}
	if p, v := table.Resolve(k, 1, qp, model.OpRead, 0, 8); v != SuspendedNow || p.Length != 8 {
		t.Errorf("suspended behind: %v, %d bytes", v, p.Length)
	}
}

// MaxDepth indirect keys in a row resolve, one more does not, and a ring ends.
func TestDepthIsBounded(t *testing.T) {
	table := mustTable(t, 16)
	k := mustRegister(t, table, region(0, 0x1000))
	for depth := 1; depth <= MaxDepth+1; depth++ {
		k = indirect(t, table, all, Piece{k, 0, 0x1000})
		want := OK
		if depth > MaxDepth {
			want = TooDeep
		}
		if _, v := table.Resolve(k, 1, qp, model.OpRead, 0, 8); v != want || v.Refused() != (want == TooDeep) {
			t.Errorf("depth %d: %v, want %v", depth, v, want)
		}
	}
	ring := indirect(t, table, all, Piece{Make(k.Index()+1, 0), 0, 0x1000})
	if ring != Make(k.Index()+1, 0) {
		t.Fatal("the next key is not the next index")
	}
	if _, v := table.Resolve(ring, 1, qp, model.OpRead, 0, 8); v != TooDeep {
		t.Errorf("ring: %v", v)
	}
}

// byteAt is where one byte of a key lies, found by adding up lengths.
func byteAt(pieces []Piece, offset uint64) (Key, model.VA) {
	for _, p := range pieces {
		if offset < p.Length {
			return p.Key, p.VA + model.VA(offset)
		}
		offset -= p.Length
	}
	return 0, 0
}

// The parts of an access, one behind the other, are its bytes in order, each
// where a byte-wise walk of the pieces finds it.
func TestPartsAgainstBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, err := NewTable(16)
		if err != nil {
			t.Fatal(err)
		}
		var keys []Key
		for range 3 {
			k, err := table.Register(region(0x1000, 0x1000))
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, k)
		}
		var pieces []Piece
		for range rapid.IntRange(1, 6).Draw(t, "pieces") {
			va := rapid.Uint64Range(0x1000, 0x1FFF).Draw(t, "va")
			pieces = append(pieces, Piece{rapid.SampledFrom(keys).Draw(t, "key"), model.VA(va),
				rapid.Uint64Range(1, 0x2000-va).Draw(t, "length")})
		}
		list, err := NewList(pieces...)
		if err != nil {
			t.Fatal(err)
		}
		base := model.VA(rapid.SampledFrom([]uint64{0, 0x7000, math.MaxUint64 - 0x8000}).Draw(t, "base"))
		k, err := table.Register(Region{PD: 1, Kind: Indirect, Rights: all, Base: base, List: list})
		if err != nil {
			t.Fatal(err)
		}
		from := rapid.Uint64Range(0, list.Length()-1).Draw(t, "from")
		length := rapid.Uint64Range(1, list.Length()-from).Draw(t, "bytes")
		for done := uint64(0); done < length; {
			p, v := table.Resolve(k, 1, qp, model.OpRead, base+model.VA(from+done), length-done)
			if v != OK || p.Length == 0 || p.Length > length-done {
				t.Fatalf("at %d of %d: %v, %d bytes", done, length, v, p.Length)
			}
			for _, i := range []uint64{0, p.Length - 1} {
				wantKey, wantVA := byteAt(pieces, from+done+i)
				if p.Region.Key != wantKey || p.VA+model.VA(i) != wantVA {
					t.Fatalf("byte %d in %#x at %#x, want %#x at %#x", done+i, uint32(p.Region.Key),
						uint64(p.VA)+i, uint32(wantKey), uint64(wantVA))
				}
			}
			done += p.Length
		}
		if _, v := table.Resolve(k, 1, qp, model.OpRead, base+model.VA(list.Length()), 1); v != OutOfBounds {
			t.Fatalf("behind the end: %v", v)
		}
	})
}
