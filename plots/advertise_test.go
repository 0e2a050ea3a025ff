package plots

import (
	"math"
	"testing"
)

// A promise of ten times memory, by policy: of 1000 accesses 900 wait or are
// refused; a sweep in which nobody met one has no such figure.
func TestAdvertiseFigure(t *testing.T) {
	dir := t.TempDir()
	allow, refuse := sample(0.2, 0), sample(0.2, 0)
	allow.Accesses.Completed, allow.Transport.RNRNaks.OverAdvertised, allow.Faults.SwappedOutPages = 1000, 900, 800
	allow.Advertise.BytesAdvertised, allow.Advertise.BytesResident = 20<<30, 2<<30
	refuse.Accesses.Completed, refuse.Accesses.Failed, refuse.Advertise.Refused = 100, 900, 9
	refuse.Advertise.BytesAdvertised, refuse.Advertise.BytesResident = 2<<30, 2<<30
	writeSweep(t, dir, []string{"advertise.policy"}, []point{{[]string{"allow"}, "ok", allow}, {[]string{"refuse"}, "ok", refuse}}, nil)
	table, err := ReadTable(dir + "/" + SweepFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		metric Metric
		want   [2]float64
	}{{FailedShare, [2]float64{0, 90}}, {OverAdvertisedRate, [2]float64{900, 0}}, {SwapOutRate, [2]float64{800, 0}}, {PromiseCover, [2]float64{10, 1}}} {
		got, err := table.Measure(c.metric)
		if err != nil || math.Abs(got[0]-c.want[0]) > 1e-9 || math.Abs(got[1]-c.want[1]) > 1e-9 {
			t.Errorf("%v: %v, %v, want %v", c.metric.Columns, got, err, c.want)
		}
	}
	s := &sweepFigure{table: table, layout: table.Layout()}
	if f := s.advertise(); f == nil || len(f.panels) != 2 || s.err != nil {
		t.Errorf("%+v, %v", f, s.err)
	}
	neighbours(t, dir, false)
	if table, err = ReadTable(dir + "/" + SweepFile); err != nil {
		t.Fatal(err)
	}
	if f := (&sweepFigure{table: table, layout: table.Layout()}).advertise(); f != nil {
		t.Errorf("a figure of %d panels", len(f.panels))
	}
}
