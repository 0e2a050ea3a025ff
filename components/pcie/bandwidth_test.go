package pcie

import (
	"fmt"
	"math"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// ample lifts every limit but the link's.
func ample(s *rigSpec) {
	s.Credits = Credits{PH: 2032, PD: 32752, NPH: 2032, NPD: 64}
	s.Tags, s.CompletionBuffer = 768, 16<<20
}

// bytesPerSecond is the link's rate for all bytes of TLPs.
func bytesPerSecond(gen, lanes int) float64 {
	num, den := ByteTime(gen, lanes)
	return 1e12 * float64(den) / float64(num)
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got/want-1) > tolerance {
		t.Errorf("%s: %.6g, want %.6g within %g", what, got, want, tolerance)
	}
}

// The rates after encoding are those of [cocotbext-pcie], in GB/s for 16 lanes.
func TestByteTime(t *testing.T) {
	for gen, want := range []float64{4, 8, 15.754, 31.508, 63.015} {
		within(t, fmt.Sprintf("gen %d", gen+1), bytesPerSecond(gen+1, 16)/1e9, want, 5e-5)
	}
}

// arrivalRate is the payload per second at memory, from the end of the first
// transfer of n bytes to that of the last.
func arrivalRate(got []seen[msg.MemReq], n uint32) float64 {
	var bytes uint32
	var first, last clocked.Time
	var counted float64
	for _, m := range got {
		if bytes += m.msg.Len; bytes < n {
			continue
		}
		bytes = 0
		if first == 0 {
			first = m.at
		} else {
			counted += float64(n)
		}
		last = m.at
	}
	return counted / float64(last-first) * 1e12
}

// Posted writes reach rate × n / (n + 24 per TLP), and the sender's being
// awake changes nothing at all.
func TestWriteBandwidth(t *testing.T) {
	for _, link := range [][2]int{{3, 8}, {4, 16}, {5, 16}} {
		for _, n := range []uint32{64, 128, 256, 512, 4096} {
			what := fmt.Sprintf("gen %d x%d, %d B", link[0], link[1], n)
			var arrived [2][]seen[msg.MemReq]
			for i, awake := range []bool{false, true} {
				r := newRig(t, ample, func(s *rigSpec) { s.Gen, s.Lanes, s.awake = link[0], link[1], awake })
				r.clients[0].todo = repeat(write1(0, n), 2000)
				r.run(t)
				arrived[i] = r.memory.got
			}
			if fmt.Sprint(arrived[0]) != fmt.Sprint(arrived[1]) {
				t.Errorf("%s: a sleeping and a waking sender differ", what)
			}
			wire := float64(n) + 24*math.Ceil(float64(n)/256)
			within(t, what, arrivalRate(arrived[0], n), bytesPerSecond(link[0], link[1])*float64(n)/wire, 1e-3)
		}
	}
}

// Reads reach rate × n / (n + 20 per completion) downstream.
func TestReadBandwidth(t *testing.T) {
	for _, n := range []uint32{64, 256, 512, 2048} {
		r := newRig(t, ample)
		r.clients[0].todo = repeat(read1(0, n), 4000)
		r.run(t)
		d := r.clients[0].dones
		rate := float64(n) * float64(len(d)-1001) / float64(d[len(d)-1].at-d[1000].at) * 1e12
		wire := float64(n) + 20*math.Ceil(float64(n)/256)
		within(t, fmt.Sprintf("%d B", n), rate, bytesPerSecond(4, 16)*float64(n)/wire, 1e-3)
	}
}

// roundTrip is the time of a tag for a read of n ≤ 256 bytes without queues.
func roundTrip(s *Spec, n int64, host clocked.Time) clocked.Time {
	return serial(s, 24) + s.LinkLatency + host + serial(s, 20+n) + s.LinkLatency
}

// Little's law at the tag limit: tags × bytes / round trip.
func TestTagLimit(t *testing.T) {
	for _, tags := range []int{1, 4, 32, 100} {
		r := newRig(t, ample, func(s *rigSpec) { s.Tags = tags })
		r.clients[0].todo = repeat(read1(0, 64), 100*tags+1)
		r.run(t)
		spec := defaultSpec(t)
		rtt := float64(roundTrip(&spec, 64, hop+400*ns))
		want := float64(tags) * 64 / rtt * 1e12
		within(t, fmt.Sprintf("%d tags", tags), arrivalRate(r.memory.got, 64), want, 1e-3)
		if s := r.Endpoint.Stats(); s.Stalls[StallTag] == 0 || s.Stalls[StallNPH] != 0 {
			t.Errorf("%d tags: stalls %v, want some for want of a tag and none for credits", tags, s.Stalls)
		}
	}
}

// Tags by Little's law, 84 B on the wire for each completion: 225 fill Gen4 x16
// with 64 B reads at 600 ns; at Gen5 x16 and 700 ns 525 are needed, so 256 give 256/525 of it.
func TestTagSizing(t *testing.T) {
	for _, c := range []struct {
		gen, tags int
		rtt       clocked.Time
		share     float64
	}{
		{4, 226, 600 * ns, 1}, {4, 113, 600 * ns, 113 / 225.05}, {5, 256, 700 * ns, 256 / 525.1},
	} {
		spec := defaultSpec(t)
		spec.Gen = c.gen
		memory := c.rtt - roundTrip(&spec, 64, hop)
		r := newRig(t, ample, func(s *rigSpec) { s.Gen, s.Tags, s.latency = c.gen, c.tags, memory })
		r.clients[0].todo = repeat(read1(0, 64), 20*c.tags+1)
		r.run(t)
		d := r.clients[0].dones
		skip := 2 * c.tags
		rate := 64 * float64(len(d)-1-skip) / float64(d[len(d)-1].at-d[skip].at) * 1e12
		within(t, fmt.Sprintf("gen %d, %d tags", c.gen, c.tags), rate, c.share*bytesPerSecond(c.gen, 16)*64/84, 5e-3)
	}
}

