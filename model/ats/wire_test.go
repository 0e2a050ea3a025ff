package ats

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

const (
	adapter = 0x0100 // 01:00.0
	port    = 0x0008 // 00:01.0
)

var down, up = IDs{From: port, To: adapter}, IDs{From: adapter, To: port}

// TLPs put together by hand from the figures of [riscv-iommu] and [whisper].
func TestWireVectors(t *testing.T) {
	invalidate := InvalidateRequest{ITag: 5, PASID: 0x12345, Range: Range{0x4000_0000, 21}, Global: true}
	everything := InvalidateRequest{ITag: 31, Range: Range{0, 64}}
	completion := InvalidateCompletion{ITags: 1<<31 | 1<<5, Count: 8}
	page := PageRequest{Group: 0x155, Last: true, Read: true, Write: true, PASID: 1, VA: 0x7fff_1234_5000}
	response := PageResponse{Group: 0x155, Code: ResponseFailure}
	request := TranslationRequest{Tag: 0x21, Count: 1, NoWrite: true, VA: 0x7fff_1234_5000}
	for _, c := range []struct {
		what string
		got  []byte
		want string
	}{
		{"invalidate request", invalidate.Append(nil, down), "91012345 72000002 00080501 01000000 00000000 00000000 400ff801"},
		{"invalidate everything", everything.Append(nil, down), "72000002 00081f01 01000000 00000000 7fffffff fffff800"},
		{"invalidate completion", completion.Append(nil, up), "32000000 01000002 00080000 80000020"},
		{"page request", page.Append(nil, adapter), "91000001 30000000 01000004 00007fff 12345aaf"},
		{"page response", response.Append(nil, down), "32000000 00080005 0100f155 00000000"},
		{"translation request", request.Append(nil, adapter), "20000402 010021ff 00007fff 12345001"},
	} {
		if got := hex.EncodeToString(c.got); got != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// Every message comes back from its bytes.
func TestWireRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := IDs{rapid.Uint16().Draw(t, "from"), rapid.Uint16().Draw(t, "to")}
		pasid := rapid.Uint32Range(0, maxPASID).Draw(t, "pasid")
		va := model.VA(rapid.Uint64().Draw(t, "va"))
		group := rapid.Uint16Range(0, MaxGroups-1).Draw(t, "group")
		bit := rapid.Bool()

		request := InvalidateRequest{ITag: rapid.Uint8Range(0, 31).Draw(t, "itag"), PASID: pasid, Global: bit.Draw(t, "g"),
			Range: Cover(va, rapid.Uint64().Draw(t, "length"))}
		same(t, request, ids)(DecodeInvalidateRequest(request.Append(nil, ids)))
		completion := InvalidateCompletion{ITags: rapid.Uint32().Draw(t, "itags"), Count: rapid.Uint8Range(1, 8).Draw(t, "count")}
		same(t, completion, ids)(DecodeInvalidateCompletion(completion.Append(nil, ids)))
		response := PageResponse{Group: group, PASID: pasid, Code: ResponseCode(rapid.Uint8Range(0, 15).Draw(t, "code"))}
		same(t, response, ids)(DecodePageResponse(response.Append(nil, ids)))

		ids.To = 0
		page := PageRequest{Group: group, Last: bit.Draw(t, "l"), Read: bit.Draw(t, "r"), Write: bit.Draw(t, "w"),
			PASID: pasid, VA: va &^ 0xFFF}
		same(t, page, ids)(DecodePageRequest(page.Append(nil, ids.From)))
		translation := TranslationRequest{Tag: rapid.Uint8().Draw(t, "tag"), Count: rapid.Uint16Range(1, 512).Draw(t, "n"),
			NoWrite: bit.Draw(t, "nw"), PASID: pasid, VA: va &^ 0xFFF}
		same(t, translation, ids)(DecodeTranslationRequest(translation.Append(nil, ids.From)))
	})
}

func same[T comparable](t *rapid.T, want T, ids IDs) func(T, IDs, error) {
	return func(got T, gotIDs IDs, err error) {
		t.Helper()
		if err != nil || got != want || gotIDs != ids {
			t.Fatalf("%+v %+v comes back as %+v %+v, %v", want, ids, got, gotIDs, err)
		}
	}
}

// Bytes from anywhere make an error or a message that its own bytes give again.
func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range []string{
		"910123457200000200080501010000000000000000000000400ff801", "32000000010000020008000080000020",
		"91000001300000000100000400007fff12345aaf", "32000000000800050100f15500000000", "20000402010021ff00007fff12345001", "",
	} {
		b, _ := hex.DecodeString(seed)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		decoded := 0
		check := func(again []byte, same bool) {
			decoded++
			if !same || len(again) > len(b) {
				t.Errorf("%x is not what %x means", again, b)
			}
		}
		if m, ids, err := DecodeInvalidateRequest(b); err == nil {
			again := m.Append(nil, ids)
			n, idsAgain, err := DecodeInvalidateRequest(again)
			check(again, n == m && ids == idsAgain && err == nil)
		}
		if m, ids, err := DecodeInvalidateCompletion(b); err == nil {
			again := m.Append(nil, ids)
			n, idsAgain, err := DecodeInvalidateCompletion(again)
			check(again, n == m && ids == idsAgain && err == nil)
		}
		if m, ids, err := DecodePageRequest(b); err == nil {
			again := m.Append(nil, ids.From)
			n, idsAgain, err := DecodePageRequest(again)
			check(again, n == m && ids == idsAgain && err == nil)
		}
		if m, ids, err := DecodePageResponse(b); err == nil {
			again := m.Append(nil, ids)
			n, idsAgain, err := DecodePageResponse(again)
			check(again, n == m && ids == idsAgain && err == nil)
		}
		if m, ids, err := DecodeTranslationRequest(b); err == nil {
			again := m.Append(nil, ids.From)
			n, idsAgain, err := DecodeTranslationRequest(again)
			check(again, n == m && ids == idsAgain && err == nil)
		}
		if decoded > 1 {
			t.Errorf("%x is %d messages", b, decoded)
		}
	})
}

// What is not the message says so and names the mend.
func TestWireErrors(t *testing.T) {
	page := PageRequest{Last: true, Read: true}
	good := page.Append(nil, adapter)
	for _, c := range []struct {
		what, want string
		b          []byte
	}{
		{"short", "page request of 15 B: 16 are due, or 20 with a PASID prefix", good[:15]},
		{"empty", "page request of 0 B: 16", nil},
		{"prefix only", "page request of 4 B: 16", []byte{formatPASID, 0, 0, 1}},
		{"code", "page request: type 0x30, code 0x05: 0x30, 0x04 is due", append(append(bytes.Clone(good[:7]), 5), good[8:]...)},
		{"type", "page request: type 0x32, code 0x04", append([]byte{formatByID}, good[1:]...)},
	} {
		if _, _, err := DecodePageRequest(c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.want)
		}
	}
	request := TranslationRequest{Count: 1}
	b := request.Append(nil, adapter)
	b[3] = 1 // a length of one DW, half a translation
	if _, _, err := DecodeTranslationRequest(b); err == nil || !strings.Contains(err.Error(), "address type 1, 1 DW") {
		t.Errorf("a length of 1 DW: error %v", err)
	}
}
