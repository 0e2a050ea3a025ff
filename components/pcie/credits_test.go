package pcie

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// loop300 makes the way of a 256-byte write and of the packet that returns what it
// took 300 ns long: 280 B, the link, 8 B, the link.
func loop300(s *rigSpec) {
	s.SKP = false
	s.LinkLatency = (300*ns - serial(&s.Spec, 280) - serial(&s.Spec, rules.DLLPBytes)) / 2
}

// onlyStall checks that the endpoint has stood still for one reason only; stallNone:
// for none.
func onlyStall(t *testing.T, what string, r *rig, want Stall) {
	t.Helper()
	for s, time := range r.Endpoint.Stats().Stalls {
		if (time > 0) != (Stall(s) == want) {
			t.Errorf("%s: stalled %v by %v", what, time, Stall(s))
		}
	}
}

// A pool of k TLPs gives k × n bytes for each credit loop: serialization, the
// link, draining (at once here), the UpdateFC and the link; at most the link's
// rate. 34 headers or 544 data credits cover 300 ns at Gen4 x16 and MPS 256
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
		r := newRig(t, loop300, func(s *rigSpec) { s.Credits, s.Update.Every = c.credits, 1 })
		r.clients[0].todo = repeat(write1(high, 256), 1+60*34)
		r.run(t)
		want := min(closedForm(&r.spec, high).WriteBandwidth(256), c.tlps*256/300*1e9)
		within(t, fmt.Sprintf("%+v", c.credits), arrivalRate(r.memory.got, 256), want, 1e-3)
		onlyStall(t, fmt.Sprintf("%+v", c.credits), r, c.stall)
		conserved(t, r)
	}
}

// The pace of UpdateFC is part of the loop. Where all k TLPs of a pool drain before
// the timer ends they come back together: k for each loop and delay. By count, n of
// them come back when the n-th has drained: 2n of a pool for each loop and n − 1
// more TLPs.
func TestPaceOfCreditsLimits(t *testing.T) {
	const delay = 200 * ns
	spec := rigSpec{Spec: defaultSpec(t)}
	loop300(&spec)
	tlp := float64(serial(&spec.Spec, 280*100)) / 100
	for _, c := range []struct {
		headers int
		update  Timer
		period  float64
	}{
		{1, Timer{Delay: delay}, float64(300*ns + delay)},
		{16, Timer{Delay: delay}, float64(300*ns + delay)},
		{16, Timer{Delay: 30 * clocked.Microsecond, Every: 8}, float64(300*ns) + 7*tlp},
		{6, Timer{Delay: 30 * clocked.Microsecond, Every: 3}, float64(300*ns) + 2*tlp},
		// The first of 16 starts the timer, which ends before the 9th has drained: 8 come
		// back when 8 have, all the same.
		{16, Timer{Delay: clocked.Time(7.5 * tlp)}, float64(300*ns) + 7.5*tlp},
	} {
		what := fmt.Sprintf("%d headers, %+v", c.headers, c.update)
		r := newRig(t, loop300, func(s *rigSpec) { s.Credits, s.Update = Credits{PH: c.headers}, c.update })
		r.clients[0].todo = repeat(write1(high, 256), 1+60*16)
		r.run(t)
		got := r.memory.got[:1+c.headers*(60*16/c.headers-1)] // whole rounds
		within(t, what, arrivalRate(got, 256), float64(c.headers)*256/c.period*1e12, 1e-3)
		onlyStall(t, what, r, StallPH)
		conserved(t, r)
	}
}

