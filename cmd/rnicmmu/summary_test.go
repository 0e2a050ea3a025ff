package main

import (
	"strings"
	"testing"

	"rnicmmu/measure"
)

// An adapter that was cut off is told to whoever reads the print, and only then.
func TestDeadAdapterIsPrinted(t *testing.T) {
	for dead, want := range map[uint64]bool{0: false, 2: true} {
		var s measure.Summary
		s.Invalidations.DeadAdapters = dead
		var out strings.Builder
		printSummary(&out, &s)
		if strings.Contains(out.String(), "adapters cut off") != want {
			t.Errorf("%d dead adapters:\n%s", dead, out.String())
		}
	}
}
