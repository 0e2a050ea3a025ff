package ats

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
)

const (
	adapter = 0x0100 // 01:00.0
	port    = 0x0008 // 00:01.0
)

var down, up = IDs{From: port, To: adapter}, IDs{From: adapter, To: port}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TLPs put together by hand from the figures of [riscv-iommu], [whisper], [Simics]
// and [cocotbext-pcie]; they are read back by what their bytes say they are.
func TestWireVectors(t *testing.T) {
	const page = 0x7fff_1234_5000
	for _, c := range []struct {
		what string
		m    any
		ids  IDs
		want string
	}{
		{"invalidate request", InvalidateRequest{ITag: 5, PASID: 0x12345, Range: Range{0x4000_0000, 21}, Global: true}, down,
			"91012345 72000002 00080501 01000000 00000000 00000000 400ff801"},
		{"of a page", InvalidateRequest{Range: Range{page, 12}}, down, "72000002 00080001 01000000 00000000 00007fff 12345000"},
		{"of two pages", InvalidateRequest{Range: Range{0x2000, 13}}, down, "72000002 00080001 01000000 00000000 00000000 00002800"},
		{"of everything", InvalidateRequest{ITag: 31, Range: Range{0, 64}}, down, "72000002 00081f01 01000000 00000000 7fffffff fffff800"},
		{"invalidate completion, of 8", InvalidateCompletion{ITags: 1<<31 | 1<<5, Count: 8}, up, "32000000 01000002 00080000 80000020"},
		{"of 1", InvalidateCompletion{ITags: 1, Count: 1}, up, "32000000 01000002 00080001 00000001"},
		{"of 7", InvalidateCompletion{ITags: 1 << 16, Count: 7}, up, "32000000 01000002 00080007 00010000"},
		{"page request", PageRequest{Group: 0x155, Last: true, Read: true, Write: true, PASID: 1, VA: page}, IDs{From: adapter},
			"91000001 30000000 01000004 00007fff 12345aaf"},
		{"to execute, privileged", PageRequest{Group: 0x0AA, Read: true, PASID: 0xABCDE, Execute: true, Privileged: true, VA: page}, IDs{From: adapter},
			"913abcde 30000000 01000004 00007fff 12345551"},
		{"stop marker", PageRequest{Last: true, PASID: 1}, IDs{From: adapter}, "91000001 30000000 01000004 00000000 00000004"},
		{"page response", PageResponse{Group: 0x155, Code: ResponseFailure}, down, "32000000 00080005 0100f155 00000000"},
		{"with a PASID", PageResponse{Group: 0x0AA, PASID: 0xFFFFF, Code: ResponseInvalid}, down, "910fffff 32000000 00080005 010010aa 00000000"},
		{"translation request", TranslationRequest{Tag: 0x21, Count: 1, NoWrite: true, VA: page}, IDs{From: adapter}, "20000402 010021ff 00007fff 12345001"},
		{"below 4 GiB, of 8, with all 10 bits of a tag", TranslationRequest{Tag: 0x3A5, Count: 8, PASID: 0xABCDE, Execute: true, Privileged: true, VA: 0x1234_5000},
			IDs{From: adapter}, "913abcde 00880410 0100a5ff 12345000"},
		{"of the last page below", TranslationRequest{Count: 1, VA: 0xFFFF_F000}, IDs{From: adapter}, "00000402 010000ff fffff000"},
		{"of 512", TranslationRequest{Tag: 0x100, Count: 512, VA: 1 << 32}, IDs{From: adapter}, "20080400 010000ff 00000001 00000000"},
		{"completion", TranslationCompletion{Tag: 0x21, Entries: []Translation{{PA: 0x4000_0000, Shift: 21, Read: true, Write: true}}, Bytes: 8, Lower: 0x38}, down,
			"4a000002 00080008 01002138 00000000 400ff803"},
		{"of 4096 B in all", TranslationCompletion{Entries: []Translation{{Shift: 12}}, Bytes: 4096}, down, "4a000002 00080000 01000000 00000000 00000000"},
		{"poisoned", TranslationCompletion{Tag: 0x221, Poisoned: true, Entries: []Translation{{Shift: 12}}, Bytes: 8, Lower: 0x78}, down,
			"4a804002 00080008 01002178 00000000 00000000"},
		{"UR", TranslationCompletion{Tag: 0x21, Status: UnsupportedRequest, Bytes: 8}, down, "0a000000 00082008 01002100"},
		{"CA", TranslationCompletion{Tag: 0x21, Status: CompleterAbort}, down, "0a000000 00088000 01002100"},
	} {
		if got := hex.EncodeToString(encode(c.m, c.ids)); got != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		if m, ids, err := DecodeTLP(unhex(t, c.want)); err != nil || !reflect.DeepEqual(m, c.m) || ids != c.ids {
			t.Errorf("%s: %+v %+v, %v; want %+v %+v", c.what, m, ids, err, c.m, c.ids)
		}
	}
}

