package iommu

import (
	"math"
	"math/rand/v2"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// Random reads of 64 B, one at a time, over windows of 4 KiB pages: what the
// IOMMU adds on average is within 12 ns of [pcie-bench], Broadwell, cold
// (average with the IOMMU on less average with it off).
func TestAverageOfPublishedWindows(t *testing.T) {
	for _, tc := range []struct {
		pages    int
		measured float64 // ns
	}{
		{64, -9.5}, // off: 499.5, on: 490.0
		{128, 514.6 - 487.4}, {256, 646.4 - 487.5}, {384, 690.8 - 487.5}, {512, 713.4 - 487.4},
		{1024, 746.9 - 487.5}, {4096, 770.2 - 488.2}, {16384, 776.8 - 488.4},
	} {
		b := oneProcess(t, defaultSpec(t), 1)
		b.mapPages(0, 0, 1<<30, tc.pages, 0)
		g := rand.New(rand.NewPCG(1, uint64(tc.pages)))
		const warm, n = 3000, 5000
		ledgers := make([]measure.Ledger, warm+n)
		for i := range ledgers {
			at := clocked.Time(i+1) * 3000 * ns
			ledgers[i].Open(at - hop)
			m := read(model.VA(g.IntN(tc.pages))<<12, 1, uint64(i%1024))
			m.Ledger = &ledgers[i]
			b.roots[0].send(at, m)
		}
		b.run()
		sum := clocked.Time(0)
		for i := range ledgers[warm:] {
			sum += ledgers[warm+i].Causes[measure.CauseIOMMU]
		}
		if mean := float64(sum) / n / float64(ns); math.Abs(mean-tc.measured) > 12 {
			t.Errorf("%d pages: %.1f ns on average, measured %.1f", tc.pages, mean, tc.measured)
		}
	}
}
