package main

import (
	"fmt"
	"io"
	"sort"
	"text/tabwriter"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/platform"
)

// printSummary writes what a person asks first: how many, how fast, where the
// time went, what was broken. What there was none of is left out.
func printSummary(w io.Writer, s *measure.Summary, spec *platform.Spec) {
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
	fmt.Fprintf(t, "\nsimulated\t%s", human(s.SimulatedPS))
	if a.Completed > 0 {
		fmt.Fprintf(t, "\t(%s accesses a second of it)\n", prefixed(rate(a.Completed, s)))
		fmt.Fprintf(t, "latency\tmean %s, p50 %s, p99 %s, p99.9 %s, max %s", human(l.Mean), human(l.P50), human(l.P99), human(l.P999), human(l.Max))
	}
	fmt.Fprintln(t)
	printTenants(t, s)
	printTranslation(t, s, spec)
	printPaging(t, s)
	printLinks(t, s)
	fmt.Fprintf(t, "wall time\t%.2f s, %.0f accesses a second\n", s.WallS, s.AccessesPerWallS)
	if !s.Interrupted {
		fmt.Fprintf(t, "result hash\t%s\n", s.ResultHash)
	}
	t.Flush()
	printCauses(w, s)
	printWarnings(w, s, spec)
}

// printTenants writes a line a tenant where there are several.
func printTenants(t io.Writer, s *measure.Summary) {
	for i := range s.Tenants {
		x := &s.Tenants[i]
		fmt.Fprintf(t, "tenant %d\t%d completed", i, x.Completed)
		if x.Completed > 0 {
			fmt.Fprintf(t, ", p50 %s, p99 %s", human(x.LatencyPS.P50), human(x.LatencyPS.P99))
		}
		if x.MTT.Lookups > 0 {
			fmt.Fprintf(t, "; %s of %d look-ups missed", percent(x.MTT.Misses, x.MTT.Lookups), x.MTT.Lookups)
		}
		fmt.Fprintln(t)
	}
}

// printTranslation writes how the caches of translations fared.
func printTranslation(t io.Writer, s *measure.Summary, spec *platform.Spec) {
	line := func(name, walked string, lookups, misses, walks uint64) {
		if lookups == 0 {
			return
		}
		fmt.Fprintf(t, "%s\t%d look-ups, %s missed", name, lookups, percent(misses, lookups))
		if misses > 0 {
			fmt.Fprintf(t, ": %s walked the %s", percent(walks, lookups), walked)
		}
		if misses > walks {
			fmt.Fprint(t, ", the others joined a walk")
		}
		fmt.Fprintln(t)
	}
	name, walked := "MTT cache", "table"
	switch sva := adaptersUnder(spec, "sva"); {
	case sva == max(1, spec.Adapters.Count):
		name, walked = "ATC", "page table by ATS" // the cache on the device, of the IOMMU's answers
	case sva > 0:
		name = "MTT cache, ATC"
	}
	m, u := &s.TPT.MTT, &s.IOMMU
	line(name, walked, m.Lookups, m.Misses, m.Walks)
	line("IOTLB", "page table", u.IOTLB.Lookups, u.IOTLB.Misses, u.Walks)
}

// adaptersUnder counts the adapters under a scheme.
func adaptersUnder(spec *platform.Spec, scheme string) int {
	n := 0
	for i := range max(1, spec.Adapters.Count) {
		its := spec.Scheme
		if i < len(spec.Adapters.Overrides) {
			for _, set := range spec.Adapters.Overrides[i] {
				if set.Key == "scheme" {
					its = set.Value
				}
			}
		}
		if its == scheme {
			n++
		}
	}
	return n
}

// printPaging writes faults, invalidations and registrations.
func printPaging(t io.Writer, s *measure.Summary) {
	if f := &s.Faults; f.Raised > 0 {
		fmt.Fprintf(t, "faults\t%d raised; for them %d CPU faults without a read of swap (minor), %d with one (major)", f.Raised, f.Minor, f.Major)
		if done := f.Minor + f.Major; done < f.Raised {
			fmt.Fprintf(t, ";\n\tthe other %d met a page already mapped or on its way", f.Raised-done)
		}
		fmt.Fprintf(t, "\nswap\t%d pages in, %d out\n", f.SwappedInPages, f.SwappedOutPages)
	}
	if v := &s.Invalidations; v.Issued > 0 {
		fmt.Fprintf(t, "invalidations\t%d; acknowledged after p50 %s, p99 %s; frame free after p50 %s, p99 %s; stale DMA %d\n", v.Issued,
			human(v.RoundTripPS.P50), human(v.RoundTripPS.P99), human(v.WholePS.P50), human(v.WholePS.P99), v.StaleDMA)
	}
	if n := s.Invalidations.DeadAdapters; n > 0 {
		fmt.Fprintf(t, "adapters cut off\t%d: no answer to a command within host.notifier.timeout or host.iommu.ats_timeout; %d invalidations timed out\n",
			n, s.Invalidations.TimedOut)
	}
	if r := &s.Registration; r.Registered+r.FastRegistered > 0 {
		fmt.Fprintf(t, "registration\t%d regions registered, %d let go, %d keys renewed; %d accesses found theirs\n",
			r.Registered, r.Deregistered, r.FastRegistered, r.CacheHits)
	}
	if r := &s.Registration; r.ChildrenMade > 0 {
		fmt.Fprintf(t, "children\t%d made of the implicit region, %d destroyed, %d resident at the end\n", r.ChildrenMade, r.ChildrenDestroyed, r.ChildrenResident)
	}
}

