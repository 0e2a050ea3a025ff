package transport

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// splitmix draws for the mocks, so that a run is a function of its seed.
type splitmix uint64

func (s *splitmix) below(n uint64) uint64 {
	*s += 0x9e3779b97f4a7c15
	x := uint64(*s)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (x ^ x>>31) % n
}

// referee watches a sandwich's outside and holds it against the rules.
type referee struct {
	t        rapid.TB
	s        *sandwich
	spec     Spec
	access   map[*measure.Counts]*measure.Access
	written  map[*measure.Access]map[model.VA]int // times that each byte was written
	read     map[*measure.Access]map[model.VA]int
	atomics  map[*measure.Access]int
	receives map[uint64]int // receive completions a QP
	quiet    []clocked.Time // a QP may not send before
	told     []clocked.Time // since
	order    map[uint32]uint64
}

func watch(t rapid.TB, s *sandwich, spec Spec) *referee {
	r := &referee{t: t, s: s, spec: spec, access: map[*measure.Counts]*measure.Access{},
		written: map[*measure.Access]map[model.VA]int{}, read: map[*measure.Access]map[model.VA]int{},
		atomics: map[*measure.Access]int{}, receives: map[uint64]int{},
		quiet: make([]clocked.Time, spec.QPs), told: make([]clocked.Time, spec.QPs), order: map[uint32]uint64{}}
	s.host.seen = r.transfer
	s.down.seen = r.response
	s.up.seen = r.request
	complete := s.peer.seen
	s.peer.seen = func(now clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindCQE {
			a := d.Body.(*measure.Access)
			if last, ok := r.order[a.QP]; ok && a.ID < last {
				t.Errorf("QP %d completes %d after %d", a.QP, a.ID, last)
			}
			r.order[a.QP] = a.ID
		}
		complete(now, d)
	}
	return r
}

func (r *referee) transfer(now clocked.Time, d *msg.DMA) {
	if d.Kind == msg.KindCQE {
		r.receives[d.Cookie]++
	}
	if d.Kind != msg.KindData {
		return
	}
	a := r.access[d.Counts]
	va := model.VA(d.PA - 1<<40)
	if model.Shift4K.Span(va, uint64(d.Len)) != 1 {
		r.t.Errorf("a transfer of %d bytes at %#x crosses a host page", d.Len, va)
	}
	if a.Op != model.OpSend && d.Oracle.Page != uint32(va>>12) {
		r.t.Errorf("transfer at %#x names page %#x", va, d.Oracle.Page)
	}
	into := r.read
	if d.Write {
		into = r.written
		if a.Op.Atomic() {
			r.atomics[a]++
		}
	}
	if into[a] == nil {
		into[a] = map[model.VA]int{}
	}
	for i := range d.Len {
		into[a][va+model.VA(i)]++
	}
}

// response notes RNR NAKs as the requester is about to see them.
func (r *referee) response(now clocked.Time, p *msg.Packet) {
	s := rc.Syndrome(p.Syndrome)
	if q := &r.s.req.qps[p.QP]; s.RNR() && !q.rules.Waiting() && !q.rules.Failed() && rc.PSN(p.PSN) == q.rules.Oldest {
		r.told[p.QP] = now + ns
		r.quiet[p.QP] = now + ns + clocked.Time(rc.RNRDelay(s.Value()))
	}
}

// request checks that nothing left during an RNR wait, and the slots of READs.
func (r *referee) request(now clocked.Time, p *msg.Packet) {
	left := p.Arrived - r.spec.Network.Latency - r.spec.Adapter.TxPipeline - clocked.Time(p.WireLen)*80
	if left > r.told[p.QP] && left < r.quiet[p.QP] {
		r.t.Errorf("QP %d PSN %d left at %v, before its RNR wait ended at %v", p.QP, p.PSN, left, r.quiet[p.QP])
	}
	if q := &r.s.req.qps[p.QP]; q.rules.Reads() > r.spec.QP.MaxRdAtomic {
		r.t.Errorf("QP %d has %d READs outstanding", p.QP, q.rules.Reads())
	}
}

