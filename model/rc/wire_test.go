package rc

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// RC-8: PSN comparison is signed in 24 bits.
func TestPSN(t *testing.T) {
	for _, tc := range []struct {
		p, q PSN
		want int32
	}{
		{0, 0, 0}, {1, 0, 1}, {0, 1, -1}, {0, 0xFFFFFF, 1}, {0xFFFFFF, 0, -1},
		{0x7FFFFF, 0, 0x7FFFFF}, {0x800000, 0, -0x800000}, {0x000010, 0xFFFFF0, 32},
	} {
		if got := tc.p.Sub(tc.q); got != tc.want || tc.p.Before(tc.q) != (tc.want < 0) {
			t.Errorf("%#x - %#x = %d, want %d", tc.p, tc.q, got, tc.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p, n := PSN(rapid.Uint32Max(psnMask).Draw(t, "p")), rapid.Uint32Max(MaxOutstanding-1).Draw(t, "n")
		if got := p.Add(n); got > psnMask || got.Sub(p) != int32(n) || p.Sub(got) != -int32(n) {
			t.Fatalf("%#x + %d = %#x", p, n, got)
		}
	})
}

// Numbers and names of rdma-core's opcode.h.
func TestOpcodeNumbers(t *testing.T) {
	for number, name := range map[uint8]string{
		0x00: "SEND_FIRST", 0x01: "SEND_MIDDLE", 0x02: "SEND_LAST", 0x03: "SEND_LAST_WITH_IMMEDIATE",
		0x04: "SEND_ONLY", 0x05: "SEND_ONLY_WITH_IMMEDIATE", 0x06: "RDMA_WRITE_FIRST",
		0x07: "RDMA_WRITE_MIDDLE", 0x08: "RDMA_WRITE_LAST", 0x09: "RDMA_WRITE_LAST_WITH_IMMEDIATE",
		0x0a: "RDMA_WRITE_ONLY", 0x0b: "RDMA_WRITE_ONLY_WITH_IMMEDIATE", 0x0c: "RDMA_READ_REQUEST",
		0x0d: "RDMA_READ_RESPONSE_FIRST", 0x0e: "RDMA_READ_RESPONSE_MIDDLE",
		0x0f: "RDMA_READ_RESPONSE_LAST", 0x10: "RDMA_READ_RESPONSE_ONLY", 0x11: "ACKNOWLEDGE",
		0x12: "ATOMIC_ACKNOWLEDGE", 0x13: "COMPARE_SWAP", 0x14: "FETCH_ADD", 0x15: "RESERVED",
		0x16: "SEND_LAST_WITH_INVALIDATE", 0x17: "SEND_ONLY_WITH_INVALIDATE", 0x18: "RESERVED", 0xFF: "RESERVED",
	} {
		if got := Opcode(number).String(); got != name {
			t.Errorf("%#02x is %s, want %s", number, got, name)
		}
	}
}

func TestOpcodeProperties(t *testing.T) {
	for o := Opcode(0); o < numOpcodes; o++ {
		name := o.String()
		has := func(parts ...string) bool {
			for _, p := range parts {
				if strings.Contains(name, p) {
					return true
				}
			}
			return false
		}
		if reserved := name == "RESERVED"; o.Request() == (reserved || has("RESPONSE", "ACKNOWLEDGE")) {
			t.Errorf("%s: request %v", name, o.Request())
		}
		receive := has("SEND_FIRST", "SEND_ONLY") || has("WRITE") && has("IMMEDIATE")
		if o.TakesReceive() != receive {
			t.Errorf("%s: takes receive %v", name, o.TakesReceive())
		}
	}
}

// [Linux] rxe_hdr.h.
func TestSyndromes(t *testing.T) {
	for s := range 256 {
		y := Syndrome(s)
		ack, rnr, nak := s <= 0x1F, s >= 0x20 && s <= 0x3F, s >= 0x60 && s <= 0x64
		if y.Ack() != ack || y.RNR() != rnr || y.NAK() != nak || y.Fatal() != (nak && s != 0x60) {
			t.Errorf("%#02x: ack %v, rnr %v, nak %v, fatal %v", s, y.Ack(), y.RNR(), y.NAK(), y.Fatal())
		}
		if rnr && RNRNAK(y.Value()) != y {
			t.Errorf("%#02x: timer code %d", s, y.Value())
		}
	}
	for s, want := range map[Syndrome]string{AckUnlimited: "ACK", 3: "ACK credit 3", 0x2E: "RNR NAK timer 14",
		NAKSequence: "NAK PSN sequence error", NAKRemoteOp: "NAK remote operational error", 0x41: "reserved syndrome 0x41"} {
		if s.String() != want {
			t.Errorf("%#02x prints %q, want %q", uint8(s), s.String(), want)
		}
	}
}

// Timer codes in milliseconds: code 0 is the longest, code 25 is 61.44.
func TestRNRDelays(t *testing.T) {
	ms := [32]float64{655.36, .01, .02, .03, .04, .06, .08, .12, .16, .24, .32, .48, .64, .96, 1.28, 1.92,
		2.56, 3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52}
	for code, m := range ms {
		if got := RNRDelay(uint8(code)); got != int64(m*1e9+0.5) {
			t.Errorf("code %d: %d ps, want %v ms", code, got, m)
		}
		if code > 0 && RNRDelay(uint8(code)) >= RNRDelay(0) {
			t.Errorf("code %d is not shorter than code 0", code)
		}
	}
}

func TestAckTimeouts(t *testing.T) {
	if _, on := AckTimeout(0); on {
		t.Error("code 0 must be off")
	}
	for code, us := range map[uint8]float64{1: 8.192, 14: 67108.864, 17: 536870.912, 31: 8796093022.208} {
		if got, on := AckTimeout(code); !on || got != int64(us*1e6+0.5) {
			t.Errorf("code %d: %d ps, %v, want %v µs", code, got, on, us)
		}
	}
}

func TestSegmentation(t *testing.T) {
	for _, tc := range []struct {
		length  uint64
		mtu     uint32
		packets uint32
		tail    uint32
	}{
		{0, 1024, 1, 0}, {1, 1024, 1, 1}, {1024, 1024, 1, 1024}, {1025, 1024, 2, 1},
		{4096, 1024, 4, 1024}, {MaxMessage, 256, 1 << 23, 256},
	} {
		n := Packets(tc.length, tc.mtu)
		if n != tc.packets || Payload(n-1, tc.length, tc.mtu) != tc.tail || Payload(n, tc.length, tc.mtu) != 0 {
			t.Errorf("%d B at %d: %d packets, last %d B", tc.length, tc.mtu, n, Payload(n-1, tc.length, tc.mtu))
		}
		if Span(model.OpRead, tc.length, tc.mtu) != tc.packets || RequestPackets(model.OpRead, tc.length, tc.mtu) != 1 {
			t.Errorf("READ of %d B: span %d", tc.length, Span(model.OpRead, tc.length, tc.mtu))
		}
		if Span(model.OpWrite, tc.length, tc.mtu) != RequestPackets(model.OpWrite, tc.length, tc.mtu) {
			t.Errorf("WRITE of %d B: span and packets differ", tc.length)
		}
	}
	if Span(model.OpFetchAdd, 8, 256) != 1 {
		t.Error("an atomic takes one PSN")
	}
	for mtu, valid := range map[uint32]bool{0: false, 128: false, 256: true, 1000: false, 4096: true, 8192: false} {
		if ValidMTU(mtu) != valid {
			t.Errorf("MTU %d", mtu)
		}
	}
}

// The opcodes of a message go first, middle…, last; or only.
func TestRequestOpcodes(t *testing.T) {
	for _, tc := range []struct {
		op    model.Op
		extra Extra
		n     uint32
		want  []Opcode
	}{
		{model.OpSend, NoExtra, 1, []Opcode{SendOnly}},
		{model.OpSend, WithInvalidate, 2, []Opcode{SendFirst, SendLastInvalidate}},
		{model.OpSend, WithImmediate, 1, []Opcode{SendOnlyImmediate}},
		{model.OpWrite, NoExtra, 4, []Opcode{WriteFirst, WriteMiddle, WriteMiddle, WriteLast}},
		{model.OpWrite, WithImmediate, 2, []Opcode{WriteFirst, WriteLastImmediate}},
		{model.OpWrite, WithInvalidate, 1, []Opcode{NoOpcode}},
		{model.OpRead, NoExtra, 1, []Opcode{ReadRequest}},
		{model.OpRead, WithImmediate, 1, []Opcode{NoOpcode}},
		{model.OpCompareSwap, NoExtra, 1, []Opcode{CompareSwap}},
		{model.OpFetchAdd, NoExtra, 1, []Opcode{FetchAdd}},
		{model.NumOps, NoExtra, 1, []Opcode{NoOpcode}},
	} {
		for i, want := range tc.want {
			if got := RequestOpcode(tc.op, tc.extra, uint32(i), tc.n); got != want {
				t.Errorf("%v extra %d, packet %d of %d: %v, want %v", tc.op, tc.extra, i, tc.n, got, want)
			}
		}
		if got := RequestOpcode(tc.op, tc.extra, tc.n, tc.n); got != NoOpcode {
			t.Errorf("%v, packet beyond the end: %v", tc.op, got)
		}
	}
}
