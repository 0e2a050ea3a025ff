package transport

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
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
	late           uint64 // in 1000: reads that an IOMMU answers with a retry
	address        msg.Address
	pace           clocked.Time // of the host's endpoint
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
	s.tpt.revokeAt, s.tpt.limit, s.tpt.address = c.revokeAt, c.limit, c.address
	s.host.pace = c.pace
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
	s.tpt.slow = func(t *msg.Translate) bool {
		chance := c.fault
		if int(t.QP) >= c.spec.QPs { // for the backup ring: its page was absent
			chance = 500
		}
		return t.Hold && faults.below(1000) < chance
	}
	late := splitmix(c.seed + 3)
	s.host.status = func(_ clocked.Time, d *msg.DMA) msg.Status {
		if c.spec.TCP != nil && d.Kind == msg.KindData && r.access[d.Counts] != nil && r.access[d.Counts].Op == model.OpRead {
			return msg.StatusSuccess // else the stream ends
		}
		if r.retry(d, func() bool { return late.below(1000) < c.late }) {
			return msg.StatusRetry
		}
		return msg.StatusSuccess
	}
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
	c.spec.QP.FaultResponse = rapid.SampledFrom([]string{"rnr", "rnr", "hold", "backup", "backup"}).Draw(t, "fault_response")
	c.spec.Adapter.BackupEntries = rapid.IntRange(1, 12).Draw(t, "backup_entries")
	c.spec.Adapter.BackupAhead = rapid.IntRange(1, 4).Draw(t, "backup_ahead")
	c.spec.Adapter.BackupCopy = clocked.Time(rapid.IntRange(0, 1).Draw(t, "backup_copy")) * 300 * ns
	c.spec.QP.Damming = rapid.Bool().Draw(t, "damming")
	c.late = uint64(rapid.SampledFrom([]int{0, 0, 100}).Draw(t, "late"))
	c.pace = clocked.Time(rapid.IntRange(0, 1).Draw(t, "pace")) * 200 * ns
	c.address.PASID = uint32(rapid.IntRange(0, 1).Draw(t, "pasid"))
	c.address.Translated = rapid.Bool().Draw(t, "translated")
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
	end := rapid.SampledFrom([]int{1<<20 + 1<<13, 1 << 21}).Draw(t, "end")
	for range rapid.IntRange(1, 20).Draw(t, "requests") {
		w := msg.WQE{Op: model.Op(rapid.IntRange(0, int(model.NumOps)-1).Draw(t, "op")),
			QP: uint32(rapid.IntRange(0, qps-1).Draw(t, "qp")), VA: model.VA(rapid.IntRange(1<<20, end).Draw(t, "va")),
			Len: uint32(rapid.SampledFrom([]int{0, 1, 8, 64, 300, 4096, 9000}).Draw(t, "len"))}
		if w.Op.Atomic() {
			w.VA, w.Len = w.VA&^7, 8
		}
		work = append(work, w)
	}
	return work
}

// RC-1, RC-2, RC-4, RC-8, INV-1: the transport under random faults, losses,
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