// finish checks what was delivered.
func (r *referee) finish() {
	sends := map[uint64]int{}
	for _, a := range r.s.driver.finished {
		if a.Status != measure.StatusOK {
			continue
		}
		switch {
		case a.Op == model.OpSend:
			sends[uint64(a.QP)]++
			r.covered(a, r.written[a], int(a.Len))
		case a.Op.Atomic():
			if n := r.atomics[a]; n != 1 {
				r.t.Errorf("atomic %d executed %d times", a.ID, n)
			}
		case a.Op == model.OpRead:
			r.covered(a, r.read[a], int(a.Len))
		default:
			r.covered(a, r.written[a], int(a.Len))
		}
	}
	for qp, n := range sends {
		if r.receives[qp] < n {
			r.t.Errorf("QP %d: %d SENDs, %d receives", qp, n, r.receives[qp])
		}
	}
	if !r.s.req.Idle() || !r.s.resp.Idle() || r.s.tpt.granted != 0 {
		r.t.Errorf("not idle: requester %v, responder %v, translations %d", r.s.req.Idle(), r.s.resp.Idle(), r.s.tpt.granted)
	}
}

func (r *referee) covered(a *measure.Access, bytes map[model.VA]int, want int) {
	if len(bytes) != want {
		r.t.Errorf("%v %d: %d of %d bytes moved", a.Op, a.ID, len(bytes), want)
	}
	for va := range bytes {
		if a.Op != model.OpSend && (va < a.VA || va >= a.VA+model.VA(a.Len)) {
			r.t.Errorf("%v %d: byte %#x is outside", a.Op, a.ID, va)
			return
		}
	}
}

// noise ticks the units when they have nothing to do, which must change nothing.
type noise struct {
	s     *sandwich
	id    clocked.UnitID
	every clocked.Time
}

func (n *noise) Name() string { return "noise" }

func (n *noise) Tick(now clocked.Time) {
	if n.s.driver.completions < len(n.s.driver.work) {
		n.s.engine.Wake(n.s.req.ID(), now+1)
		n.s.engine.Wake(n.s.resp.ID(), now+1)
		n.s.engine.Wake(n.id, now+n.every)
	}
}

// scene is a random run.
type scene struct {
	spec           Spec
	seed           uint64
	fault, lose    uint64 // in 1000
	revokeAt       int
	limit          int // translations
	fetch          bool
	work           []msg.WQE
	outstanding    int
	expectAllGood  bool
	ledgers        []measure.Access
	requesterStats RequesterStats
	responderStats ResponderStats
}

func (c *scene) run(t rapid.TB, shuffle uint64) {
	s := build(t, c.spec, shuffle)
	r := watch(t, s, c.spec)
	s.driver.outstanding, s.driver.fetch = c.outstanding, c.fetch
	s.tpt.revokeAt, s.tpt.limit = c.revokeAt, c.limit
	for _, w := range c.work {
		a := s.post(w.Op, w.QP, w.VA, w.Len)
		r.access[&a.Counts] = a
	}
	faults, losses := splitmix(c.seed), splitmix(c.seed+1)
	s.tpt.decide = func(_ clocked.Time, t *msg.Translate) msg.Outcome {
		if !t.Hold && faults.below(1000) < c.fault {
			return msg.OutcomeAbsent
		}
		return msg.OutcomeOK
	}
	s.tpt.slowTime = 5 * clocked.Microsecond
	s.tpt.slow = func(t *msg.Translate) bool { return t.Hold && faults.below(1000) < c.fault }
	drop := func(*msg.Packet) bool { return losses.below(1000) < c.lose }
	down := splitmix(c.seed + 2)
	s.up.drop = drop
	s.down.drop = func(*msg.Packet) bool { return down.below(1000) < c.lose }
	if shuffle != 0 {
		n := &noise{s: s, every: 37 * ns / 10}
		if c.spec.TCP != nil {
			n.every *= 100 // its time-outs are long
		}
		n.id = s.engine.Register(n)
		s.engine.Wake(n.id, ns)
	}
	finish := func() {}
	if c.spec.TCP != nil {
		p := watchPlacement(t, s, r.access)
		finish = func() { p.finish(); checkDrops(t, s) }
	}
	s.run(t)
	r.finish()
	finish()
	for _, a := range s.driver.finished {
		c.ledgers = append(c.ledgers, *a)
		if c.expectAllGood && a.Status != measure.StatusOK {
			t.Errorf("access %d ended with %v", a.ID, a.Status)
		}
	}
	c.requesterStats, c.responderStats = s.req.Stats, s.resp.Stats
}