// A pool of k TLPs gives k × n bytes for each credit loop: serialization, the
// link, draining (at once here) and the update; at most the link's rate. 34
// headers or 544 data credits cover 300 ns at Gen4 x16 and MPS 256
// (31.5 GB/s × 300 ns over 280 B, 16 data credits each).
func TestCreditLimit(t *testing.T) {
	for _, c := range []struct {
		credits Credits
		tlps    float64
		stall   Stall
	}{
		{Credits{PH: 34, PD: 544}, 34, stallNone},
		{Credits{PH: 33}, 33, StallPH},
		{Credits{PD: 528}, 33, StallPD},
		{Credits{PH: 1, PD: 16}, 1, StallPH},
		{Credits{PH: 64, PD: 31}, 1, StallPD},
		{Credits{}, 1000, stallNone},
	} {
		spec := defaultSpec(t)
		r := newRig(t, func(s *rigSpec) {
			s.Credits = c.credits
			s.UpdateDelay = 300*ns - s.LinkLatency - serial(&spec, 280)
		})
		r.clients[0].todo = repeat(write1(0, 256), 1+60*34)
		r.run(t)
		rate := bytesPerSecond(4, 16) * 256 / 280
		want := min(rate, c.tlps*256/300*1e9)
		within(t, fmt.Sprintf("%+v", c.credits), arrivalRate(r.memory.got, 256), want, 2e-3)
		for s, time := range r.Endpoint.Stats().Stalls {
			if (time > 0) != (Stall(s) == c.stall) {
				t.Errorf("%+v: stalled %v by %v", c.credits, time, Stall(s))
			}
		}
		conserved(t, r)
	}
}

// The completion buffer bounds reads like tags do: 4 reads of 512 B for 2 KiB.
func TestCompletionBufferLimit(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.CompletionBuffer, s.MPS = 2048, 512 })
	r.clients[0].todo = repeat(read1(0, 512), 401)
	r.run(t)
	spec := defaultSpec(t)
	got := r.memory.got
	rate := 512 * 400 / float64(got[400].at-got[0].at) * 1e12
	within(t, "rate", rate, 4*512/float64(roundTrip(&spec, 512, hop+400*ns))*1e12, 1e-3)
	if s := r.Endpoint.Stats(); s.Stalls[StallBuffer] == 0 || s.Stalls[StallTag] != 0 {
		t.Errorf("stalls %v, want completion_buffer only", s.Stalls)
	}
}

// Reads and writes at once: neither direction takes from the other, save for
// the requests (24 B each) that share the upstream link with the writes.
func TestDirectionsAreIndependent(t *testing.T) {
	r := newRig(t, ample, func(s *rigSpec) { s.clients = 2 })
	r.clients[0].todo = repeat(read1(0, 512), 3000)
	r.clients[1].todo = repeat(write1(1<<32, 256), 5000)
	r.runUntil(t, 20*clocked.Microsecond)
	before := [2]uint64{r.Endpoint.Stats().WireBytes, r.Root.Stats().WireBytes}
	r.runUntil(t, 30*clocked.Microsecond)
	for i, s := range []Stats{r.Endpoint.Stats(), r.Root.Stats()} {
		within(t, fmt.Sprintf("direction %d", i), float64(s.WireBytes-before[i])*1e5, bytesPerSecond(4, 16), 2e-3)
	}
}

// Busy time is the exact time of all bytes.
func TestBusyTime(t *testing.T) {
	r := newRig(t, ample)
	r.clients[0].todo = repeat(write1(0, 256), 1000)
	r.run(t)
	s := r.Endpoint.Stats()
	within(t, "busy", float64(s.Busy), 1000*280/bytesPerSecond(4, 16)*1e12, 1e-6)
	if s.WireBytes != 280000 || s.PayloadBytes != 256000 || s.TLPs != [3]uint64{1000, 0, 0} || s.Kinds[msg.KindData] != 1000 {
		t.Errorf("statistics %+v", s)
	}
}

// conserved checks that nothing is left of tags, space and credits when all
// has drained.
func conserved(t tb, r *rig) {
	t.Helper()
	u := r.Endpoint
	if !r.Idle() {
		t.Errorf("not idle: %v %v", u.Waits(), r.Root.Waits())
	}
	if len(u.tagsFree) != len(u.tags) || len(u.jobsFree) != len(u.jobs) {
		t.Errorf("%d of %d tags and %d of %d reads are free", len(u.tagsFree), len(u.tags), len(u.jobsFree), len(u.jobs))
	}
	for i := range u.tags {
		if u.tags[i].busy || u.tags[i].left != 0 {
			t.Errorf("tag %d is left %+v", i, u.tags[i])
		}
	}
	now := r.engine.Now() + clocked.Millisecond
	for _, x := range []*transmitter{&u.tx, &r.Root.tx} {
		x.collect(now)
		for p, limit := range x.limit {
			if limit > 0 && x.have[p] != limit {
				t.Errorf("pool %v has %d of %d credits", Stall(p), x.have[p], limit)
			}
		}
	}
}