// The replay buffer bounds what is sent and not acknowledged, in TLPs and in bytes:
// so much for each loop, whose end is the Ack.
func TestReplayBufferLimit(t *testing.T) {
	for _, c := range []struct {
		buffer ReplayBuffer
		ack    Timer
		tlps   float64
		period clocked.Time
		stall  Stall
	}{
		{ReplayBuffer{TLPs: 34, Bytes: 34 * 280}, Timer{Every: 1}, 1000, 300 * ns, stallNone},
		{ReplayBuffer{TLPs: 33, Bytes: 1 << 20}, Timer{Every: 1}, 33, 300 * ns, StallReplay},
		{ReplayBuffer{TLPs: 512, Bytes: 34*280 - 1}, Timer{Every: 1}, 33, 300 * ns, StallReplay},
		{ReplayBuffer{TLPs: 1, Bytes: 1 << 20}, Timer{Every: 1}, 1, 300 * ns, StallReplay},
		{ReplayBuffer{TLPs: 16, Bytes: 1 << 20}, Timer{Delay: 200 * ns}, 16, 500 * ns, StallReplay},
	} {
		r := newRig(t, loop300, func(s *rigSpec) { s.Credits, s.ReplayBuffer, s.Ack = Credits{}, c.buffer, c.ack })
		r.clients[0].todo = repeat(write1(high, 256), 1+60*34)
		r.run(t)
		n := int(min(c.tlps, 34))
		got := r.memory.got[:1+n*(60*34/n-1)]
		want := min(closedForm(&r.spec, high).WriteBandwidth(256), c.tlps*256/float64(c.period)*1e12)
		within(t, fmt.Sprintf("%+v", c), arrivalRate(got, 256), want, 1e-3)
		onlyStall(t, fmt.Sprintf("%+v", c), r, c.stall)
		conserved(t, r)
	}
}

// Page requests and Invalidate Completions take a posted header each and no data:
// k headers give k of them for each credit loop. An Invalidate Request takes one
// data credit besides its header.
func TestMessageCredits(t *testing.T) {
	for _, c := range []struct {
		credits Credits
		each    float64 // for a loop; 0: never held up
	}{{Credits{PH: 3}, 3}, {Credits{PD: 16}, 0}} {
		r := newRig(t, withIOMMU, withoutSKP, func(s *rigSpec) { s.Credits, s.Update.Every = c.credits, 1 })
		for range 601 {
			r.clients[0].todo = append(r.clients[0].todo, toHost(&msg.InvalidateDone{}, 0))
		}
		r.run(t)
		got := r.memory.got
		loop := float64(serial(&r.spec, 24) + serial(&r.spec, rules.DLLPBytes) + 2*r.spec.LinkLatency)
		rate := 600 / float64(got[600].at-got[0].at)
		want := c.each / loop
		if c.each == 0 {
			want = 1 / float64(cycle) // the client's pace
		}
		within(t, fmt.Sprintf("%+v", c.credits), rate, want, 5e-3)
		conserved(t, r)
	}
	r := newRig(t, withIOMMU, func(s *rigSpec) { s.AdapterCredits = Credits{PH: 2, PD: 16} })
	r.iommu.todo = []msg.Doorbell{toAdapter(&msg.Invalidate{}), toAdapter(&msg.PageResponse{})}
	for i, at := range []clocked.Time{1 + hop, 10 * ns} {
		r.runUntil(t, at)
		c := &r.Root.tx.credits
		if h, d := c[rules.PH].Free(), c[rules.PD].Free(); h != uint32(1-i) || d != 15 {
			t.Errorf("after message %d: %d headers and %d data credits left, want %d and 15", i, h, d, 1-i)
		}
	}
	r.run(t)
	conserved(t, r)
}

// A payload takes the data credits of the double words that it touches: 63 bytes
// from the second byte of one on are 16 double words and 4 credits, one byte more
// takes a fifth.
func TestDataCreditsOfUnalignedWrites(t *testing.T) {
	for n, want := range map[uint32]uint32{1: 1, 15: 1, 16: 2, 63: 4, 64: 5, 255: 16} {
		r := newRig(t, func(s *rigSpec) { s.Credits = Credits{PD: 100} })
		r.clients[0].todo = []msg.DMA{write1(high+1, n)}
		r.runUntil(t, 3*cycle)
		if took := 100 - r.Endpoint.tx.credits[rules.PD].Free(); took != want {
			t.Errorf("%d B took %d credits, want %d", n, took, want)
		}
		r.run(t)
		conserved(t, r)
	}
}