func drawScene(t *rapid.T, spec Spec) *scene {
	c := &scene{spec: spec}
	c.spec.QP.MTU = model.Bytes(rapid.SampledFrom([]int{256, 1024, 4096}).Draw(t, "mtu"))
	c.spec.QP.Window = rapid.IntRange(1, 40).Draw(t, "window")
	c.spec.QP.MaxRdAtomic = rapid.IntRange(1, 6).Draw(t, "max_rd_atomic")
	c.spec.QP.RNRTimer = rapid.IntRange(1, 3).Draw(t, "rnr_timer")
	c.spec.QP.AckTimeout = 4
	c.spec.QP.AckPoint = rapid.SampledFrom(ackPointNames).Draw(t, "ack_point")
	c.spec.QP.FaultResponse = rapid.SampledFrom([]string{"rnr", "rnr", "hold"}).Draw(t, "fault_response")
	c.spec.QP.NakAfterRNR = rapid.SampledFrom([]string{"silent", "once"}).Draw(t, "nak_after_rnr")
	c.spec.QP.Inline = model.Bytes(rapid.SampledFrom([]int{0, 64}).Draw(t, "inline"))
	c.spec.TranslatePer = rapid.SampledFrom(translateNames).Draw(t, "translate_per")
	c.spec.AdapterPage = rapid.SampledFrom([]model.PageShift{12, 13, 16}).Draw(t, "adapter page")
	c.spec.Adapter.QPCEntries = rapid.IntRange(1, 4).Draw(t, "qpc")
	c.spec.Adapter.QPCWays = 0
	c.spec.Adapter.ReadAhead = rapid.IntRange(1, 8).Draw(t, "read_ahead")
	c.spec.Adapter.RxFull = rapid.SampledFrom([]string{"pause", "drop"}).Draw(t, "rx_full")
	c.spec.Adapter.RxPipeline = clocked.Time(rapid.IntRange(0, 1).Draw(t, "rx_pipeline")) * 50 * ns
	c.spec.Adapter.RxBuffer = 8192
	c.spec.Adapter.Hold = 10 * clocked.Microsecond
	c.seed = rapid.Uint64().Draw(t, "seed")
	c.fault = uint64(rapid.SampledFrom([]int{0, 50, 300}).Draw(t, "fault"))
	c.lose = uint64(rapid.SampledFrom([]int{0, 0, 20}).Draw(t, "lose"))
	c.revokeAt = rapid.IntRange(0, 3).Draw(t, "revoke")
	c.limit = rapid.IntRange(0, 3).Draw(t, "translations")
	c.fetch = rapid.Bool().Draw(t, "fetch")
	c.outstanding = rapid.IntRange(1, 12).Draw(t, "outstanding")
	c.expectAllGood = c.lose == 0 && c.spec.Adapter.RxFull == "pause"
	c.work = drawWork(t, c.spec.QPs)
	return c
}

func drawWork(t *rapid.T, qps int) (work []msg.WQE) {
	for range rapid.IntRange(1, 20).Draw(t, "requests") {
		w := msg.WQE{Op: model.Op(rapid.IntRange(0, int(model.NumOps)-1).Draw(t, "op")),
			QP: uint32(rapid.IntRange(0, qps-1).Draw(t, "qp")), VA: model.VA(rapid.IntRange(1<<20, 1<<21).Draw(t, "va")),
			Len: uint32(rapid.SampledFrom([]int{0, 1, 8, 64, 300, 4096, 9000}).Draw(t, "len"))}
		if w.Op.Atomic() {
			w.VA, w.Len = w.VA&^7, 8
		}
		work = append(work, w)
	}
	return work
}

// TestRules: RC-1 to RC-8 of the transport under random faults, losses,
// revocations and parameters, and the same result in every tick order and with
// ticks that nothing asked for.
func TestRules(t *testing.T) {
	spec := testSpec(t)
	rapid.Check(t, func(rt *rapid.T) {
		c := drawScene(rt, spec)
		d := *c
		c.run(rt, 0)
		d.run(rt, rapid.Uint64Min(1).Draw(rt, "shuffle"))
		if c.requesterStats != d.requesterStats || c.responderStats != d.responderStats {
			rt.Fatalf("tick order matters: %+v %+v\n%+v %+v", c.requesterStats, c.responderStats, d.requesterStats, d.responderStats)
		}
		for i := range c.ledgers {
			if c.ledgers[i] != d.ledgers[i] {
				rt.Fatalf("tick order matters:\n%+v\n%+v", c.ledgers[i], d.ledgers[i])
			}
		}
	})
}
