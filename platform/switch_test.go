package platform

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// A switch adds to each trip of an adapter's read what its latency and the link
// above take, both ways; to a write that is acknowledged when it is issued nothing.
func TestSwitchLatency(t *testing.T) {
	above := []string{"host.switch.adapters=1", "host.switch.pcie.gen=1", "host.switch.pcie.lanes=1", "host.switch.pcie.skp=false",
		"host.switch.pcie.ack.delay=30us", "host.switch.pcie.update.delay=30us", "tpt.mtt.levels=1"}
	const pass = 115*ns + linkLatency
	for _, c := range []struct {
		name  string
		op    model.Op
		pages []int
		want  clocked.Time
	}{
		{"write that hits", model.OpWrite, []int{0, 0}, 0},
		{"read that hits", model.OpRead, []int{0, 0}, 2*pass + (userRequest+20+64)*linkByte},
		{"write that misses", model.OpWrite, []int{0, 100}, 2*pass + (request+20+8)*linkByte},
		{"read that misses", model.OpRead, []int{0, 100}, 4*pass + (request+20+8+userRequest+20+64)*linkByte},
	} {
		all := accesses(c.op, 64, c.pages...)
		if got := latencyOf(t, all, above...) - latencyOf(t, all, "tpt.mtt.levels=1"); got != c.want {
			t.Errorf("%s: %v more with a switch, want %v", c.name, got, c.want)
		}
	}
}

// sharing are four adapters whose peers send more than a quarter of an x16 link
// carries, before memory that takes it.
func sharing(switched int) []string {
	return []string{"adapters=4", "host.switch.adapters=" + itoa(switched), "workload.access_bytes=4KiB", "workload.working_set=4MiB",
		"workload.pattern=sequential", "workload.outstanding=512", "workload.accesses=8000", "tpt.tables=onboard", "host.iio.write_buffer=0"}
}

