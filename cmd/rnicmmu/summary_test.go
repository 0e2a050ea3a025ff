package main

import (
	"bytes"
	"strings"
	"testing"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/platform"
	"rnicmmu/sweep"
)

func printed(s *measure.Summary, spec *platform.Spec) string {
	var out bytes.Buffer
	printSummary(&out, s, spec)
	return out.String()
}

// Three digits and a prefix at any size, never 0.00 for what is not 0.
func TestRatesHaveThreeDigits(t *testing.T) {
	for want, x := range map[string]float64{"0": 0, "0.25": 0.25, "75.3": 75.3, "147": 147.2, "1 k": 999.7, "23.1 k": 23_100,
		"13 M": 13e6, "1 M": 999_900, "2.5 G": 2.5e9} {
		if got := prefixed(x); got != want {
			t.Errorf("%g: %q, want %q", x, got, want)
		}
	}
}

// Without a completed access there is no latency and no rate, and a hint names
// the status that broke the queue pairs and, for absent pages, the parameter.
func TestSummaryOfARunThatFailed(t *testing.T) {
	s := &measure.Summary{SimulatedPS: 1e6}
	s.Accesses.Issued, s.Accesses.Failed = 3000, 3000
	s.Accesses.FailedBy[measure.StatusRemoteOp], s.Accesses.FailedBy[measure.StatusFlushed] = 16, 2984
	spec := &platform.Spec{Scheme: "iommu"}
	spec.Host.IOMMU.Table, spec.Host.IOMMU.Absent = "process", "abort"
	got := printed(s, spec)
	for _, no := range []string{"latency", "a second of it", "look-ups", "faults", "0 %", "bus errors"} {
		if strings.Contains(strings.ReplaceAll(got, "0.0 %", ""), no) {
			t.Errorf("says %q of nothing:\n%s", no, got)
		}
	}
	for _, want := range []string{"hint: 3000 of 3000 accesses failed, 16 with remote_operational_error", "2984 behind", "host.iommu.absent"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	spec.Scheme = "odp"
	if got := printed(s, spec); strings.Contains(got, "host.iommu") || !strings.Contains(got, "hint:") {
		t.Errorf("names the IOMMU under odp, or gives no hint:\n%s", got)
	}
	s.Accesses.Completed = 3000 // half failed
	if got := printed(s, spec); strings.Contains(got, "hint:") || !strings.Contains(got, "latency") {
		t.Errorf("a hint, or no latency:\n%s", got)
	}
}

// The cache is called what it is under the adapters' schemes; what no fault was
// counted for is said; both times of an invalidation have their name.
func TestSummaryInTheRightWords(t *testing.T) {
	s := &measure.Summary{SimulatedPS: 1e12}
	s.Accesses.Completed = 147
	s.TPT.MTT.Lookups, s.TPT.MTT.Misses, s.TPT.MTT.Walks = 200, 100, 90
	s.Faults = measure.FaultSummary{Raised: 530, Minor: 512}
	s.PCIe.Poisoned, s.TPT.TableErrors, s.Transport.ContextErrors = 3, 4, 5
	s.Invalidations = measure.InvalidationSummary{Issued: 1, RoundTripPS: measure.Quantiles{P50: 3e6}, WholePS: measure.Quantiles{P50: 5e6}}
	spec := &platform.Spec{Scheme: "sva", Adapters: model.Replicas{Count: 2}}
	got := printed(s, spec)
	for _, want := range []string{"(147 accesses a second", "\nATC ", "50.0 % missed: 45.0 % walked", "530 raised; for them 512", "the other 18 met",
		"3 poisoned writes dropped, 4 table entries and 5 queue-pair contexts not read",
		"acknowledged after p50 3 µs", "frame free after p50 5 µs"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	spec.Adapters.Overrides = [][]model.Setting{{{Key: "scheme", Value: "odp"}}, nil}
	if got := printed(s, spec); !strings.Contains(got, "\nMTT cache, ATC ") {
		t.Errorf("odp beside sva:\n%s", got)
	}
	spec.Scheme, spec.Adapters.Overrides = "pinned", nil
	s.Faults.Major = 18
	if got := printed(s, spec); !strings.Contains(got, "\nMTT cache ") || strings.Contains(got, "ATC") || strings.Contains(got, "the other 18") {
		t.Errorf("pinned:\n%s", got)
	}
}

// A sweep with tenants prints the victim's own columns; a point without results
// has its status.
func TestPointsOfTenants(t *testing.T) {
	done := &measure.Summary{SimulatedPS: 1e12, Tenants: make([]measure.TenantStats, 2)}
	done.Accesses.Completed = 75
	done.Accesses.LatencyPS.P99 = 9e6
	done.Victim = measure.TenantStats{Completed: 40, LatencyPS: measure.Quantiles{P99: 4e6}, MTT: measure.TenantCache{Lookups: 8, Misses: 2}}
	point := func(v string) sweep.Point { return sweep.Point{Settings: []model.Setting{{Key: "seed", Value: v}}} }
	plan := &sweep.Plan{Points: []sweep.Point{point("1"), point("2")}}
	for _, tenants := range []bool{true, false} {
		if !tenants {
			done.Tenants = nil
		}
		var out bytes.Buffer
		plan.Experiment = &configs.Experiment{Axes: []configs.Axis{{Key: "seed"}}}
		printPoints(&out, plan, []sweep.Result{{Status: "ok", Summary: done}, {Status: "refused"}})
		got := out.String()
		for _, want := range []string{"victim p99", "4 µs", "25.0 %", "  40  "} {
			if strings.Contains(got, want) != tenants {
				t.Errorf("tenants %v: %q in\n%s", tenants, want, got)
			}
		}
		for _, want := range []string{"9 µs", "  75  ", "refused\n", "not ready/1000"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	}
}

// What links repaired is one line, of all directions, and none without any.
func TestLinkErrorsArePrinted(t *testing.T) {
	var s measure.Summary
	if got := printed(&s, &platform.Spec{}); strings.Contains(got, "PCIe errors") {
		t.Errorf("errors of none:\n%s", got)
	}
	s.PCIe.Up, s.PCIe.Down = measure.LinkStats{Replayed: 200, Naks: 20}, measure.LinkStats{Replayed: 40, Naks: 3, Recoveries: 1}
	s.PCIe.Upstream = &measure.UpstreamLinks{Up: measure.LinkStats{Replayed: 5}, Down: measure.LinkStats{Replayed: 3, Naks: 4}}
	s.PCIe.Timeouts = 2
	const want = "248 TLPs sent again, 27 Naks, 1 retrainings, 2 requests timed out\n"
	if got := printed(&s, &platform.Spec{}); !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// An adapter that was cut off is told to whoever reads the print, and only then.
func TestDeadAdapterIsPrinted(t *testing.T) {
	for dead, want := range map[uint64]bool{0: false, 2: true} {
		var s measure.Summary
		s.Invalidations.DeadAdapters = dead
		if got := printed(&s, &platform.Spec{}); strings.Contains(got, "adapters cut off") != want {
			t.Errorf("%d dead adapters:\n%s", dead, got)
		}
	}
}
