package platform

import (
	"context"
	"testing"

	"rnicmmu/measure"
)

// The default run, per access.
func BenchmarkDefault(b *testing.B) {
	spec := load(b, "workload.accesses=300000")
	b.ReportAllocs()
	for b.Loop() {
		sys, err := New([]Spec{spec}, nil)
		if err != nil {
			b.Fatal(err)
		}
		rec := measure.New()
		sum, err := sys.Run(context.Background(), rec, nil)
		if err != nil {
			b.Fatal(err)
		}
		rec.Finish(sum)
	}
	b.ReportMetric(float64(spec.Workload.Accesses)*float64(b.N)/b.Elapsed().Seconds(), "accesses/s")
}
