package plots

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// point is one row of a made-up sweep; a nil summary is a point without result.
type point struct {
	axes    []string
	status  string
	summary *measure.Summary
}

// writeSweep writes a sweep folder as the sweep command does.
func writeSweep(t testing.TB, dir string, axes []string, points []point, manifest map[string]any) {
	t.Helper()
	names, _ := measure.Flatten(measure.Summary{})
	head := append(append(append([]string{}, axes...), "status"), names...)
	records := [][]string{append(head, "point", "error")}
	for i, p := range points {
		values := make([]string, len(names))
		problem := "memory that cannot be pinned"
		if p.summary != nil {
			_, values = measure.Flatten(*p.summary)
			problem = ""
		}
		row := append(append(append([]string{}, p.axes...), p.status), values...)
		records = append(records, append(row, fmt.Sprintf("%016x", i), problem))
	}
	f, err := os.Create(filepath.Join(dir, SweepFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := csv.NewWriter(f).WriteAll(records); err != nil {
		t.Fatal(err)
	}
	if manifest == nil {
		return
	}
	data, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, measure.ManifestFile), data, 0o666); err != nil {
		t.Fatal(err)
	}
}

var sampleManifest = map[string]any{
	"tool": "rnicmmu", "version": "0.1.0", "commit": "0123456789abcdef-dirty", "experiment": "tlb-size",
	"title": "Size of the translation cache", "config_hash": "9c1f20aa03de4471", "seed": 1,
	"trace": "traces/redis.csv.gz", "trace_hash": "5f3c99aa01234567", "axes": []string{"tpt.mtt.entries"},
}

const sampleAccesses = 20000

// sample is a summary whose causes add up to n times the mean.
func sample(missRate, faultsPerAccess float64) *measure.Summary {
	s := &measure.Summary{SimulatedPS: clocked.Time(sampleAccesses * (2e5 + 1.2e5*missRate + 4e6*faultsPerAccess))}
	n := float64(sampleAccesses)
	s.Accesses.Issued, s.Accesses.Completed = sampleAccesses, sampleAccesses
	s.TPT.MTT.Lookups = sampleAccesses * 2
	s.TPT.MTT.Misses = uint64(missRate * n * 2)
	s.TPT.MTT.Walks = s.TPT.MTT.Misses * 3 / 4
	s.TPT.MTT.Merged = s.TPT.MTT.Misses - s.TPT.MTT.Walks
	s.TPT.MTT.Hits = s.TPT.MTT.Lookups - s.TPT.MTT.Misses
	s.Faults.Raised = uint64(faultsPerAccess * n)
	s.Invalidations.Issued = uint64(faultsPerAccess * n * 0.9)
	s.Invalidations.Acknowledged = s.Invalidations.Issued
	for step := range measure.NumSteps {
		s.Invalidations.StepPS[step] = clocked.Time(step+1) * clocked.Time(s.Invalidations.Issued) * 1e6
	}
	s.Invalidations.HazardPS = measure.Quantiles{P50: 4e5, P99: 9e5, Max: clocked.Time(1e6 + 1e7*faultsPerAccess)}
	s.Faults.Refaults = s.Faults.Raised / 3
	s.IOMMU.WindowPS = measure.Quantiles{P50: 7e5, P99: 9e5, Max: clocked.Time(1e8 * faultsPerAccess)}
	s.Accesses.Bytes = 64 * sampleAccesses
	s.PCIe.Up.Bytes, s.PCIe.Down.Bytes = 100*sampleAccesses, 20*sampleAccesses
	s.Transport.PacketsSent, s.Transport.PacketsResent = 2*sampleAccesses, uint64(faultsPerAccess*n/2)
	s.Transport.RNRNaks.Paging = s.Faults.Raised
	mean := map[measure.Cause]float64{
		measure.CausePost: 180e3, measure.CauseNetwork: 900e3, measure.CauseResponder: 40e3, measure.CauseQPC: 2e3,
		measure.CauseTranslate: 12e3, measure.CauseMPTMiss: 3e3, measure.CauseMTTMiss: 620e3 * missRate,
		measure.CauseMSHR: 80e3 * missRate * missRate, measure.CauseDMAQueue: 30e3, measure.CausePCIe: 210e3,
		measure.CauseHostMemory: 90e3, measure.CauseCompletion: 150e3,
		measure.CauseFault: 8e7 * faultsPerAccess, measure.CauseRNRWait: 6e8 * faultsPerAccess * faultsPerAccess,
	}
	total := 0.0
	for c, v := range mean {
		s.Accesses.CausePS[c] = clocked.Time(v * n)
		total += float64(clocked.Time(v * n))
	}
	l := &s.Accesses.LatencyPS
	l.Mean, l.Total = clocked.Time(total/n), clocked.Time(total)
	l.P50 = clocked.Time(1.45e6 + 5e5*missRate + 9e6*math.Pow(faultsPerAccess, 0.8))
	l.P99 = clocked.Time(2.1e6 + 9e5*math.Sqrt(missRate) + 4e9*math.Pow(faultsPerAccess, 1.1))
	l.P999 = l.P99*2 + 1e6
	l.Max = l.P999 * 3
	return s
}

// tlbSweep has one axis of entries.
func tlbSweep(t testing.TB, dir string) {
	var points []point
	for entries := 64; entries <= 65536; entries *= 2 {
		miss := 0.02 + 0.78/(1+math.Pow(float64(entries)/2500, 1.6))
		points = append(points, point{[]string{fmt.Sprint(entries)}, "ok", sample(miss, 0)})
	}
	writeSweep(t, dir, []string{"tpt.mtt.entries"}, points, sampleManifest)
}

// pagingSweep crosses schemes with overcommit; pinned is refused above 1.
func pagingSweep(t testing.TB, dir string, schemes ...string) {
	var points []point
	for k, scheme := range schemes {
		for _, o := range []float64{0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4} {
			p := point{[]string{scheme, fmt.Sprint(o)}, "ok", sample(0.2, 0)}
			switch {
			case scheme == "pinned" && o > 1:
				p.status, p.summary = "refused", nil
			case scheme != "pinned":
				p.summary = sample(0.25, math.Max(0.0004, 0.06*(o-0.9)*float64(k)))
			}
			if p.summary != nil {
				p.summary.CPU.Accesses, p.summary.CPU.StallPS = 1000, clocked.Time(1e8*o*o)
				p.summary.Transport.RNRNaks.OverAdvertised = 1
				p.summary.Victim = measure.TenantStats{Completed: sampleAccesses / 2, LatencyPS: p.summary.Accesses.LatencyPS}
			}
			points = append(points, p)
		}
	}
	m := map[string]any{}
	for k, v := range sampleManifest {
		m[k] = v
	}
	m["experiment"], m["title"] = "paging-pressure", "Latency under paging pressure"
	delete(m, "trace")
	delete(m, "trace_hash")
	writeSweep(t, dir, []string{"scheme", "pressure.overcommit"}, points, m)
	first := filepath.Join(dir, "points", fmt.Sprintf("%016x", 0))
	if err := os.MkdirAll(first, 0o777); err != nil {
		t.Fatal(err)
	}
	config := []byte("workload:\n  access_bytes: 64B\n")
	if err := os.WriteFile(filepath.Join(first, measure.ConfigFile), config, 0o666); err != nil {
		t.Fatal(err)
	}
}
