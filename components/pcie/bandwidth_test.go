package pcie

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// high is an address that needs a header of 4 double words.
const high = model.PA(1) << 32

// ample lifts every limit but the link's.
func ample(s *rigSpec) {
	s.Scale, s.TagBits, s.CompletionBuffer = 16, 10, 16<<20
	s.Credits = Credits{PH: 2032, PD: 32752, NPH: 2032, NPD: 64}
	s.AdapterCredits = Credits{PH: 2032, PD: 32752}
}

func withoutSKP(s *rigSpec) { s.SKP = false }

// bytesPerSecond is the link's rate for all bytes of TLPs.
func bytesPerSecond(gen, lanes int) float64 { return rules.TLPRate(gen, lanes) }

// closedForm is the link as its closed forms know it, for requests at pa.
func closedForm(s *Spec, pa model.PA) *rules.Link {
	return &rules.Link{Gen: s.Gen, Lanes: s.Lanes, MPS: uint32(s.MPS), MRRS: uint32(s.MRRS), RCB: uint32(s.RCB),
		Split: splits[s.SplitPolicy], Header: rules.RequestHeader(pa), Digest: s.ECRC, SKP: s.SKP, DLLPs: true}
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got/want-1) > tolerance {
		t.Errorf("%s: %.6g, want %.6g within %g", what, got, want, tolerance)
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

// answerRate is the payload of reads of n bytes per second, without so many answers
// at the beginning and at the end, when no requests come any more.
func answerRate(d []seen[msg.DMADone], n uint32, skip int) float64 {
	d = d[skip : len(d)-skip]
	return float64(n) * float64(len(d)-1) / float64(d[len(d)-1].at-d[0].at) * 1e12
}

// Posted writes reach what headers, framing and SKP leave, Acks and UpdateFC
// travel the other way, and the sender's being awake changes nothing at all.
func TestWriteBandwidth(t *testing.T) {
	for _, link := range [][2]int{{2, 8}, {3, 8}, {4, 16}, {5, 16}, {6, 16}} {
		for i, n := range []uint32{64, 128, 256, 512, 4096} {
			base := high * model.PA(i%2)
			what := fmt.Sprintf("gen %d x%d, %d B at %#x", link[0], link[1], n, uint64(base))
			var arrived [2][]seen[msg.MemReq]
			var r *rig
			for i, awake := range []bool{false, true} {
				r = newRig(t, ample, func(s *rigSpec) { s.Gen, s.Lanes, s.awake = link[0], link[1], awake })
				r.clients[0].todo = repeat(write1(base, n), 20_000/int((n+255)/256))
				r.run(t)
				arrived[i] = r.memory.got
			}
			if !slices.Equal(arrived[0], arrived[1]) {
				t.Errorf("%s: a sleeping and a waking sender differ", what)
			}
			want := closedForm(&r.spec, base).WriteBandwidth(n)
			within(t, what, arrivalRate(arrived[0], n), min(want, float64(n)/float64(cycle)*1e12), 1e-3)
		}
	}
}

// Reads reach what completions, the Acks and UpdateFC for their requests and SKP
// leave of the way down. How many requests share an Ack depends on where in a
// completion its timer ends; the closed form takes the mean.
func TestReadBandwidth(t *testing.T) {
	for _, split := range []string{rules.SplitMin.String(), rules.SplitRCB.String()} {
		for _, n := range []uint32{64, 256, 512, 2048} {
			for _, skp := range []bool{false, true} {
				r := newRig(t, ample, func(s *rigSpec) { s.SplitPolicy, s.SKP = split, skp })
				r.clients[0].todo = repeat(read1(high, n), 8000)
				r.run(t)
				within(t, fmt.Sprintf("%s, %d B, SKP %v", split, n, skp), answerRate(r.clients[0].dones, n, 1000),
					closedForm(&r.spec, high).ReadBandwidth(n), 1e-3)
			}
		}
	}
}

// With pcie.ack.every and pcie.update.every 1 each request of 512 B has an Ack and
// an UpdateFC among its two completions, and with pcie.update_all three.
func TestUpdatesOfAllTypes(t *testing.T) {
	for _, c := range []struct {
		all   bool
		dllps float64
	}{{false, 2}, {true, 4}} {
		r := newRig(t, ample, withoutSKP, func(s *rigSpec) { s.Ack.Every, s.Update.Every, s.UpdateAll = 1, 1, c.all })
		r.clients[0].todo = repeat(read1(high, 512), 8000)
		r.run(t)
		within(t, fmt.Sprintf("all %v", c.all), answerRate(r.clients[0].dones, 512, 1000),
			bytesPerSecond(4, 16)*512/(2*276+8*c.dllps), 1e-4)
	}
}

// roundTrip is the time of a tag for a read of n ≤ 256 bytes without queues.
func roundTrip(s *Spec, pa model.PA, n uint32, host clocked.Time) clocked.Time {
	return serial(s, requestBytes(s, pa)) + s.LinkLatency + host + serial(s, completionBytes(s, n)) + s.LinkLatency
}

// Little's law at the tag limit: tags × bytes / round trip.
func TestTagLimit(t *testing.T) {
	for _, tags := range []int{1, 4, 32, 100} {
		r := newRig(t, ample, func(s *rigSpec) { s.Tags = tags })
		r.clients[0].todo = repeat(read1(high, 64), 100*tags+1)
		r.run(t)
		rtt := float64(roundTrip(&r.spec, high, 64, hop+400*ns))
		want := float64(tags) * 64 / rtt * 1e12
		within(t, fmt.Sprintf("%d tags", tags), arrivalRate(r.memory.got, 64), want, 1e-3)
		if s := r.Endpoint.Stats(); s.Stalls[StallTag] == 0 || s.Stalls[StallNPH] != 0 {
			t.Errorf("%d tags: stalls %v, want some for want of a tag and none for credits", tags, s.Stalls)
		}
	}
}

// The width of tags gives 32, 256 and 768 of them, and 15360 in flit mode; so many
// reads are outstanding when no answer comes.
func TestTagBits(t *testing.T) {
	for bits, want := range map[int]int{5: 32, 8: 256, 10: 768, 14: 15360} {
		r := newRig(t, func(s *rigSpec) {
			s.TagBits, s.CompletionBuffer = bits, 16<<20
			s.Credits = Credits{}
			if bits == 14 {
				s.Gen = 6
			}
		})
		r.memory.blocked = true
		r.clients[0].todo = repeat(read1(high, 64), want+200)
		r.run(t)
		if sent := r.Endpoint.Stats().TLPs[msg.NonPosted]; sent != uint64(want) {
			t.Errorf("%d bits: %d reads sent, want %d", bits, sent, want)
		}
		r.memory.blocked = false
		r.engine.Wake(r.memory.id, r.engine.Now()+1)
		r.run(t)
		if n := len(r.clients[0].dones); n != want+200 {
			t.Errorf("%d bits: %d of %d reads answered", bits, n, want+200)
		}
		conserved(t, r)
	}
}

// Tags by Little's law, 84 B on the wire for each completion: 225 fill Gen4 x16
// with 64 B reads at 600 ns; at Gen5 x16 and 700 ns 525 are needed, so 256 give
// 256/525 of it.
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
		memory := c.rtt - roundTrip(&spec, high, 64, hop)
		r := newRig(t, ample, withoutSKP, func(s *rigSpec) { s.Gen, s.Tags, s.latency = c.gen, c.tags, memory })
		r.clients[0].todo = repeat(read1(high, 64), 40*c.tags+1)
		r.run(t)
		rate := answerRate(r.clients[0].dones, 64, 2*c.tags)
		want := min(c.share*bytesPerSecond(c.gen, 16)*64/84, closedForm(&r.spec, high).ReadBandwidth(64))
		within(t, fmt.Sprintf("gen %d, %d tags", c.gen, c.tags), rate, want, 2e-3)
	}
}

