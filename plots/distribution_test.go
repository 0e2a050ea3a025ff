package plots

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// The distribution agrees with sorted values to the width of a bucket.
func TestDistributionAgreesWithSortedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 1<<62), rapid.Int64Range(0, 2000)), 1, 200).Draw(t, "values")
		var h histogram
		for _, v := range values {
			h.add(clocked.Time(v))
		}
		slices.Sort(values)
		times, atMost := h.distribution()
		if atMost[len(atMost)-1] != 1 || !slices.IsSorted(times) || !slices.IsSorted(atMost) {
			t.Fatalf("no distribution: %v %v", times, atMost)
		}
		for i, share := range atMost {
			slowest := float64(values[int(math.Round(share*float64(len(values))))-1])
			if times[i] < slowest || times[i] > max(slowest*(1+1.0/256), 1) {
				t.Fatalf("%g of all are at or under %g, by sorting %g", share, times[i], slowest)
			}
		}
	})
}

func TestHistogramOfARunCountsWhatTheSummaryCounts(t *testing.T) {
	dir := t.TempDir()
	r, err := measure.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range []measure.Access{
		{Complete: 100}, {Complete: 200}, {Complete: 200}, {Complete: 255},
		{Complete: 7, Warmup: true}, {Complete: 9, Status: measure.StatusRemoteOp},
	} {
		a.ID = uint64(i)
		a.Ledger.Causes[measure.CausePCIe] = a.Complete
		a.Ledger.Last = a.Complete
		r.Access(1000, &a)
	}
	s := measure.Summary{}
	r.Finish(&s)
	if err := r.Write(&s, measure.NewManifest("1", nil, 1, "", time.Now()), nil); err != nil {
		t.Fatal(err)
	}
	h, err := accessHistogram(filepath.Join(dir, measure.AccessesFile))
	if err != nil {
		t.Fatal(err)
	}
	times, atMost := h.distribution()
	if !slices.Equal(times, []float64{100, 200, 255}) || !slices.Equal(atMost, []float64{0.25, 0.75, 1}) {
		t.Errorf("%v at most %v", atMost, times)
	}
	if h.count != s.Accesses.Completed {
		t.Errorf("%d in the figure, %d in the summary", h.count, s.Accesses.Completed)
	}
}

func TestLegsOfAnInvalidationFollowTheInstants(t *testing.T) {
	dir := t.TempDir()
	r, err := measure.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []measure.Invalidation{
		// The adapter's own protocol, then the frame is free.
		{Notified: 1000, Checked: 1050, Sent: 1100, Received: 1400, Marked: 1450, Drained: 1950, Acknowledged: 2150, Others: 2160, Done: 2200},
		{Notified: 5000, Checked: 5050, Sent: 5300, Received: 5400, Marked: 5450, Drained: 5550, Acknowledged: 5950, Others: 5980, Done: 6000},
		{Notified: 1, Sent: 2, TimedOut: true}, {Notified: 1, Sent: 900, Done: 901, Warmup: true},
	} {
		v.ID = uint64(i)
		r.Invalidation(9000, &v)
	}
	s := measure.Summary{}
	r.Finish(&s)
	if err := r.Write(&s, measure.NewManifest("1", nil, 1, "", time.Now()), nil); err != nil {
		t.Fatal(err)
	}
	steps, n, err := invalidationSteps(filepath.Join(dir, measure.InvalidationsFile))
	if err != nil || n != 2 {
		t.Fatalf("%d round trips, %v", n, err)
	}
	want := []step{{"checks over", 50, 50}, {"command sent", 150, 200}, {"command received", 200, 400}, {"entries marked", 50, 450},
		{"DMA drained", 300, 750}, {"acknowledged", 300, 1050}, {"all acknowledged", 20, 1070}, {"frame free", 30, 1100}}
	if !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
}

// Under sva the page table and the host's caches come before the adapter's.
func TestLegsWithoutAnAdapterTable(t *testing.T) {
	var sums, ends [len(stepNames)]float64
	addLegs(&measure.Invalidation{Notified: 100, IOTLB: 300, DevTLB: 700, Done: 800}, &sums, &ends)
	got := map[string]float64{}
	total := 0.0
	for k, v := range sums {
		if ends[k] > 0 {
			got[stepNames[k]] = v
		}
		total += v
	}
	if len(got) != 3 || got["IOTLB flushed"] != 200 || got["device TLB flushed"] != 400 || got["frame free"] != 100 || total != 700 {
		t.Errorf("legs %v, in all %g", got, total)
	}
}

// A run of a million accesses is read and drawn.
func BenchmarkMillionAccesses(b *testing.B) {
	dir := b.TempDir()
	writeRun(b, dir, 1_000_000, false)
	for b.Loop() {
		if _, err := Draw(dir, []string{"png"}, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