// encode is the TLP of a message.
func encode(m any, ids IDs) []byte {
	switch m := m.(type) {
	case InvalidateRequest:
		return m.Append(nil, ids)
	case InvalidateCompletion:
		return m.Append(nil, ids)
	case PageRequest:
		return m.Append(nil, ids.From)
	case PageResponse:
		return m.Append(nil, ids)
	case TranslationRequest:
		return m.Append(nil, ids.From)
	case TranslationCompletion:
		return m.Append(nil, ids)
	}
	return nil
}

// Each field stands where the figures have it: alone it sets these bits of this DW,
// counted without prefix, and no other.
func TestFieldPositions(t *testing.T) {
	const far = 1 << 40 // so that a request has the long header
	base := []any{InvalidateRequest{Range: Range{Shift: 12}}, InvalidateCompletion{Count: 8}, PageRequest{}, PageResponse{},
		TranslationRequest{Count: 512, VA: far}, TranslationCompletion{Entries: []Translation{{Shift: 12}}, Bytes: 4096}}
	for i, fields := range [][]struct {
		what string
		m    any
		dw   int
		bits uint32
	}{
		{{"ITag", InvalidateRequest{ITag: 31, Range: Range{Shift: 12}}, 1, 0x1F << 8}, {"G", InvalidateRequest{Range: Range{Shift: 12}, Global: true}, 5, 1},
			{"S", InvalidateRequest{Range: Range{Shift: 13}}, 5, 1 << 11}, {"address", InvalidateRequest{Range: Range{0xFFFF_F000, 12}}, 5, 0xFFFFF << 12},
			{"upper address", InvalidateRequest{Range: Range{0xFFFF_FFFF << 32, 12}}, 4, 0xFFFF_FFFF}},
		{{"ITag vector", InvalidateCompletion{ITags: 0xFFFF_FFFF, Count: 8}, 3, 0xFFFF_FFFF}, {"CC", InvalidateCompletion{Count: 7}, 2, 7}},
		{{"R", PageRequest{Read: true}, 3, 1}, {"W", PageRequest{Write: true}, 3, 1 << 1}, {"L", PageRequest{Last: true}, 3, 1 << 2},
			{"PRG index", PageRequest{Group: 511}, 3, 0x1FF << 3}, {"address", PageRequest{VA: 0xFFFF_F000}, 3, 0xFFFFF << 12},
			{"upper address", PageRequest{VA: 0xFFFF_FFFF << 32}, 2, 0xFFFF_FFFF}},
		{{"PRG index", PageResponse{Group: 511}, 2, 0x1FF}, {"code", PageResponse{Code: 15}, 2, 15 << 12}},
		{{"NW", TranslationRequest{Count: 512, NoWrite: true, VA: far}, 3, 1}, {"length", TranslationRequest{Count: 511, VA: far}, 0, 0x3FE},
			{"tag", TranslationRequest{Tag: 0xFF, Count: 512, VA: far}, 1, 0xFF << 8}, {"T8", TranslationRequest{Tag: 0x100, Count: 512, VA: far}, 0, 1 << 19},
			{"T9", TranslationRequest{Tag: 0x200, Count: 512, VA: far}, 0, 1 << 23}, {"address", TranslationRequest{Count: 512, VA: far | 0xFFFF_F000}, 3, 0xFFFFF << 12}},
		{{"status", TranslationCompletion{Status: 7, Entries: []Translation{{Shift: 12}}, Bytes: 4096}, 1, 7 << 13},
			{"byte count", TranslationCompletion{Entries: []Translation{{Shift: 12}}, Bytes: 0xFFF}, 1, 0xFFF},
			{"lower address", TranslationCompletion{Entries: []Translation{{Shift: 12}}, Bytes: 4096, Lower: 0x7F}, 2, 0x7F},
			{"tag", TranslationCompletion{Tag: 0xFF, Entries: []Translation{{Shift: 12}}, Bytes: 4096}, 2, 0xFF << 8},
			{"EP", TranslationCompletion{Poisoned: true, Entries: []Translation{{Shift: 12}}, Bytes: 4096}, 0, 1 << 14}},
	} {
		before := encode(base[i], IDs{})
		for _, f := range fields {
			after := encode(f.m, IDs{})
			for dw := range len(before) / 4 {
				want := uint32(0)
				if dw == f.dw {
					want = f.bits
				}
				if got := word(before, dw) ^ word(after, dw); got != want || len(after) != len(before) {
					t.Errorf("%T: %s sets %#x of DW %d, want %#x", f.m, f.what, got, dw, want)
				}
			}
		}
	}
}

func word(b []byte, dw int) (w uint32) {
	for _, x := range b[4*dw : 4*dw+4] {
		w = w<<8 | uint32(x)
	}
	return w
}