// The completion buffer bounds reads like tags do: 4 reads of 512 B for 2 KiB.
func TestCompletionBufferLimit(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.CompletionBuffer, s.MPS = 2048, 512 })
	r.clients[0].todo = repeat(read1(high, 512), 401)
	r.run(t)
	got := r.memory.got
	rate := 512 * 400 / float64(got[400].at-got[0].at) * 1e12
	within(t, "rate", rate, 4*512/float64(roundTrip(&r.spec, high, 512, hop+400*ns))*1e12, 1e-3)
	if s := r.Endpoint.Stats(); s.Stalls[StallBuffer] == 0 || s.Stalls[StallTag] != 0 {
		t.Errorf("stalls %v, want completion_buffer only", s.Stalls)
	}
}

// Reads and writes at once: neither direction takes from the other, save for
// requests that share the way up with the writes, and for Acks and UpdateFC. Of
// the latter each stream has 8 B in 168 symbol times of 16 lanes: Acks of
// completions up; Acks, and UpdateFC of two classes, down.
func TestDirectionsAreIndependent(t *testing.T) {
	r := newRig(t, ample, withoutSKP, func(s *rigSpec) { s.clients = 2 })
	r.clients[0].todo = repeat(read1(0, 512), 6000)
	r.clients[1].todo = repeat(write1(high, 256), 10000)
	r.runUntil(t, 20*clocked.Microsecond)
	before := [2]uint64{r.Endpoint.Stats().WireBytes, r.Root.Stats().WireBytes}
	r.runUntil(t, 40*clocked.Microsecond)
	for i, s := range []Stats{r.Endpoint.Stats(), r.Root.Stats()} {
		streams := float64(1 + 2*i)
		want := bytesPerSecond(4, 16) * (1 - streams*8/(168*16))
		within(t, fmt.Sprintf("direction %d", i), float64(s.WireBytes-before[i])/20e-6, want, 2e-3)
	}
}

// One client that reads and writes in turn reaches the closed form of both.
func TestBothBandwidth(t *testing.T) {
	for _, n := range []uint32{64, 256} {
		r := newRig(t, ample)
		for i := range model.PA(10000) {
			r.clients[0].todo = append(r.clients[0].todo, write1(high+i<<12, n), read1(high+i<<12, n))
		}
		r.run(t)
		rate := answerRate(r.clients[0].dones, n, 1000)
		within(t, fmt.Sprintf("%d B", n), rate, closedForm(&r.spec, high).BothBandwidth(n), 2e-3)
	}
}

// Busy time is the exact time of all bytes of TLPs.
func TestBusyTime(t *testing.T) {
	r := newRig(t, ample)
	r.clients[0].todo = repeat(write1(high, 256), 1000)
	r.run(t)
	s := r.Endpoint.Stats()
	within(t, "busy", float64(s.Busy), 1000*280/bytesPerSecond(4, 16)*1e12, 1e-6)
	if s.WireBytes != 280000 || s.PayloadBytes != 256000 || s.TLPs != [3]uint64{1000, 0, 0} || s.Kinds[msg.KindData] != 1000 {
		t.Errorf("statistics %+v", s)
	}
}
