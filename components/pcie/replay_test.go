package pcie

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// writes256 are n writes of 256 bytes over a link without SKP, in an order and
// number that are checked.
func writes256(t *testing.T, n uint64, s Spec) *course {
	t.Helper()
	c := newCourse(t, func(r *rigSpec) { r.Spec, r.SKP = s, false })
	c.adapter.dma, c.adapter.end = func(i uint64) msg.DMA { return block(true, i) }, n
	c.play(t)
	c.complete(t)
	return c
}

// erring is a link with bit errors.
func erring(t *testing.T, gen, lanes int, latency clocked.Time, ber float64) Spec {
	s := defaultSpec(t)
	s.Gen, s.Lanes, s.LinkLatency, s.Inject.BER = gen, lanes, latency, ber
	return s
}

// repeatCosts are the times that an error takes from a stream of equal TLPs.
type repeatCosts struct {
	tlp     float64 // one TLP
	window  float64 // TLPs from one that is damaged until its Nak is taken, itself too
	timer   float64 // of replay
	retrain float64 // from the start of a TLP with an error in its framing until the sender goes on
}

// costs follow from the way of a Nak: the damaged TLP has to arrive, the Nak to
// be sent and to arrive, and what is then on the line to end.
func costs(s *Spec, bytes int64) repeatCosts {
	num, den := rules.ByteTime(s.Gen, s.Lanes)
	byte := float64(num) / float64(den)
	t := byte * float64(bytes)
	back := float64(2*s.LinkLatency) + rules.DLLPBytes*byte
	return repeatCosts{tlp: t, window: 1 + math.Ceil(back/t),
		timer:   float64(rules.Symbols(s.Gen, rules.ReplayLimit(s.Gen, s.Lanes, uint32(s.MPS)))),
		retrain: t + float64(s.LinkLatency+s.Inject.Recovery)}
}

// Of up to 10⁶ writes under bit errors none is lost, comes twice or out of its
// place. A TLP that is damaged when it is due costs a Nak and what was sent until
// it came; one that is damaged again when it is sent again first costs the replay
// timer, as a receiver sends no second Nak for it; an error in framing costs a
// recovery, from Gen3 on. Where the second is rare, goodput is that of go-back-N.
func TestGoBackN(t *testing.T) {
	const bytes = 256 + 24
	for _, c := range []struct {
		gen, lanes int
		latency    clocked.Time
		ber        float64
		n          uint64
	}{
		{4, 16, 33 * ns, 1e-6, 1e6},
		{2, 8, 100 * ns, 1e-6, 1e6},
		{4, 16, 33 * ns, 1e-5, 2e5},
		{2, 8, 100 * ns, 1e-5, 2e5},
		{1, 4, 33 * ns, 2e-5, 1e5},
		{5, 4, 33 * ns, 4e-6, 2e5},
	} {
		spec := erring(t, c.gen, c.lanes, c.latency, c.ber)
		l := writes256(t, c.n, spec)
		s, n, took := l.Endpoint.Stats(), float64(c.n), float64(l.host.at)
		recoveries := float64(l.Root.Stats().Recoveries)
		k := costs(&spec, bytes)
		p := damaged(c.ber, bytes)
		again := p * p / (1 - p) // for each TLP
		framing := 0.0
		if c.gen >= 3 {
			framing = damaged(c.ber, tokenBytes)
		}
		near(t, "Naks", float64(s.Naks), n*p)
		near(t, "time-outs", float64(s.ReplayTimeouts), n*again+n*p*damaged(c.ber, rules.DLLPBytes))
		near(t, "recoveries", recoveries, (n+float64(s.Replayed))*framing)
		spent := n*k.tlp + float64(s.Naks)*k.window*k.tlp + float64(s.ReplayTimeouts)*k.timer + recoveries*k.retrain
		if math.Abs(took/spent-1) > 0.001 {
			t.Errorf("%+v: took %.0f ps, want %.0f for %d Naks, %d time-outs, %v recoveries", c, took, spent, s.Naks, s.ReplayTimeouts, recoveries)
		}
		goodput, want := n*k.tlp/took, (1-p)/(1-p+p*k.window)
		if again*k.timer/k.tlp < 0.01 && math.Abs(goodput/want-1) > 0.02 {
			t.Errorf("%+v: goodput %.4f, want %.4f of go-back-N", c, goodput, want)
		}
	}
}

// damaged is the chance of an error in so many bytes.
func damaged(ber float64, bytes int64) float64 {
	return -math.Expm1(8 * float64(bytes) * math.Log1p(-ber))
}