// printLinks writes what network and PCIe carried.
func printLinks(t io.Writer, s *measure.Summary) {
	x := &s.Transport
	if n := &x.RNRNaks; n.Moving+n.Paging+n.OverAdvertised+n.NoReceive > 0 {
		fmt.Fprintf(t, "RNR NAKs\t%d moving, %d paging, %d over-advertised, %d without a receive buffer; %d packets resent\n",
			n.Moving, n.Paging, n.OverAdvertised, n.NoReceive, x.PacketsResent)
	}
	if n := &x.TCPDrops; n.Moving+n.Paging+n.OverAdvertised > 0 {
		fmt.Fprintf(t, "TCP drops\t%d moving, %d paging, %d over-advertised; %d packets resent\n",
			n.Moving, n.Paging, n.OverAdvertised, x.PacketsResent)
	}
	if n := s.PCIe.Poisoned + s.TPT.TableErrors + x.ContextErrors; n > 0 {
		fmt.Fprintf(t, "bus errors\t%d poisoned writes dropped, %d table entries and %d queue-pair contexts not read\n",
			s.PCIe.Poisoned, s.TPT.TableErrors, x.ContextErrors)
	}
	fmt.Fprintf(t, "PCIe\t%s up, %s down\n", fraction(s.PCIe.Up.Utilisation), fraction(s.PCIe.Down.Utilisation))
	printLinkErrors(t, &s.PCIe)
	if u := s.PCIe.Upstream; u != nil {
		fmt.Fprintf(t, "PCIe above switches\t%s up, %s down\n", fraction(u.Up.Utilisation), fraction(u.Down.Utilisation))
	}
}

// printLinkErrors writes what the adapters' links and those above switches repaired,
// both directions added, and what no repair was for.
func printLinkErrors(t io.Writer, p *measure.PCIeSummary) {
	all := []*measure.LinkStats{&p.Up, &p.Down}
	if u := p.Upstream; u != nil {
		all = append(all, &u.Up, &u.Down)
	}
	var sum measure.LinkStats
	for _, l := range all {
		sum.Replayed, sum.Naks, sum.Recoveries = sum.Replayed+l.Replayed, sum.Naks+l.Naks, sum.Recoveries+l.Recoveries
	}
	if sum.Replayed+sum.Naks+sum.Recoveries+p.Timeouts > 0 {
		fmt.Fprintf(t, "PCIe errors\t%d TLPs sent again, %d Naks, %d retrainings, %d requests timed out\n",
			sum.Replayed, sum.Naks, sum.Recoveries, p.Timeouts)
	}
}

// printWarnings writes what is to be looked into.
func printWarnings(w io.Writer, s *measure.Summary, spec *platform.Spec) {
	for _, v := range s.Violations {
		fmt.Fprintf(w, "\nviolation %s at %s: %s\n", v.Rule, human(v.TimePS), v.What)
	}
	if s.Warning != "" {
		fmt.Fprintf(w, "\nwarning: %s\n", s.Warning)
	}
	if hint := failures(s, spec); hint != "" {
		fmt.Fprintf(w, "\nhint: %s\n", hint)
	}
	if s.Interrupted {
		fmt.Fprintln(w, "\ninterrupted: the figures cover what had finished")
	}
}

// failures says why more than half of the accesses failed, if so: by the status
// of most, but for those that a queue pair in error only flushed.
func failures(s *measure.Summary, spec *platform.Spec) string {
	a := &s.Accesses
	if a.Failed <= a.Completed {
		return ""
	}
	why := measure.StatusFlushed
	for status := range measure.NumStatuses {
		if n := a.FailedBy[status]; status != measure.StatusFlushed && n > 0 && (why == measure.StatusFlushed || n > a.FailedBy[why]) {
			why = status
		}
	}
	hint := fmt.Sprintf("%d of %d accesses failed, %d with %s", a.Failed, a.Failed+a.Completed, a.FailedBy[why], why)
	if n := a.FailedBy[measure.StatusFlushed]; n > 0 && why != measure.StatusFlushed {
		hint += fmt.Sprintf(", and %d behind such were flushed with their queue pair", n)
	}
	mmu := &spec.Host.IOMMU
	if why == measure.StatusRemoteOp && adaptersUnder(spec, "iommu") > 0 && mmu.Table == "process" && mmu.Absent == "abort" {
		hint += ": host.iommu.absent=abort fails the transfers of absent pages; retry makes the adapter come again"
	}
	return hint
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

// rate is n a simulated second.
func rate(n uint64, s *measure.Summary) float64 {
	if s.SimulatedPS == 0 {
		return 0
	}
	return float64(n) / float64(s.SimulatedPS) * 1e12
}

// prefixed prints a count with three digits and the SI prefix that leaves one to
// three before the point.
func prefixed(x float64) string {
	for _, prefix := range []string{"", " k", " M"} {
		if x < 999.5 {
			return fmt.Sprintf("%.3g%s", x, prefix)
		}
		x /= 1000
	}
	return fmt.Sprintf("%.3g G", x)
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