// Codes 2 to 14 have no meaning and count as a failure.
func TestResponseCodes(t *testing.T) {
	for code := range byte(16) {
		b := unhex(t, "32000000 00080005 01000155 00000000")
		b[10] |= code << 4
		m, _, err := DecodePageResponse(b)
		if want := (PageResponse{Group: 0x155, Code: ResponseCode(code)}); err != nil || m != want || m.Code.Fails() != (code > 1) {
			t.Errorf("code %d: %+v fails %v, %v", code, m, m.Code.Fails(), err)
		}
	}
}

// A stop marker asks for nothing and is the last.
func TestStopMarker(t *testing.T) {
	for _, r := range []PageRequest{{Last: true}, {}, {Last: true, Read: true}, {Last: true, Write: true}} {
		if r.StopMarker() != (r == PageRequest{Last: true}) {
			t.Errorf("%+v: %v", r, r.StopMarker())
		}
	}
}

// A digest is left out; the header says that it is there.
func TestDigest(t *testing.T) {
	m, _, err := DecodePageRequest(unhex(t, "30008000 01000004 00007fff 12345aaf deadbeef"))
	if want := (PageRequest{Group: 0x155, Last: true, Read: true, Write: true, VA: 0x7fff_1234_5000}); err != nil || m != want {
		t.Errorf("%+v, %v", m, err)
	}
}

// What is not the message says so and names the mend, on one line.
func TestWireErrors(t *testing.T) {
	page := PageRequest{Last: true, Read: true}
	good := page.Append(nil, adapter)
	decodes := map[string]func([]byte) error{
		"page":       func(b []byte) error { _, _, err := DecodePageRequest(b); return err },
		"request":    func(b []byte) error { _, _, err := DecodeTranslationRequest(b); return err },
		"invalidate": func(b []byte) error { _, _, err := DecodeInvalidateRequest(b); return err },
		"completion": func(b []byte) error { _, _, err := DecodeTranslationCompletion(b); return err },
		"any":        func(b []byte) error { _, _, err := DecodeTLP(b); return err },
	}
	for _, c := range []struct {
		as, want string
		b        []byte
	}{
		{"page", "page request of 15 B: its header says 16", good[:15]},
		{"page", "page request of 20 B: its header says 16", append(bytes.Clone(good), 0, 0, 0, 0)},
		{"page", "page request of 0 B: a header of 12 or 16 B is due", nil},
		{"page", "page request of 4 B: a header of 12 or 16 B is due", []byte{formatPASID, 0, 0, 1}},
		{"page", "page request: type 0x30, code 0x05: 0x30, 0x04 is due", append(append(bytes.Clone(good[:7]), 5), good[8:]...)},
		{"page", "page request: type 0x32, code 0x04", append([]byte{formatByID}, good[1:]...)},
		{"page", "prefix of type 0x91: only one", append([]byte{formatPASID, 0, 0, 1, formatPASID, 0, 0, 1}, good...)},
		{"page", "prefix of type 0x90: only one, of type 0x91", append([]byte{0x90, 0, 0, 1}, good...)},
		{"request", "address type 1, 1 DW: 1 and two for each translation are due", unhex(t, "20000401 010021ff 00007fff 12345001")},
		{"request", "address type 0, 2 DW", unhex(t, "20000002 010021ff 00007fff 12345001")},
		{"request", "type 0x4a: a memory read, 0x00 or 0x20, is due", unhex(t, "4a000002 00080008 01002138 00000000 400ff803")},
		{"invalidate", "16 B of data: 8 are due", unhex(t, "72000004 00080501 01000000 00000000 00000000 400ff801 00000000 00000000")},
		{"invalidate", "1 DW of data: two each are due", unhex(t, "72000001 00080501 01000000 00000000 00000000")},
		{"invalidate", "poisoned (EP)", unhex(t, "72004002 00080501 01000000 00000000 00000000 400ff801")},
		{"completion", "status 0 with 0 B of data", unhex(t, "0a000000 00080008 01002138")},
		{"completion", "status 1 with 8 B of data", unhex(t, "4a000002 00082008 01002138 00000000 400ff803")},
		{"completion", "byte count 4 with 8 B of data", unhex(t, "4a000002 00080004 01002138 00000000 400ff803")},
		{"completion", "byte count 8 with 16 B of data", unhex(t, "4a000004 00080008 01002138 00000000 400ff803 00000000 400ff803")},
		{"completion", "byte count 12 with 8 B of data", unhex(t, "4a000002 0008000c 01002138 00000000 400ff803")},
		{"completion", "type 0x20: a completion, 0x0a or 0x4a, is due", unhex(t, "20000402 010021ff 00007fff 12345001")},
		{"any", "TLP of type 0x60, byte 7 0xff: of ATS and PRI are", unhex(t, "60000002 010000ff 00000001 00000000 00000000 00000000")},
		{"any", "TLP of type 0x32, byte 7 0x7e: of ATS and PRI are", unhex(t, "32000000 0008007e 01000000 00000000")},
		{"any", "TLP of 3 B", []byte{1, 2, 3}},
	} {
		if err := decodes[c.as](c.b); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%x as %s: error %v, want %q", c.b, c.as, err, c.want)
		}
	}
}
