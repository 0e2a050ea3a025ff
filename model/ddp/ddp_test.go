package ddp

import (
	"testing"

	"rnicmmu/model"
	"rnicmmu/model/key"
)

// Sizes, added up by hand from the fields of the headers.
func TestFPDU(t *testing.T) {
	for _, c := range []struct {
		m             Message
		payload, want uint32
	}{
		{Write, 0, 2 + 14 + 4},
		{Write, 64, 2 + 14 + 64 + 4},
		{Write, 61, 2 + 14 + 61 + 3 + 4}, // pad
		{ReadResponse, 4096, 2 + 14 + 4096 + 4},
		{Send, 8, 2 + 18 + 8 + 4},
		{ReadRequest, 0, 2 + 18 + (4 + 8 + 4 + 4 + 8) + 4},
		{AtomicRequest, 0, 2 + 18 + (4 + 4 + 4 + 8 + 4*8) + 4},
		{AtomicResponse, 0, 2 + 18 + (4 + 8) + 4},
	} {
		if got := FPDU(c.m, c.payload); got != c.want {
			t.Errorf("message %d with %d bytes: %d, want %d", c.m, c.payload, got, c.want)
		}
	}
	for op, want := range map[model.Op]uint32{
		model.OpWrite:    2 + 18 + 4 + 2 + 14 + 4,
		model.OpSend:     2 + 18 + 4 + 2 + 18 + 4,
		model.OpFetchAdd: 2 + 18 + 4 + 2 + 18 + 4,
		model.OpRead:     2 + 18 + 4 + 2 + 46 + 4,
	} {
		if got := TerminateFPDU(op); got != want {
			t.Errorf("Terminate of %v: %d, want %d", op, got, want)
		}
	}
	if MaxFPDU(4096) < FPDU(Write, 4096) {
		t.Error("a WRITE is longer than the longest")
	}
}

// KEY-1: each refusal has the code that its layer gives the first check that
// failed.
func TestRefusal(t *testing.T) {
	for _, c := range []struct {
		op   model.Op
		v    key.Verdict
		want uint16
	}{
		{model.OpWrite, key.NoRegion, 0x1100},
		{model.OpWrite, key.WrongVariant, 0x1100},
		{model.OpWrite, key.WrongPD, 0x1102},
		{model.OpWrite, key.NoRight, 0x1100},
		{model.OpWrite, key.NotValid, 0x1100},
		{model.OpWrite, key.OutOfBounds, 0x1101},
		{model.OpWrite, key.OK, 0x1100}, // not told
		{model.OpRead, key.NoRegion, 0x0100},
		{model.OpRead, key.OutOfBounds, 0x0101},
		{model.OpRead, key.NoRight, 0x0102},
		{model.OpRead, key.WrongPD, 0x0103},
		{model.OpFetchAdd, key.NoRight, 0x0102},
		{model.OpRead, key.OK, 0x01ff}, // not told
		{model.OpSend, key.NoRight, 0x1000},
	} {
		if got := Refusal(c.op, c.v).Bits(); got != c.want {
			t.Errorf("%v, %v: %#04x, want %#04x", c.op, c.v, got, c.want)
		}
	}
	if a, b, c := NoBuffer().Bits(), TooLong().Bits(), Catastrophic(model.OpRead).Bits(); a != 0x1202 || b != 0x1205 || c != 0 {
		t.Errorf("no buffer %#x, too long %#x, catastrophic %#x", a, b, c)
	}
	if c := CannotInvalidate().Bits(); c != 0x0109 {
		t.Errorf("cannot invalidate %#x", c)
	}
	if s := NoBuffer().String(); s != "0x1202" {
		t.Error(s)
	}
}
