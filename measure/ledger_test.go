package measure

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
)

// A ledger that is charged, split into parts and joined with the last part
// always sums to the time from its opening to its last charge.
func TestLedgerAlwaysSumsToItsElapsedTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opened := clocked.Time(rapid.Int64Range(0, 1e12).Draw(t, "open"))
		now := opened
		var whole Ledger
		whole.Open(opened)
		charge := func(l *Ledger, at clocked.Time) clocked.Time {
			at += clocked.Time(rapid.Int64Range(0, 1e9).Draw(t, "wait"))
			l.Charge(at, Cause(rapid.IntRange(0, int(NumCauses)-1).Draw(t, "cause")))
			return at
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			if !rapid.Bool().Draw(t, "split") {
				now = charge(&whole, now)
				continue
			}
			var last Ledger
			for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
				var part Ledger
				part.Open(now)
				for at, n := now, rapid.IntRange(0, 4).Draw(t, "charges"); n > 0; n-- {
					at = charge(&part, at)
				}
				if i == 0 || part.Last > last.Last {
					last = part
				}
			}
			whole.Join(&last)
			now = last.Last
		}
		if whole.Last != now || whole.Sum() != now-opened {
			t.Fatalf("sum %d, last %d; want %d, %d", whole.Sum(), whole.Last, now-opened, now)
		}
	})
}

func TestCausesAreNamedAndDocumentedOnce(t *testing.T) {
	seen := map[string]bool{}
	for c := range NumCauses {
		if c.String() == "" || c.Doc() == "" || seen[c.String()] {
			t.Errorf("cause %d: name %q, doc %q", c, c.String(), c.Doc())
		}
		seen[c.String()] = true
	}
}
