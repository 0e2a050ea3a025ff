package memory

import (
	"math"
	"math/rand/v2"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// hitShare is the share of a device's random reads of a line that find it in the
// LLC, after the device has written a window once, from its start to its end.
func hitShare(t *testing.T, lines, ways, window int) float64 {
	t.Helper()
	spec := quiet()
	spec.LLC = LLC{Saving: 67 * ns, DDIOLines: lines, DDIOWays: ways}
	b := newBench(t, spec, Config{Clients: 1, ReadService: service}, 0)
	for block := 0; block < window; block += linesOfBlock {
		b.clients[0].send(1000*ns+clocked.Time(block)*10*ns, store(model.PA(block)<<lineShift, 4096))
	}
	const reads = 2000
	rng := rand.New(rand.NewPCG(1, uint64(window)))
	start := 2000*ns + clocked.Time(window)*10*ns
	for i := range reads {
		b.clients[0].send(start+clocked.Time(i)*1000*ns, read(model.PA(rng.IntN(window))<<lineShift, 64))
	}
	stats := b.run(t)
	var sum clocked.Time
	for i := range reads {
		sum += b.answered(0, i) - start - clocked.Time(i)*1000*ns
	}
	wantTime(t, "all reads", sum, reads*service-clocked.Time(stats.LLCHits)*67*ns)
	return float64(stats.LLCHits) / reads
}

// Device-warm reads hit while the window fits into the ways that device writes
// fill; a larger window keeps its share of them, capacity / window. So measured
// by [pcie-bench], 64 B reads (LAT_CMD_RD, means): on two hosts the knee is at 2
// of 20 ways of the LLC, 1.5 MiB (Haswell, E5-2637v3) and 2.5 MiB (Broadwell,
// E5-2630v4), and the share that hit is (cold − warm) / (cold − warm at 1 KiB).
func TestKneeOfDDIO(t *testing.T) {
	const lines, ways = 4096, 2
	for _, c := range []struct {
		window   float64 // of the ways' capacity
		measured float64
	}{
		// Broadwell, 1, 2, 3, 4, 8 and 32 MiB.
		{0.4, 1.00}, {0.8, 1.00}, {1.2, 0.74}, {1.6, 0.62}, {3.2, 0.31}, {12.8, 0.08},
		// Haswell, 1, 1.5, 2, 3, 4 and 16 MiB.
		{2.0 / 3, 0.98}, {1, 0.88}, {4.0 / 3, 0.75}, {2, 0.49}, {8.0 / 3, 0.37}, {32.0 / 3, 0.09},
	} {
		window := int(c.window*lines) / linesOfBlock * linesOfBlock
		got := hitShare(t, lines, ways, window)
		if want := min(1, lines/float64(window)); math.Abs(got-want) > 0.03 {
			t.Errorf("window of %.2f: %.3f hit, want %.3f by geometry", c.window, got, want)
		}
		// Measured sets fill unevenly: at the knee an eighth is lost.
		if math.Abs(got-c.measured) > 0.13 {
			t.Errorf("window of %.2f: %.3f hit, measured %.2f", c.window, got, c.measured)
		}
	}
}

// The knee is where the lines are, whatever their ways; what a direct-mapped
// cache keeps of a window is the last line of each set.
func TestKneeByGeometry(t *testing.T) {
	for _, c := range []struct {
		lines, ways, window int
		want                float64
	}{
		{1024, 2, 1024, 1}, {1024, 2, 2048, 0.5}, {2048, 2, 2048, 1}, {2048, 2, 4096, 0.5},
		{1024, 1, 1024, 1}, {1024, 1, 1536, 2.0 / 3}, {1024, 8, 1024, 1}, {1024, 8, 4096, 0.25},
	} {
		if got := hitShare(t, c.lines, c.ways, c.window); math.Abs(got-c.want) > 0.04 {
			t.Errorf("%d lines, %d ways, window %d: %.3f hit, want %.3f", c.lines, c.ways, c.window, got, c.want)
		}
	}
}

// Reads fill nothing: a line that no device wrote is cold each time. [pcie-bench]
// too: device reads of a cold window stay at the latency of DRAM.
func TestReadsFillNothing(t *testing.T) {
	spec := quiet()
	spec.LLC = LLC{Saving: 67 * ns, DDIOLines: 64, DDIOWays: 2}
	b := newBench(t, spec, fourFrames(1), 0)
	b.clients[0].send(1000*ns, read(0, 64))
	b.clients[0].send(2000*ns, read(0, 64))
	if stats := b.run(t); stats.LLCHits != 0 {
		t.Errorf("%d hits, want none", stats.LLCHits)
	}
}
