package ats

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// Every message comes back from its bytes.
func TestWireRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := IDs{rapid.Uint16().Draw(t, "from"), rapid.Uint16().Draw(t, "to")}
		pasid := rapid.Uint32Range(0, maxPASID).Draw(t, "pasid")
		va := model.VA(rapid.Uint64().Draw(t, "va") >> rapid.SampledFrom([]int{0, 33}).Draw(t, "shift"))
		group := rapid.Uint16Range(0, MaxGroups-1).Draw(t, "group")
		bit := rapid.Bool()
		tag := rapid.Uint16Range(0, 1023).Draw(t, "tag")
		comesBack(t, InvalidateRequest{ITag: rapid.Uint8Range(0, 31).Draw(t, "itag"), PASID: pasid, Global: bit.Draw(t, "g"),
			Range: Cover(va, rapid.Uint64().Draw(t, "length"))}, ids)
		comesBack(t, InvalidateCompletion{ITags: rapid.Uint32().Draw(t, "itags"), Count: rapid.Uint8Range(1, 8).Draw(t, "count")}, ids)
		comesBack(t, PageResponse{Group: group, PASID: pasid, Code: ResponseCode(rapid.Uint8Range(0, 15).Draw(t, "code"))}, ids)
		for _, c := range Complete(tag, entries(t), rapid.IntRange(0, 16).Draw(t, "first"), 128) {
			c.Poisoned = bit.Draw(t, "ep")
			comesBack(t, c, ids)
		}
		comesBack(t, TranslationCompletion{Tag: tag, Status: CompletionStatus(rapid.Uint8Range(1, 7).Draw(t, "status")),
			Bytes: rapid.Uint16Range(0, 4095).Draw(t, "bytes"), Lower: rapid.Uint8Range(0, 127).Draw(t, "lower")}, ids)
		ids.To = 0
		comesBack(t, PageRequest{Group: group, Last: bit.Draw(t, "l"), Read: bit.Draw(t, "r"), Write: bit.Draw(t, "w"),
			PASID: pasid, Execute: bit.Draw(t, "x"), Privileged: bit.Draw(t, "p"), VA: va &^ 0xFFF}, ids)
		comesBack(t, TranslationRequest{Tag: tag, Count: rapid.Uint16Range(1, 512).Draw(t, "n"), NoWrite: bit.Draw(t, "nw"),
			PASID: pasid, Execute: bit.Draw(t, "x"), Privileged: bit.Draw(t, "p"), VA: va &^ 0xFFF}, ids)
	})
}

// entries are 1 to 16 translations of a size.
func entries(t *rapid.T) (all []Translation) {
	shift := model.PageShift(rapid.IntRange(12, 63).Draw(t, "size"))
	bit := rapid.Bool()
	for range rapid.IntRange(1, 16).Draw(t, "entries") {
		all = append(all, Translation{PA: model.PA(rapid.Uint64().Draw(t, "pa") &^ below(shift)), Shift: shift,
			Read: bit.Draw(t, "r"), Write: bit.Draw(t, "w"), Untranslated: bit.Draw(t, "u"), Global: bit.Draw(t, "g"),
			Execute: bit.Draw(t, "x"), Privileged: bit.Draw(t, "p"), NoSnoop: bit.Draw(t, "n"), CXL: bit.Draw(t, "cxl")})
	}
	return all
}

func comesBack(t *rapid.T, m any, ids IDs) {
	t.Helper()
	if got, gotIDs, err := DecodeTLP(encode(m, ids)); err != nil || !reflect.DeepEqual(got, m) || gotIDs != ids {
		t.Fatalf("%+v %+v comes back as %+v %+v, %v", m, ids, got, gotIDs, err)
	}
}

