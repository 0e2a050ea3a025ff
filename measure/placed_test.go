package measure

import (
	"strings"
	"testing"

	"rnicmmu/model"
)

// Semantics §9, identity 6: a completed access had each of its bytes executed
// once, one that failed had none twice; an atomic moves no counted bytes.
func TestAnAccessPlacedShortOrTwiceIsNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		op     model.Op
		status Status
		placed uint32
		broken bool
	}{
		{"whole", model.OpWrite, StatusOK, 100, false},
		{"short", model.OpRead, StatusOK, 99, true},
		{"twice", model.OpSend, StatusOK, 200, true},
		{"failed in the middle", model.OpWrite, StatusFlushed, 60, false},
		{"failed, a packet twice", model.OpWrite, StatusFlushed, 101, true},
		{"atomic", model.OpFetchAdd, StatusOK, 0, false},
	} {
		s := feed(New(), []Access{{ID: 5, Op: c.op, Status: c.status, Len: 100, Placed: c.placed}}, nil)
		if got := len(s.Violations) == 1; got != c.broken || got && (s.Violations[0].Rule != RulePlaced ||
			!strings.HasPrefix(s.Violations[0].What, "access 5:")) {
			t.Errorf("%s: violations %+v", c.name, s.Violations)
		}
	}
}
