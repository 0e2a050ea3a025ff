package pcie

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// Bytes by [pcie-model] and [cocotbext-pcie]: 24 + n of a write with a long
// address, 20 + n with a short one and of a completion, 4 more for a prefix and
// for a digest, 8 less in flit mode.
func TestTLPBytes(t *testing.T) {
	for _, c := range []struct {
		what string
		gen  int
		s    Shape
		want int64
	}{
		{"MWr64 8 B", 4, Shape{Header: Header4DW, Payload: 8}, 32},
		{"MWr64 256 B", 1, Shape{Header: Header4DW, Payload: 256}, 280},
		{"MWr64 63 B", 4, Shape{Header: Header4DW, Payload: 63}, 88},
		{"MWr64 1 B", 4, Shape{Header: Header4DW, Payload: 1}, 28},
		{"MWr32 256 B", 3, Shape{Header: Header3DW, Payload: 256}, 276},
		{"MRd64", 5, Shape{Header: Header4DW}, 24},
		{"MRd64 with PASID", 5, Shape{Header: Header4DW, Prefixes: 1}, 28},
		{"MRd64 with two prefixes and ECRC", 5, Shape{Header: Header4DW, Prefixes: 2, Digest: true}, 36},
		{"CplD 64 B", 4, Shape{Header: Header3DW, Payload: 64}, 84},
		{"Cpl", 4, Shape{Header: Header3DW}, 20},
		{"CplD of 2 translations", 4, Shape{Header: Header3DW, Payload: 16}, 36},
		{"Invalidate Request", 4, Shape{Header: Header4DW, Payload: 8}, 32},
		{"Invalidate Request with PASID", 4, Shape{Header: Header4DW, Prefixes: 1, Payload: 8}, 36},
		{"MWr64 4 KiB", 4, Shape{Header: Header4DW, Payload: 4096}, 4120},
		{"MWr64 64 B in flits", 6, Shape{Header: Header4DW, Payload: 64}, 80},
		{"MRd64 with PASID and ECRC in flits", 6, Shape{Header: Header4DW, Prefixes: 1, Digest: true}, 24},
	} {
		if got := TLPBytes(c.gen, c.s); got != c.want {
			t.Errorf("%s: %d B, want %d", c.what, got, c.want)
		}
	}
}

// What is carried is the double words that hold a byte of the range.
func TestCarried(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		addr := model.PA(rapid.Uint64Range(0, 1<<40).Draw(t, "addr"))
		n := rapid.Uint32Range(0, 40).Draw(t, "n")
		touched := map[model.PA]bool{}
		for i := range n {
			touched[(addr+model.PA(i))/4] = true
		}
		if got := Carried(addr, n); got != 4*uint32(len(touched)) {
			t.Fatalf("%d B, %d double words are touched", got, len(touched))
		}
	})
	for addr, want := range map[model.PA]uint8{0: 12, 1<<32 - 1: 12, 1 << 32: 16, 1 << 40: 16} {
		if got := RequestHeader(addr); got != want {
			t.Errorf("header at %#x: %d B, want %d", uint64(addr), got, want)
		}
	}
}
