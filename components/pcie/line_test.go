package pcie

import (
	"fmt"
	"math"
	"testing"

	"rnicmmu/clocked"
	rules "rnicmmu/model/pcie"
)

// SKP ordered sets stop a busy line once in their interval: the last of a stream of
// writes is later by the length of each that was due before it went. That is 4
// symbols in 1538 at Gen1 and 2, 16 in 5920 with 128b/130b, 40 in 11968 in flit mode.
func TestSKPShare(t *testing.T) {
	for _, c := range []struct {
		gen              int
		interval, length clocked.Time
		share            float64
	}{
		{1, 1538 * 4000, 4 * 4000, 4.0 / 1538},
		{2, 1538 * 2000, 4 * 2000, 4.0 / 1538},
		{3, 5920 * 8125 / 8, 16 * 8125 / 8, 16.0 / 5920},
		{5, 5920 * 8125 / 32, 16 * 8125 / 32, 16.0 / 5920},
		{6, 11968 * 125, 40 * 125, 40.0 / 11968},
	} {
		const n = 4000
		var last [2]clocked.Time
		for skp := range last {
			r := newRig(t, ample, func(s *rigSpec) { s.Gen, s.SKP, s.Lanes = c.gen, skp == 1, 4 })
			r.clients[0].todo = repeat(write1(high, 256), n)
			r.run(t)
			last[skp] = r.memory.got[n-1].at
		}
		spec := defaultSpec(t)
		spec.Gen, spec.Lanes = c.gen, 4
		tlp := serial(&spec, rules.TLPBytes(c.gen, rules.Shape{Header: 16, Payload: 256})) // without what flits add, which is less than a flit
		start := last[1] - hop - spec.LinkLatency - tlp
		sets := start / c.interval
		lost := last[1] - last[0]
		// Each may cut the rest of a picosecond; in flit mode all end with a flit.
		slack := sets
		if c.gen == 6 {
			slack += flitTime(4)
		}
		if want := sets * c.length; lost < want-slack || lost > want+slack {
			t.Errorf("Gen%d: %d ordered sets take %v, want %v", c.gen, sets, lost, want)
		}
		if got := float64(lost) / float64(last[1]); math.Abs(got/c.share-1) > 1.5/float64(sets) {
			t.Errorf("Gen%d: SKP takes %.5f of the line, want %.5f", c.gen, got, c.share)
		}
	}
}

// An idle line sends its ordered sets too: a TLP that comes when one is due goes
// behind it, one that comes meanwhile waits for the rest, others for nothing. However
// long nothing was sent, they come in their places.
func TestSKPOnIdleLine(t *testing.T) {
	const interval, length = 1538 * 4000, 4 * 4000 // Gen1; five of them end with an adapter's cycle
	for _, k := range []clocked.Time{1, 2, 1000} {
		due := 5 * k * interval
		for after := -2 * cycle; after < length+2*cycle; after += cycle {
			r := newRig(t, func(s *rigSpec) { s.Gen, s.Lanes = 1, 16 })
			r.clients[0].start = due + after - cycle
			ways[0].load(r, 0, 1)
			r.run(t)
			wait := clocked.Time(0)
			if after >= 0 {
				wait = max(0, length-after)
			}
			want := due + after + wait + serial(&r.spec, 280) + r.spec.LinkLatency + hop
			if got := r.memory.got[0].at; got != want {
				t.Errorf("a write %v after an ordered set was due came at %v, want %v", after, got, want)
			}
		}
	}
}

// Scaled flow control: a pool holds 127 headers, times 4 or 16. Memory that takes
// nothing gets so many, and over a loop of 2 µs so many are on their way; the largest
// scale fills the line. Parts of a step are not told, so that a round begins with a
// whole step: 4 TLPs, the first of which have waited for the others.
func TestScaledFlowControl(t *testing.T) {
	for _, c := range []struct {
		scale, headers int
	}{{1, 127}, {4, 508}, {16, 2032}} {
		far := func(s *rigSpec) {
			s.Scale, s.LinkLatency, s.SKP = c.scale, clocked.Microsecond, false
			s.Credits, s.AdapterCredits = Credits{PH: c.headers}, Credits{}
			s.ReplayBuffer = ReplayBuffer{TLPs: 2047, Bytes: 16 << 20}
			s.Ack.Every, s.Update.Every = 1, 1
		}
		r := newRig(t, far)
		r.memory.blocked = true
		r.clients[0].todo = repeat(write1(high, 64), 4000)
		r.run(t)
		// Memory's wire has taken 8, whose credits have come back as far as steps go.
		if sent, want := int(r.Endpoint.Stats().TLPs[0]), c.headers+8/c.scale*c.scale; sent != want {
			t.Errorf("scale %d: %d writes are sent to a memory that takes none, want %d", c.scale, sent, want)
		}

		r = newRig(t, far)
		const rounds = 8
		r.clients[0].todo = repeat(write1(high, 64), rounds*2032)
		r.run(t)
		line := closedForm(&r.spec, high).WriteBandwidth(64)
		one := 64 / line * 1e12 // ps of a TLP
		loop := float64(serial(&r.spec, 88)+serial(&r.spec, rules.DLLPBytes)+2*r.spec.LinkLatency) + float64(c.scale-1)*one
		want := min(line, float64(c.headers)*64/loop*1e12)
		within(t, fmt.Sprintf("scale %d", c.scale), arrivalRate(r.memory.got[:c.headers*(rounds*2032/c.headers-1)+1], 64), want, 2e-3)
		conserved(t, r)
	}
}

// A line that stands still for long owes no ordered sets when it goes on, whether it
// was looked at meanwhile or not; the next comes in its place.
func TestSKPAfterARecovery(t *testing.T) {
	e := clocked.NewEngine()
	id := e.Register(&mockMemory{})
	spec := defaultSpec(t)
	spec.Gen, spec.Lanes = 1, 1
	const interval, length = 1538 * 4000, 4 * 4000
	for _, looked := range []bool{false, true} {
		l := newLine(e, &spec, "x", true, &end{unit: id}, &end{unit: id})
		const until = 10*interval + 1000
		l.hold(3*interval/2, until)
		if looked {
			l.from(5 * interval)
		}
		if at := l.from(until); at != until {
			t.Errorf("looked at %v: the line is free at %v, want %v", looked, at, until)
		}
		if at := l.from(11 * interval); at != 11*interval+length {
			t.Errorf("looked at %v: the line is free at %v, want %v", looked, at, 11*interval+length)
		}
	}
}