// near fails where a count is not within five deviations of what is expected.
func near(t tb, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 5*math.Sqrt(want)+1e-9 {
		t.Errorf("%v %s, want %.1f ± %.1f", got, what, want, 5*math.Sqrt(want))
	}
}

// Reads lose nothing either: completions with errors, requests with errors, and
// Acks, Naks and UpdateFC of both directions among them. The way of completions
// is the narrow one.
func TestReadsUnderErrors(t *testing.T) {
	const n = 5e5
	spec := erring(t, 4, 16, 33*ns, 1e-6)
	c := newCourse(t, func(r *rigSpec) { r.Spec, r.SKP = spec, false })
	c.adapter.dma, c.adapter.end = func(i uint64) msg.DMA { return block(false, i) }, n
	c.play(t)
	c.complete(t)
	const bytes = 256 + 20
	down, p := c.Root.Stats(), damaged(spec.Inject.BER, bytes)
	near(t, "Naks", float64(down.Naks), n*p)
	if up := c.Endpoint.Stats(); up.TLPs[msg.NonPosted] != n || down.TLPs[msg.Completion] != n || up.Naks == 0 {
		t.Errorf("%+v up and %+v down, want %v of each and Naks for both", up, down, n)
	}
	link := rules.Link{Gen: 4, Lanes: 16, MPS: 256, MRRS: 512, RCB: 64, Header: rules.Header4DW, DLLPs: true}
	k := costs(&spec, bytes)
	share := n * 256 / (float64(c.adapter.at) / float64(clocked.Second)) / link.ReadBandwidth(256)
	if want := (1 - p) / (1 - p + p*k.window); math.Abs(share/want-1) > 0.02 {
		t.Errorf("reads at %.4f of the link without errors, want %.4f of go-back-N", share, want)
	}
}

// Packets of the data link layer are lost as often as their 64 bits say. A lost Ack
// or Nak is gone; a lost UpdateFC comes again 30 µs later.
func TestLostDLLPs(t *testing.T) {
	const n, ber = 20_000, 1e-3
	e := clocked.NewEngine()
	id := e.Register(&mockMemory{})
	spec := erring(t, 4, 16, 33*ns, ber)
	spec.SKP = false
	l := newLine(e, &spec, "x", true, &end{unit: id}, &end{unit: id})
	p := damaged(ber, rules.DLLPBytes)
	for i := range clocked.Time(n) {
		l.owe(i*ns, dllpAck, &pace{}, dllpBody{})
	}
	l.settle(clocked.Millisecond)
	near(t, "lost Acks", float64(n-l.left.Len()), n*p)

	lost, alone := 0, 0
	at := clocked.Millisecond
	for range n / 10 {
		for l.left.Len() > 0 {
			l.left.Pop()
		}
		at += clocked.Millisecond
		l.owe(at, dllpUpdate, &pace{}, dllpBody{})
		l.settle(at + clocked.Millisecond - 1)
		if l.left.Len() != 1 {
			t.Fatalf("%d UpdateFC have come, want 1", l.left.Len())
		}
		late := l.left.Front().at - spec.LinkLatency - at
		alone++
		// Each time it takes the line before it is lost.
		if times := (late - serial(&spec, 8)) / (30 * clocked.Microsecond); times > 0 {
			lost += int(times)
			alone += int(times)
			late -= times * (30*clocked.Microsecond + serial(&spec, 8))
		}
		if late < 0 || late > serial(&spec, 8) {
			t.Fatalf("an UpdateFC came %v late", late)
		}
	}
	near(t, "lost UpdateFC", float64(lost), float64(alone)*p)
}

// Where errors fall does not depend on the sizes of what they fall on: TLPs see the
// errors of their bits, the first of them, in the order of the line.
func TestErrorsAreOfBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{Gen: 4, Lanes: 16, Seed: rapid.Uint64().Draw(t, "seed")}
		s.Inject.BER = 1e-2 // in a unit test: more than a link may have
		bits, tlps := newFaults(&s, "up", true, 0), newFaults(&s, "up", true, 0)
		for _, n := range rapid.SliceOfN(rapid.Int64Range(1, 500), 1, 50).Draw(t, "bits") {
			first := int64(-1)
			for i := range n {
				if bits.pass(1) == 0 && first < 0 {
					first = i
				}
			}
			if got := tlps.pass(n); got != first {
				t.Fatalf("the first error of %d bits is at %d, want %d", n, got, first)
			}
		}
	})
}
