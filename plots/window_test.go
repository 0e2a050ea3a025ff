package plots

import (
	"strings"
	"testing"
)

// The window is drawn where pages left a DMA domain, and nowhere else.
func TestWindowFigure(t *testing.T) {
	for _, faults := range []float64{0, 0.1} {
		dir := t.TempDir()
		writeSweep(t, dir, []string{"seed"}, []point{{[]string{"1"}, "ok", sample(0.2, faults)}, {[]string{"2"}, "ok", sample(0.2, 0)}}, nil)
		figures, err := sweepFigures(dir, Options{})
		if got := strings.Contains(namesOf(figures), "window"); err != nil || got != (faults > 0) {
			t.Errorf("%g faults an access: drawn %v, %v", faults, got, err)
		}
	}
}