// counts are the accesses of each adapter that were complete in the middle half of a
// run, and how long that was.
func counts(t *testing.T, set []string, adapters int) (n []float64, o *outcome, span clocked.Time) {
	t.Helper()
	o, dir := recorded(t, set)
	n = make([]float64, adapters)
	end := o.sum.SimulatedPS
	err := measure.ReadAccesses(filepath.Join(dir, "accesses.parquet"), func(some []measure.Access) {
		for i := range some {
			if a := &some[i]; a.Complete > end/4 && a.Complete <= end*3/4 {
				n[a.Adapter]++
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, o, end / 2
}

// Four adapters behind one x16 link have a quarter of its writes each; with a root
// port each, they have what their networks bring.
func TestSwitchSharesBandwidth(t *testing.T) {
	spec := load(t)
	link := rules.Link{Gen: spec.PCIe.Gen, Lanes: spec.PCIe.Lanes, MPS: uint32(spec.PCIe.MPS), MRRS: uint32(spec.PCIe.MRRS), RCB: 64,
		Header: rules.Header3DW, SKP: true, DLLPs: true}
	const network = 100e9 / 8 * 4096 / 4179 // a packet is 82+4096 B, the first has 16 more
	for _, c := range []struct {
		switched int
		want     float64 // bytes a second of each adapter
	}{{0, network}, {4, link.WriteBandwidth(4096) / 4}, {2, min(network, link.WriteBandwidth(4096)/2)}} {
		n, o, span := counts(t, sharing(c.switched), 4)
		for i := range n {
			if got := n[i] * 4096 / float64(span) * 1e12; got > 1.02*c.want || got < 0.97*c.want {
				t.Errorf("%d behind a switch, adapter %d: %.3f GB/s, want %.3f", c.switched, i, got/1e9, c.want/1e9)
			}
		}
		u := o.sum.PCIe.Upstream
		switch {
		case c.switched == 0 && u != nil:
			t.Errorf("no switch, and a link above one: %+v", u)
		case c.switched == 4 && (u.Up.Utilisation < 0.95 || u.Up.Utilisation > 1 || o.sum.PCIe.Up.Utilisation > 0.3):
			t.Errorf("four behind a switch: the link above is busy for %.3f, those below for %.3f; nearly 1 and a quarter are due", u.Up.Utilisation, o.sum.PCIe.Up.Utilisation)
		}
	}
}

// The IIO's write buffer is one for each root port: adapters behind a switch share
// 92 lines of 64 B for 300 ns, 19.6 GB/s.
func TestSwitchSharesTheWriteBuffer(t *testing.T) {
	set := append(sharing(4), "host.iio.write_buffer=92", "host.switch.pcie.gen=5")
	n, o, span := counts(t, set, 4)
	const limit = 92 * 64 / 300e-9
	if got := (n[0] + n[1] + n[2] + n[3]) * 4096 / float64(span) * 1e12; got > 1.02*limit || got < 0.96*limit {
		t.Errorf("%.2f GB/s, want %.2f", got/1e9, limit/1e9)
	}
	if o.sum.PCIe.StallsPS.IIO == 0 {
		t.Error("no wait for the write buffer")
	}
}

// Faults, translations, page requests and invalidations of adapters behind a switch
// reach whom they are for: the audit finds all rules kept, and every adapter had
// its own.
func TestSwitchCarriesPaging(t *testing.T) {
	for _, set := range [][]string{
		{"scheme=odp"}, {"scheme=suspend"}, {"scheme=sva"}, {"scheme=sva", "qp.fault_response=hold", "tpt.page_requests=2"},
		{"scheme=odp", "host.iommu.mode=strict"}, {"scheme=iommu", "host.iommu.table=process", "host.iommu.absent=retry"},
		{"scheme=iommu", "host.iommu.mode=deferred", "pressure.overcommit=0.5", "workload.registration=each", "workload.regions=8"},
		{"scheme=odp", "host.iommu.mode=strict", "adapters=[{}, {scheme: sva}, {scheme: suspend}]"},
	} {
		t.Run(strings.Join(set, " "), func(t *testing.T) {
			set := append([]string{"adapters=3", "pressure.overcommit=1.5", "host.switch.adapters=2", "host.switch.pcie.gen=3",
				"host.switch.pcie.lanes=4", "workload.accesses=900", "workload.working_set=256KiB", "workload.read_fraction=0.4"}, set...)
			o := must(t, nil, set...)
			if o.sum.Accesses.Failed > 0 || o.sum.Accesses.Completed != 900 {
				t.Errorf("%d accesses completed, %d failed, of 900", o.sum.Accesses.Completed, o.sum.Accesses.Failed)
			}
			v, u := &o.sum.Invalidations, &o.sum.IOMMU
			if v.Acknowledged != v.Issued || v.Issued+u.Flushes+u.AccessFlushes+u.Deferred == 0 {
				t.Errorf("%d invalidations, %d acknowledged, %+v; some are due", v.Issued, v.Acknowledged, u)
			}
			for i, n := range o.sys.nodes {
				if s := n.link.Endpoint.Stats(); s.TLPs[msg.Posted] == 0 || s.TLPs[msg.NonPosted] == 0 || n.link.Down().TLPs[msg.Completion] == 0 {
					t.Errorf("adapter %d: sent %v, was sent %v", i, s.TLPs, n.link.Down().TLPs)
				}
				if n.spec.Scheme == "sva" && n.tpt.Stats.PageRequests == 0 {
					t.Errorf("adapter %d: no page request", i)
				}
			}
			a, b := o.sys.nodes[0].link.Root.Stats(), o.sys.nodes[2].link.Root.Stats()
			if o.sys.nodes[0].link.Root != o.sys.nodes[1].link.Root || a.TLPs[msg.Completion] == 0 || b.TLPs[msg.Completion] == 0 || o.sys.nodes[2].link.Root == o.sys.nodes[0].link.Root {
				t.Error("adapters 0 and 1 share a root port, and 2 has another")
			}
		})
	}
}

// The way up from each adapter adds up to the way up from the switch, and the same
// downwards, from the end of the warm-up on but for what is under way then; each
// line is busy for the time of its bytes.
func TestUpstreamCountsWhatAdaptersSend(t *testing.T) {
	o := must(t, nil, "adapters=4", "host.switch.adapters=4", "workload.accesses=4000", "workload.read_fraction=0.5")
	p := &o.sum.PCIe
	for _, c := range []struct {
		way          string
		below, above *measure.LinkStats
	}{{"up", &p.Up, &p.Upstream.Up}, {"down", &p.Down, &p.Upstream.Down}} {
		if c.below.TLPs != c.above.TLPs || c.below.Bytes != c.above.Bytes || c.below.PayloadBytes != c.above.PayloadBytes || c.above.TLPs == 0 {
			t.Errorf("%s: %+v below, %+v above", c.way, c.below, c.above)
		}
	}
	if waits := o.sys.Waits(); len(waits) > 0 {
		t.Errorf("at rest somebody waits: %q", waits)
	}
	o = must(t, nil, "adapters=4", "host.switch.adapters=2", "workload.accesses=8000", "workload.read_fraction=0.5", "warmup=5000")
	p = &o.sum.PCIe
	for i, l := range []*measure.LinkStats{&p.Up, &p.Down, &p.Upstream.Up, &p.Upstream.Down} {
		lines := []float64{4, 4, 2, 2}[i]
		want := float64(l.Bytes) / rules.TLPRate(4, 16) / (float64(o.sum.SimulatedPS) / 1e12) / lines
		if l.Utilisation < 0.99*want || l.Utilisation > 1.01*want || want < 0.001 {
			t.Errorf("line %d: utilisation %.4f, want %.4f", i, l.Utilisation, want)
		}
	}
}

// What cannot share a switch is refused by the key.
func TestSwitchChecks(t *testing.T) {
	for _, c := range []struct {
		set  []string
		want string
	}{
		{[]string{"adapters=2", "host.switch.adapters=2", "pcie.mps=512B"},
			"host.switch.pcie.mps: 256 B: 512 B is due, as pcie.mps of the adapters: a switch cuts no TLPs"},
		{[]string{"adapters=[{}, {scheme: sva}]", "host.switch.adapters=2"},
			"host.switch.adapters: 2: adapters 0 and 1 share a root port, and only one of them has its requests translated by the IOMMU; give both such a scheme or host.iommu.mode strict, or less adapters to a switch"},
		{[]string{"adapters=[{}, {scheme: sva}]", "host.switch.adapters=1"}, ""},
		{[]string{"adapters=[{}, {host.numa.socket: 1}]", "host.numa.sockets=2", "host.switch.adapters=2"},
			"host.numa.socket: adapters 0 and 1 share a root port (host.switch.adapters 2), which is at one socket; give both the same"},
		{[]string{"adapters=[{}, {}, {host.numa.socket: 1}, {host.numa.socket: 1}]", "host.numa.sockets=2", "host.switch.adapters=2"}, ""},
		{[]string{"adapters=[{}, {scheme: sva}]", "host.switch.adapters=2", "host.iommu.mode=strict"}, ""},
		{[]string{"adapters=2", "pcie.mps=512B"}, ""},
	} {
		specs, err := adapters(c.set)
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(specs, nil)
		got := fmt.Sprint(err)
		if i := strings.Index(got, "host."); i > 0 {
			got = got[i:]
		}
		if first, _, _ := strings.Cut(got, "\n"); err == nil && c.want != "" || err != nil && first != c.want {
			t.Errorf("%v: got  %s\nwant %s", c.set, got, c.want)
		}
	}
}
