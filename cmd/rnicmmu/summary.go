package main

import (
	"fmt"
	"io"
	"sort"
	"text/tabwriter"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// printSummary writes what a person asks first: how many, how fast, where the
// time went, what was broken.
func printSummary(w io.Writer, s *measure.Summary) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	a, l := &s.Accesses, &s.Accesses.LatencyPS
	fmt.Fprintf(t, "accesses\t%d completed, %d failed, of %d issued", a.Completed, a.Failed, a.Issued)
	if a.Warmup > 0 {
		fmt.Fprintf(t, ", after a warm-up of %d", a.Warmup)
	}
	for status := range measure.NumStatuses {
		if n := a.FailedBy[status]; n > 0 {
			fmt.Fprintf(t, "\n\t%d failed: %s", n, status)
		}
	}
	fmt.Fprintf(t, "\nsimulated\t%s\t(%.2f M accesses a second of it)\n", human(s.SimulatedPS), rate(s))
	fmt.Fprintf(t, "latency\tmean %s, p50 %s, p99 %s, p99.9 %s, max %s\n", human(l.Mean), human(l.P50), human(l.P99), human(l.P999), human(l.Max))
	m := &s.TPT.MTT
	fmt.Fprintf(t, "MTT cache\t%d look-ups, %s missed: %s walked the table, the others joined a walk\n", m.Lookups,
		percent(m.Misses, m.Lookups), percent(m.Walks, m.Lookups))
	if f := &s.Faults; f.Raised > 0 {
		fmt.Fprintf(t, "faults\t%d raised (%d minor, %d major), %d pages swapped in, %d out\n", f.Raised, f.Minor, f.Major, f.SwappedInPages, f.SwappedOutPages)
	}
	if v := &s.Invalidations; v.Issued > 0 {
		fmt.Fprintf(t, "invalidations\t%d, round trip p50 %s, p99 %s; stale DMA %d\n", v.Issued, human(v.RoundTripPS.P50), human(v.RoundTripPS.P99), v.StaleDMA)
	}
	if n := s.Invalidations.DeadAdapters; n > 0 {
		fmt.Fprintf(t, "adapters cut off\t%d: no answer to a command within host.notifier.timeout or host.iommu.ats_timeout; %d invalidations timed out\n",
			n, s.Invalidations.TimedOut)
	}
	if r := &s.Registration; r.Registered+r.FastRegistered > 0 {
		fmt.Fprintf(t, "registration\t%d regions registered, %d let go, %d keys renewed; %d accesses found theirs\n",
			r.Registered, r.Deregistered, r.FastRegistered, r.CacheHits)
	}
	if n := s.Transport.RNRNaks; n.Moving+n.Paging+n.OverAdvertised+n.NoReceive > 0 {
		fmt.Fprintf(t, "RNR NAKs\t%d moving, %d paging, %d over-advertised, %d without a receive buffer; %d packets resent\n",
			n.Moving, n.Paging, n.OverAdvertised, n.NoReceive, s.Transport.PacketsResent)
	}
	fmt.Fprintf(t, "PCIe\t%s up, %s down\n", fraction(s.PCIe.Up.Utilisation), fraction(s.PCIe.Down.Utilisation))
	fmt.Fprintf(t, "wall time\t%.2f s, %.0f accesses a second\n", s.WallS, s.AccessesPerWallS)
	if !s.Interrupted {
		fmt.Fprintf(t, "result hash\t%s\n", s.ResultHash)
	}
	t.Flush()
	printCauses(w, s)
	for _, v := range s.Violations {
		fmt.Fprintf(w, "\nviolation %s at %s: %s\n", v.Rule, human(v.TimePS), v.What)
	}
	if s.Warning != "" {
		fmt.Fprintf(w, "\nwarning: %s\n", s.Warning)
	}
	if s.Interrupted {
		fmt.Fprintln(w, "\ninterrupted: the figures cover what had finished")
	}
}

// printCauses lists where the mean access spent its time, the largest first.
func printCauses(w io.Writer, s *measure.Summary) {
	if s.Accesses.Completed == 0 {
		return
	}
	causes := make([]measure.Cause, 0, measure.NumCauses)
	for c := range measure.NumCauses {
		if s.Accesses.CausePS[c] > 0 {
			causes = append(causes, c)
		}
	}
	sort.SliceStable(causes, func(i, j int) bool {
		return s.Accesses.CausePS[causes[i]] > s.Accesses.CausePS[causes[j]]
	})
	fmt.Fprintln(w, "\nwhere the mean access spent its time:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, c := range causes {
		total := s.Accesses.CausePS[c]
		fmt.Fprintf(t, "  %s\t%s\t  %s\n", human(total/clocked.Time(s.Accesses.Completed)),
			percent(uint64(total), uint64(s.Accesses.LatencyPS.Total)), c)
	}
	t.Flush()
}

func rate(s *measure.Summary) float64 {
	if s.SimulatedPS == 0 {
		return 0
	}
	return float64(s.Accesses.Completed) / float64(s.SimulatedPS) * 1e6
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "0 %"
	}
	return fraction(float64(part) / float64(whole))
}

func fraction(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// human prints a time with the unit that leaves one to three digits before the
// point.
func human(t clocked.Time) string {
	for _, u := range []struct {
		unit clocked.Time
		name string
	}{{clocked.Second, "s"}, {clocked.Millisecond, "ms"}, {clocked.Microsecond, "µs"}, {clocked.Nanosecond, "ns"}} {
		if t >= u.unit {
			return fmt.Sprintf("%.4g %s", float64(t)/float64(u.unit), u.name)
		}
	}
	return fmt.Sprintf("%d ps", int64(t))
}
