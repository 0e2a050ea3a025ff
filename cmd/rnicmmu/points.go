package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"rnicmmu/measure"
	"rnicmmu/sweep"
)

// mostPrinted is the points of a sweep that a person still reads as a table.
const mostPrinted = 200

// printPoints writes a row a point: where it lies on the axes, its latency,
// throughput, and what the link and the network carried in vain.
func printPoints(w io.Writer, plan *sweep.Plan, results []sweep.Result) {
	if len(results) > mostPrinted {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, a := range plan.Experiment.Axes {
		fmt.Fprintf(t, "%s\t", a.Key)
	}
	fmt.Fprintln(t, "p50\tp99\tp99.9\tM/s\tPCIe B/B\trefused/1000\tsent again")
	for i := range results {
		for _, s := range plan.Points[i].Settings {
			fmt.Fprintf(t, "%s\t", s.Value)
		}
		s := results[i].Summary
		if s == nil || s.Accesses.Completed == 0 {
			fmt.Fprintf(t, "%s\t\t\t\t\t\t\n", results[i].Status)
			continue
		}
		l := &s.Accesses.LatencyPS
		fmt.Fprintf(t, "%s\t%s\t%s\t%.3f\t%.2f\t%.0f\t%s\n", human(l.P50), human(l.P99), human(l.P999), rate(s),
			float64(s.PCIe.Up.Bytes+s.PCIe.Down.Bytes)/float64(max(1, s.Accesses.Bytes)),
			1000*float64(notReady(&s.Transport))/float64(s.Accesses.Completed), percent(s.Transport.PacketsResent, s.Transport.PacketsSent))
	}
	t.Flush()
}

// notReady counts RNR NAKs and dropped TCP segments for pages that were not there.
func notReady(t *measure.TransportSummary) uint64 {
	n, d := &t.RNRNaks, &t.TCPDrops
	return n.Moving + n.Paging + n.OverAdvertised + d.Moving + d.Paging + d.OverAdvertised
}
