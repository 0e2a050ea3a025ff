package platform

import (
	"testing"

	"rnicmmu/clocked"
)

// rate is the payload of a run in bits a second.
func rate(o *outcome, bytes float64) float64 {
	return bytes * 8 / (float64(o.sum.SimulatedPS) / float64(clocked.Second))
}

// Large transfers run at the rate of the slowest part, less its headers.
func TestPeakBandwidth(t *testing.T) {
	const n, bytes = 400, 64 << 10
	for _, c := range []struct {
		name string
		set  []string
		want float64 // bits a second of payload
	}{
		// A packet of 4096 B is 82+4096 B on the wire (the first has 16 more).
		{"write, network", nil, 100e9 * 4096 / 4179},
		// A READ response has an AETH of 4 B in its first and last packet.
		{"read, network", []string{"workload.read_fraction=1"}, 100e9 * 4096 / 4178.5},
		// Gen3 x8: 8 GT/s × 8 × 128/130; an MWr of 256 B below 4 GiB is 276 B
		// on the link.
		{"write, link", []string{"pcie.gen=3", "pcie.lanes=8"}, 64e9 * 128 / 130 * 256 / 276},
		// A completion of 256 B is 276 B on the link.
		{"read, link", []string{"pcie.gen=3", "pcie.lanes=8", "workload.read_fraction=1"}, 64e9 * 128 / 130 * 256 / 276},
		{"write, link, larger TLPs", []string{"pcie.gen=3", "pcie.lanes=8", "pcie.mps=512B"}, 64e9 * 128 / 130 * 512 / 532},
	} {
		set := append([]string{"workload.access_bytes=64KiB", "workload.working_set=4MiB", "workload.pattern=sequential",
			"workload.accesses=" + itoa(n)}, c.set...)
		o := must(t, nil, set...)
		if got := rate(o, n*bytes); got > c.want || got < c.want*0.98 {
			t.Errorf("%s: %.2f Gb/s, want %.2f less fill and drain", c.name, got/1e9, c.want/1e9)
		}
	}
}

// Little's law at the IIO: 92 lines of 64 B, 300 ns each, are 157 Gb/s, of which a
// faster link gets no more; the time for which its writes stood still is counted.
// A slower link never waits for the buffer.
func TestWriteBufferLimit(t *testing.T) {
	const n, bytes = 2000, 4 << 10
	for _, c := range []struct {
		gen, lanes int
		full       bool
	}{{3, 8, false}, {4, 16, true}, {5, 16, true}} {
		o := must(t, nil, "pcie.gen="+itoa(c.gen), "pcie.lanes="+itoa(c.lanes), "peer.pcie.gen=5", "network.rate=800Gb/s",
			"workload.access_bytes=4KiB", "workload.working_set=4MiB", "workload.pattern=sequential", "workload.outstanding=256", "tpt.tables=onboard",
			"workload.accesses="+itoa(n))
		const limit = 92 * 64 * 8 / 300e-9
		got, stall := rate(o, n*bytes), o.sum.PCIe.StallsPS.IIO
		if c.full && (got > limit || got < 0.98*limit || float64(stall) < 0.95*float64(o.sum.SimulatedPS)) {
			t.Errorf("Gen%d x%d: %.1f Gb/s, stalled for %v of %dps; want %.1f Gb/s", c.gen, c.lanes, got/1e9, stall, o.sum.SimulatedPS, limit/1e9)
		}
		if !c.full && (got > limit || stall != 0) {
			t.Errorf("Gen%d x%d: %.1f Gb/s, stalled for %v; want no stall", c.gen, c.lanes, got/1e9, stall)
		}
	}
}

// Little's law at the tag limit: a READ of 64 B is one memory read, so tags
// bound the rate to tags / (time a tag is taken): MRd and completion on the
// link with their serialization, and pcie.read_latency of 400 ns.
func TestTagLimit(t *testing.T) {
	// Gen4 x16: 16 GT/s × 16 × 128/130 is 31.5 B/ns: 24 and 84 B take 0.8 and 2.7 ns.
	const held = 0.8 + 33 + 400 + 2.7 + 33 // ns
	for _, tags := range []int{1, 2, 4, 8} {
		o := must(t, nil, "workload.read_fraction=1", "workload.accesses=6000", "workload.outstanding=128",
			"pcie.tags="+itoa(tags), "host.llc.ddio_lines=0", "tpt.tables=onboard")
		took := float64(o.sum.SimulatedPS) / 6000 / 1000 // ns a READ
		want := held / float64(tags)
		// The first READ of the run and the last have 2 us of path beside.
		if took < want || took > want*1.01 {
			t.Errorf("%d tags: %.2f ns a READ, want %.2f", tags, took, want)
		}
		if o.sum.PCIe.StallsPS.Tag == 0 {
			t.Errorf("%d tags: no wait for a tag", tags)
		}
	}
}
