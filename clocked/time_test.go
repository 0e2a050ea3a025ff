package clocked

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestDomainEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Freq(rapid.Int64Range(1, int64(Second)).Draw(t, "Hz"))
		d := NewDomain(f)
		// The period is the nearest whole picosecond: |period·f − 10^12| ≤ f/2.
		off := int64(d.Period())*int64(f) - int64(Second)
		if 2*max(off, -off) > int64(f) {
			t.Fatalf("%d Hz: period %d ps", f, d.Period())
		}
		now := Time(rapid.Int64Range(0, 1<<60).Draw(t, "now"))
		edge := d.Edge(now)
		if edge < now || edge >= now+d.Period() || edge%d.Period() != 0 {
			t.Fatalf("edge %d of %d, period %d", edge, now, d.Period())
		}
		if d.Next(now) != d.Edge(now+1) {
			t.Fatalf("next edge %d after %d, period %d", d.Next(now), now, d.Period())
		}
	})
}

// Every picosecond of the first 4096 seconds survives Akita's float seconds: half
// a unit in the last place is there at most 2^-42 s, 0.23 ps.
func TestSecondsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := Time(rapid.Int64Range(0, 4096*int64(Second)).Draw(t, "ps"))
		if back := FromSeconds(now.Seconds()); back != now {
			t.Fatalf("%d ps came back as %d", now, back)
		}
	})
}

func TestTimeString(t *testing.T) {
	for want, at := range map[string]Time{"0.000ns": 0, "1.250ns": 1250, "-0.001ns": -1, "-2.003ns": -2003} {
		if got := at.String(); got != want {
			t.Errorf("%d ps prints %s, want %s", int64(at), got, want)
		}
	}
}

// A serializer against exact rational arithmetic.
func TestSerializerIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.Int64Range(1, 100_000).Draw(t, "num")
		den := rapid.Int64Range(1, 10_000).Draw(t, "den")
		s := NewSerializer(num, den)
		free := new(big.Rat)
		now := Time(0)
		for range rapid.IntRange(1, 40).Draw(t, "sends") {
			now += Time(rapid.Int64Range(0, 200_000).Draw(t, "later"))
			bytes := rapid.Int64Range(0, 5000).Draw(t, "bytes")
			if arrival := new(big.Rat).SetInt64(int64(now)); free.Cmp(arrival) < 0 {
				free = arrival
			}
			wantStart := floor(free)
			free.Add(free, big.NewRat(bytes*num, den))
			wantEnd := floor(free)
			if !free.IsInt() {
				wantEnd++
			}
			if start, end := s.Send(now, bytes); start != wantStart || end != wantEnd || s.Free() != floor(free) {
				t.Fatalf("at %d: %d to %d, free %d; exactly %d to %d, free %s", now, start, end, s.Free(), wantStart, wantEnd, free)
			}
		}
	})
}

func floor(r *big.Rat) Time { return Time(new(big.Int).Quo(r.Num(), r.Denom()).Int64()) }