// Two completions look like one read that crosses the read completion boundary
// between them, and one as a read that ends at it; together they are the entries.
func TestComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rcb := rapid.SampledFrom([]int{64, 128}).Draw(t, "rcb")
		all := entries(t)
		all = all[:min(len(all), rcb/EntryBytes)]
		first := rapid.IntRange(0, 17).Draw(t, "first")
		parts := Complete(9, all, first, rcb)
		split := first >= 1 && first < len(all)
		if len(parts) != map[bool]int{false: 1, true: 2}[split] || split && len(parts[0].Entries) != first {
			t.Fatalf("%d completions of %d entries, %d in the first", len(parts), len(all), len(parts[0].Entries))
		}
		var got []Translation
		left := len(all) * EntryBytes
		for i, p := range parts {
			if int(p.Bytes) != left || p.Tag != 9 || i == 1 && p.Lower != 0 {
				t.Fatalf("completion %d: %+v with %d B left", i, p, left)
			}
			if end := int(p.Lower) + len(p.Entries)*EntryBytes; i == 0 && end%rcb != 0 || end > 128 {
				t.Fatalf("completion %d ends at %d of %d", i, end, rcb)
			}
			left -= len(p.Entries) * EntryBytes
			got = append(got, p.Entries...)
		}
		if !reflect.DeepEqual(got, all) {
			t.Fatalf("%+v, want %+v", got, all)
		}
	})
}

// Worked out by hand, with a boundary of 64 B: of four entries three come first,
// 24 B from 0x28 on, of 32 in all; the last begins at the boundary.
func TestCompleteVectors(t *testing.T) {
	four := []Translation{{PA: 0x1000, Shift: 12, Read: true}, {PA: 0x2000, Shift: 12, Read: true}, {PA: 0x3000, Shift: 12, Read: true}, {Shift: 12}}
	parts := Complete(0x21, four, 3, 64)
	for i, want := range []string{
		"4a000006 00080020 01002128 00000000 00001001 00000000 00002001 00000000 00003001",
		"4a000002 00080008 01002100 00000000 00000000",
	} {
		if got := parts[i].Append(nil, down); !bytes.Equal(got, unhex(t, want)) {
			t.Errorf("completion %d: %x, want %s", i, got, want)
		}
	}
	for _, c := range []struct {
		n, rcb int
		lower  uint8
	}{{1, 64, 0x38}, {8, 64, 0}, {1, 128, 0x78}, {16, 128, 0}} {
		if got := Complete(0, make([]Translation, c.n), 0, c.rcb); len(got) != 1 || got[0].Lower != c.lower {
			t.Errorf("%d entries, boundary %d: %+v, want from %#x on", c.n, c.rcb, got, c.lower)
		}
	}
}

// Bytes from anywhere make an error or a message that its own bytes give again,
// and they are one message only.
func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range []string{
		"910123457200000200080501010000000000000000000000400ff801", "32000000010000020008000080000020",
		"91000001300000000100000400007fff12345aaf", "32000000000800050100f15500000000", "20000402010021ff00007fff12345001",
		"913abcde008804100100a5ff12345000", "4a0000060008002001002128000000000000100100000000000020010000000000003001",
		"0a0000000008200801002100", "30008000010000040000000000000004deadbeef", "",
	} {
		b, _ := hex.DecodeString(seed)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, ids, err := DecodeTLP(b)
		if err != nil {
			return
		}
		again := encode(m, ids)
		n, idsAgain, err := DecodeTLP(again)
		if err != nil || !reflect.DeepEqual(n, m) || ids != idsAgain || len(again) > len(b) {
			t.Errorf("%x is %+v, whose bytes are %x: %+v, %v", b, m, again, n, err)
		}
		decoded := 0
		for _, decode := range []func([]byte) error{
			func(b []byte) error { _, _, err := DecodeInvalidateRequest(b); return err },
			func(b []byte) error { _, _, err := DecodeInvalidateCompletion(b); return err },
			func(b []byte) error { _, _, err := DecodePageRequest(b); return err },
			func(b []byte) error { _, _, err := DecodePageResponse(b); return err },
			func(b []byte) error { _, _, err := DecodeTranslationRequest(b); return err },
			func(b []byte) error { _, _, err := DecodeTranslationCompletion(b); return err },
		} {
			if decode(b) == nil {
				decoded++
			}
		}
		if decoded != 1 {
			t.Errorf("%x is %d messages", b, decoded)
		}
	})
}
