package transport

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/model"
)

func iwarpSpec(t rapid.TB) Spec {
	t.Helper()
	spec := testSpec(t)
	spec.TCP = new(TCPSpec)
	if err := configs.Defaults(spec.TCP); err != nil {
		t.Fatal(err)
	}
	return spec
}

// placement holds every transfer against the place in its message that it must
// come from: a byte of a WRITE or SEND carries the identity of its segment.
type placement struct {
	t      rapid.TB
	s      *sandwich
	access map[*measure.Counts]*measure.Access
	times  map[*measure.Access]map[model.VA]int // that each byte was moved
	landed map[model.PA]int                     // bytes of READs placed at the peer
}

func watchPlacement(t rapid.TB, s *sandwich, access map[*measure.Counts]*measure.Access) *placement {
	p := &placement{t: t, s: s, access: access, times: map[*measure.Access]map[model.VA]int{}, landed: map[model.PA]int{}}
	host, peer := s.host.seen, s.peer.seen
	s.host.seen = func(now clocked.Time, d *msg.DMA) { p.host(d); host(now, d) }
	s.peer.seen = func(now clocked.Time, d *msg.DMA) { p.peer(d); peer(now, d) }
	return p
}

func (p *placement) host(d *msg.DMA) {
	va, _, ok := user(d.PA)
	if d.Kind != msg.KindData || !ok {
		return
	}
	a := p.access[d.Counts]
	if p.times[a] == nil {
		p.times[a] = map[model.VA]int{}
	}
	for i := range d.Len {
		offset := uint64(va + model.VA(i) - a.VA)
		if a.Op == model.OpSend {
			offset = uint64(va+model.VA(i)) % 16384
		}
		if d.Write && d.Oracle.Write != (a.ID+1)<<24|offset/uint64(p.s.resp.mtu) {
			p.t.Fatalf("%v %d: byte %d comes from segment %#x", a.Op, a.ID, offset, d.Oracle.Write)
		}
		p.times[a][va+model.VA(i)]++
	}
}

func (p *placement) peer(d *msg.DMA) {
	if d.Kind == msg.KindData && d.Write {
		for i := range d.Len {
			p.landed[d.PA+model.PA(i)]++
		}
	}
}

// finish checks how often each byte moved: of a READ once, on both sides; of
// what is written once, and once more at most for each segment that was dropped
// half placed.
func (p *placement) finish() {
	want := map[model.PA]int{}
	good := true
	for _, a := range p.s.driver.finished {
		good = good && a.Status == measure.StatusOK
		for va, n := range p.times[a] {
			if most := 1 + int(a.Counts.TCPDrops); n > most && !a.Op.Atomic() || a.Op == model.OpRead && n != 1 {
				p.t.Fatalf("%v %d: byte %#x was moved %d times, %d drops", a.Op, a.ID, va, n, a.Counts.TCPDrops)
			}
		}
		for i := uint32(0); a.Op == model.OpRead && i < a.Len; i++ {
			part := i % p.s.resp.mtu // a response lies in one piece
			want[model.PA(1<<30+(uint64(a.VA)+uint64(i-part))%(1<<20)+uint64(part))]++
		}
	}
	for pa, n := range p.landed {
		if good && want[pa] != n || want[pa] < n {
			p.t.Fatalf("byte %#x of the peer was written %d times, want %d", pa, n, want[pa])
		}
		delete(want, pa)
	}
	if good && len(want) != 0 {
		p.t.Fatalf("%d bytes of READs never reached the peer", len(want))
	}
}

// checkDrops asserts that every segment dropped for its page came again, but
// for the one that each stream may still wait for, and that the accesses were
// told of each.
func checkDrops(t rapid.TB, s *sandwich) {
	st := s.resp.Stats.TCP
	drops := st.DropsMoving + st.DropsAbsent
	waiting, counted := s.resp.DropsOutstanding(), uint64(0)
	for _, a := range s.driver.finished {
		counted += uint64(a.Counts.TCPDrops)
	}
	if drops != st.Returned+waiting || drops != counted || s.req.Stats.PacketsResent < st.Returned {
		t.Errorf("%d dropped (%d by accesses), %d came again, %d missing, %d sent again", drops, counted, st.Returned, waiting, s.req.Stats.PacketsResent)
	}
}

func drawIWARP(t *rapid.T) *scene {
	c := drawScene(t, iwarpSpec(t))
	c.spec.QP.FaultResponse = rapid.SampledFrom([]string{"rnr", "rnr", "hold"}).Draw(t, "fault_response")
	tcp := c.spec.TCP
	tcp.MinRTO = clocked.Time(rapid.IntRange(20, 300).Draw(t, "min_rto")) * clocked.Microsecond
	tcp.MaxRTO = 4 * tcp.MinRTO
	tcp.Retries = rapid.SampledFrom([]int{2, 1e6, 1e6, 1e6}).Draw(t, "retries")
	tcp.InitialWindow = rapid.IntRange(1, 10).Draw(t, "initial_window")
	tcp.Window = model.Bytes(rapid.SampledFrom([]int{8, 32, 256}).Draw(t, "tcp window")) << 10
	tcp.FastRetransmit = rapid.Bool().Draw(t, "fast_retransmit")
	tcp.OutOfOrder = rapid.SampledFrom(outOfOrderNames).Draw(t, "out_of_order")
	tcp.Timestamps = rapid.Bool().Draw(t, "timestamps")
	tcp.AckEvery = rapid.IntRange(1, 3).Draw(t, "ack_every")
	tcp.DelayedAck = clocked.Time(rapid.IntRange(1, 60).Draw(t, "delayed_ack")) * clocked.Microsecond
	c.spec.Adapter.RxBuffer = model.Bytes(rapid.SampledFrom([]int{8, 16, 64}).Draw(t, "rx_buffer")) << 10
	c.expectAllGood = tcp.Retries > 2
	c.spec.QP.Damming = false
	if c.spec.TranslatePer == "tlp" && c.fault > 50 {
		c.fault = 50 // else no segment of 17 look-ups ever gets through
	}
	return c
}

// RC-1: iWARP under random faults, losses in both directions, revocations and
// parameters: everything once and in order, causes that add up, drops that all
// come again, and the same result in every tick order.
func TestIWARPRules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawIWARP(rt)
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
