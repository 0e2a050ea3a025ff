package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"rnicmmu/calibrate"
	"rnicmmu/components/dmabench"
)

// print shows all tables, or in brief their sums and what is missed, and tells
// whether nothing is.
func (c *calibration) print(w io.Writer, brief bool) (good bool) {
	good = printClosed(w, c.closed, brief)
	good = printChecks(w, c.checks) && good
	for i, m := range c.machines {
		good = printMachine(w, m, c.rows[i], brief) && good
	}
	return good
}

func columns(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
}

func deviation(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) }

// printClosed prints a row a link and size: simulation, closed form and
// deviation of each traffic.
func printClosed(w io.Writer, rows []calibrate.ClosedRow, brief bool) bool {
	fmt.Fprintln(w, "Payload bandwidth in GB/s: simulated, closed form, deviation; of both directions used alike, the reads'")
	t := columns(w)
	fmt.Fprint(t, "\t\twrite\t\t\tread\t\t\tboth\t\t\t\n")
	within, worst := 0, 0
	for i := range rows {
		r := &rows[i]
		if math.Abs(r.Error()) > math.Abs(rows[worst].Error()) {
			worst = i
		}
		if r.Good() {
			within++
		}
		if i%int(calibrate.NumTraffics) == 0 && !(brief && allGood(rows[i:i+int(calibrate.NumTraffics)])) {
			printClosedRow(t, rows[i:i+int(calibrate.NumTraffics)])
		}
	}
	if !brief || within < len(rows) {
		t.Flush()
	}
	x := &rows[worst]
	fmt.Fprintf(w, "Closed forms: %s within %g %%; worst %+.3f %% (Gen%d x%d, %s of %d B)\n\n", outOf(within, len(rows)),
		100*calibrate.ClosedTolerance, 100*x.Error(), x.Gen, x.Lanes, x.Traffic, x.Bytes)
	return within == len(rows)
}

// printClosedRow prints the traffics of one link and size.
func printClosedRow(t io.Writer, rows []calibrate.ClosedRow) {
	fmt.Fprintf(t, "Gen%d x%d\t%d B", rows[0].Gen, rows[0].Lanes, rows[0].Bytes)
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(t, "\t%.4f\t%.4f\t%+.3f %%", r.Simulated/1e9, r.Closed/1e9, 100*r.Error())
	}
	fmt.Fprint(t, "\t\n")
}

func allGood(rows []calibrate.ClosedRow) bool {
	for i := range rows {
		if !rows[i].Good() {
			return false
		}
	}
	return true
}

func outOf(n, of int) string { return fmt.Sprintf("%d of %d", n, of) }

func printChecks(w io.Writer, checks []calibrate.Check) bool {
	good := 0
	t := columns(w)
	for i := range checks {
		c := &checks[i]
		want, verdict := c.Wanted(), "FAIL"
		if c.Want < 1 {
			want = fmt.Sprintf("%.1f %%", 100*c.Want)
		}
		if c.Good() {
			verdict = "ok"
			good++
		}
		fmt.Fprintf(t, "%s\t%s\t%.2f %% of full rate\twant %s\t%s\t\n", c.Rule, c.Value, 100*c.Share, want, verdict)
	}
	t.Flush()
	fmt.Fprintf(w, "Rules of sizing: %s met\n\n", outOf(good, len(checks)))
	return good == len(checks)
}

// printMachine prints a table a test. Outliers have their reason beside them, and
// what the model says with the settings that are said to explain them.
func printMachine(w io.Writer, m *calibrate.Machine, rows []calibrate.Row, brief bool) bool {
	fmt.Fprintf(w, "%s, profile %s\n", m.Title, m.Profile)
	good := true
	var all tally
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && rows[to].Test == rows[from].Test {
			to++
		}
		sum := printTest(w, rows[from:to], brief)
		all.join(sum)
		good = good && sum.bad == 0
		from = to
	}
	fmt.Fprintf(w, "%s: %s within %g %% of latency and %g %% of bandwidth; %d named outliers, worst %s; %d unnamed\n\n", m.Profile,
		outOf(all.within, all.rows), 100*calibrate.LatencyTolerance, 100*calibrate.BandwidthTolerance,
		all.rows-all.within-all.bad, deviation(all.worst), all.bad)
	return good
}

// tally sums rows up.
type tally struct {
	rows, within, bad int
	worst             float64
}

func (s *tally) join(o tally) {
	s.rows, s.within, s.bad = s.rows+o.rows, s.within+o.within, s.bad+o.bad
	if math.Abs(o.worst) > math.Abs(s.worst) {
		s.worst = o.worst
	}
}

func printTest(w io.Writer, rows []calibrate.Row, brief bool) (sum tally) {
	t := columns(w)
	if !brief {
		fmt.Fprintf(t, "\n%s\tmeasured\tmodel\terror\t\n", rows[0].Test)
	}
	for i := range rows {
		r := &rows[i]
		sum.join(tally{rows: 1, worst: r.Error()})
		switch {
		case r.Within():
			sum.within++
		case !r.Good():
			sum.bad++
		}
		if !brief || !r.Good() {
			fmt.Fprintf(t, "%d B\t%.2f\t%.2f\t%s\t%s\n", r.Bytes, r.Value, r.Model, deviation(r.Error()), remark(r))
		}
	}
	t.Flush()
	fmt.Fprintf(w, "%s (%s): %s within; worst %s\n", rows[0].Test, unitOf(rows[0].Test), outOf(sum.within, sum.rows), deviation(sum.worst))
	return sum
}

func unitOf(t dmabench.Test) string {
	if t.Latency() {
		return "ns"
	}
	return "Gb/s"
}

// remark is the reason of an outlier.
func remark(r *calibrate.Row) string {
	switch {
	case r.Within():
		return ""
	case r.Outlier == nil:
		return "  OUTLIER without a reason"
	case len(r.Outlier.With) == 0:
		return "  outlier: " + r.Outlier.Reason
	}
	return fmt.Sprintf("  outlier: %s; with %s %s", r.Outlier.Reason, strings.Join(r.Outlier.With, ", "), deviation(r.WithError()))
}
