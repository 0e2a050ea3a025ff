package pcie

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

func TestDataCredits(t *testing.T) {
	for payload, want := range map[uint32]uint32{0: 0, 1: 1, 16: 1, 17: 2, 64: 4, 256: 16, 4096: 256} {
		if got := DataCredits(payload); got != want {
			t.Errorf("%d B: %d, want %d", payload, got, want)
		}
	}
}

// Fields of 8 and 12 bits whatever the scale, 127 and 2047 outstanding times the
// scale; and the least that may be advertised.
func TestCreditLimits(t *testing.T) {
	for _, c := range []struct {
		p             Pool
		s             Scale
		field, counts uint
		most          uint32
		least         uint32 // MPS 256
	}{
		{PH, 1, 8, 8, 127, 1}, {PH, 4, 8, 10, 508, 4}, {PH, 16, 8, 12, 2032, 16},
		{PD, 1, 12, 12, 2047, 16}, {PD, 4, 12, 14, 8188, 16}, {PD, 16, 12, 16, 32752, 16},
		{NPH, 1, 8, 8, 127, 1}, {NPD, 1, 12, 12, 2047, 1}, {NPD, 4, 12, 14, 8188, 4},
		{CPLH, 1, 8, 8, 127, 1}, {CPLD, 1, 12, 12, 2047, 16},
	} {
		if FieldBits(c.p) != c.field || CounterBits(c.p, c.s) != c.counts || MaxCredits(c.p, c.s) != c.most {
			t.Errorf("%v × %d: %d and %d bits, most %d", c.p, c.s, FieldBits(c.p), CounterBits(c.p, c.s), MaxCredits(c.p, c.s))
		}
		if got := MinCredits(c.p, c.s, 256); got != c.least {
			t.Errorf("%v × %d: least %d, want %d", c.p, c.s, got, c.least)
		}
	}
}

// A field leaves out what is below a step of the scale until a later update.
func TestScaledField(t *testing.T) {
	there, here := NewAllocation(PH, 4, 510), NewAccount(PH, 4, 510) // 508: a step short of 127 × 4
	if there.Field() != 127 || here.Free() != 508 {
		t.Fatalf("field %d, %d free", there.Field(), here.Free())
	}
	here.Take(4)
	for i := range 4 {
		if there.Return(1); i == 3 {
			break
		}
		if here.Update(there.Field()); here.Free() != 504 {
			t.Errorf("after %d returned: %d free", i+1, here.Free())
		}
	}
	if here.Update(there.Field()); there.Field() != 128 || here.Free() != 508 {
		t.Errorf("after 4 returned: field %d, %d free", there.Field(), here.Free())
	}
}

func TestInfiniteCredits(t *testing.T) {
	there, here := NewAllocation(CPLD, 1, 0), NewAccount(CPLD, 1, 0)
	for range 1000 {
		if here.Lacks(256) {
			t.Fatal("an infinite pool lacks credits")
		}
		here.Take(256)
		there.Return(256)
		here.Update(there.Field())
	}
	if !here.Infinite() || !there.Infinite() || there.Field() != 0 {
		t.Errorf("infinite %t and %t, field %d", here.Infinite(), there.Infinite(), there.Field())
	}
}

// The modular accounts are those of plain integers, over any run of TLPs, and
// with any of the updates lost or twice.
func TestAccountsOfIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Pool(rapid.IntRange(0, int(NumPools)-1).Draw(t, "pool"))
		s := rapid.SampledFrom([]Scale{1, 4, 16}).Draw(t, "scale")
		advertised := rapid.Uint32Range(uint32(s), MaxCredits(p, s)).Draw(t, "advertised")
		here, there := NewAccount(p, s, advertised), NewAllocation(p, s, advertised)
		step := uint64(s)
		allocated := uint64(advertised) / step * step
		limit, taken, drained := allocated, uint64(0), uint64(0)
		sizes := rapid.Uint32Range(1, min(MaxCredits(p, s), 300))
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			switch n := sizes.Draw(t, "n"); rapid.IntRange(0, 2).Draw(t, "do") {
			case 0:
				if lacks := taken+uint64(n) > limit; here.Lacks(n) != lacks {
					t.Fatalf("%d of %d taken: %d more lack: %t", taken, limit, n, !lacks)
				} else if !lacks {
					here.Take(n)
					taken += uint64(n)
				}
			case 1:
				n := min(uint64(n), taken-drained)
				there.Return(uint32(n))
				drained, allocated = drained+n, allocated+n
			case 2:
				limit = allocated / step * step
				for range rapid.IntRange(1, 2).Draw(t, "times") {
					here.Update(there.Field())
				}
			}
			if uint64(here.Free()) != limit-taken {
				t.Fatalf("%d free, want %d", here.Free(), limit-taken)
			}
		}
	})
}

// Nothing that a TLP needs allocates.
func TestNoAllocation(t *testing.T) {
	var sender Sender
	var receiver Receiver
	account, allocation := NewAccount(PD, 1, 1024), NewAllocation(PD, 1, 1024)
	later, earlier := Packet{Class: NonPosted}, Packet{Class: Completion}
	var sum int64
	if n := testing.AllocsPerRun(100, func() {
		sum += TLPBytes(4, Shape{Header: RequestHeader(1 << 40), Payload: RequestPiece(1<<40, 300, 256)})
		sum += int64(CompletionPiece(model.PA(sum), 300, 64, 256, SplitRandom, uint64(sum)))
		if !account.Lacks(DataCredits(64)) && MayPass(&later, &earlier) != No {
			account.Take(4)
		}
		receiver.Take(sender.Next(), false)
		sender.Ack(receiver.Last())
		sender.Nak(receiver.Last())
		sender.Timeout()
		allocation.Return(4)
		account.Update(allocation.Field())
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
