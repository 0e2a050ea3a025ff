package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"rnicmmu/measure"
	"rnicmmu/sweep"
)

// mostPrinted is the points of a sweep that a person still reads as a table.
const mostPrinted = 200

// pointColumns are what a sweep prints of a point with results.
var pointColumns = []struct {
	head   string
	victim bool // of the first of several tenants
	cell   func(s *measure.Summary) string
}{
	{"p50", false, func(s *measure.Summary) string { return human(s.Accesses.LatencyPS.P50) }},
	{"p99", false, func(s *measure.Summary) string { return human(s.Accesses.LatencyPS.P99) }},
	{"p99.9", false, func(s *measure.Summary) string { return human(s.Accesses.LatencyPS.P999) }},
	{"accesses/s", false, func(s *measure.Summary) string { return prefixed(rate(s.Accesses.Completed, s)) }},
	{"victim p50", true, func(s *measure.Summary) string { return human(s.Victim.LatencyPS.P50) }},
	{"victim p99", true, func(s *measure.Summary) string { return human(s.Victim.LatencyPS.P99) }},
	{"victim missed", true, func(s *measure.Summary) string { return percent(s.Victim.MTT.Misses, s.Victim.MTT.Lookups) }},
	{"victim accesses/s", true, func(s *measure.Summary) string { return prefixed(rate(s.Victim.Completed, s)) }},
	{"PCIe B/B", false, func(s *measure.Summary) string {
		return fmt.Sprintf("%.2f", float64(s.PCIe.Up.Bytes+s.PCIe.Down.Bytes)/float64(max(1, s.Accesses.Bytes)))
	}},
	{"not ready/1000", false, func(s *measure.Summary) string {
		return fmt.Sprintf("%.0f", 1000*float64(notReady(&s.Transport))/float64(s.Accesses.Completed))
	}},
	{"sent again", false, func(s *measure.Summary) string { return percent(s.Transport.PacketsResent, s.Transport.PacketsSent) }},
}

// printPoints writes a row a point: where it lies on the axes, its latency,
// throughput, what the victim of several tenants met, and what the link and the
// network carried in vain.
func printPoints(w io.Writer, plan *sweep.Plan, results []sweep.Result) {
	if len(results) > mostPrinted {
		return
	}
	tenants := slices.ContainsFunc(results, func(r sweep.Result) bool { return r.Summary != nil && len(r.Summary.Tenants) > 0 })
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var head []string
	for _, a := range plan.Experiment.Axes {
		head = append(head, a.Key)
	}
	for _, c := range pointColumns {
		if tenants || !c.victim {
			head = append(head, c.head)
		}
	}
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for i := range results {
		var cells []string
		for _, s := range plan.Points[i].Settings {
			cells = append(cells, s.Value)
		}
		fmt.Fprintln(t, strings.Join(append(cells, pointCells(&results[i], tenants)...), "\t"))
	}
	t.Flush()
}

// pointCells are a point's columns; without a completed access, its status.
func pointCells(r *sweep.Result, tenants bool) []string {
	s := r.Summary
	switch {
	case s == nil:
		return []string{r.Status}
	case s.Accesses.Completed == 0:
		return []string{"none completed"}
	}
	var cells []string
	for _, c := range pointColumns {
		switch {
		case c.victim && !tenants:
		case c.victim && s.Victim.Completed == 0:
			cells = append(cells, "none")
		default:
			cells = append(cells, c.cell(s))
		}
	}
	return cells
}

// notReady counts RNR NAKs and dropped TCP segments for pages that were not there.
func notReady(t *measure.TransportSummary) uint64 {
	n, d := &t.RNRNaks, &t.TCPDrops
	return n.Moving + n.Paging + n.OverAdvertised + d.Moving + d.Paging + d.OverAdvertised
}
