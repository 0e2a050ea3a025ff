package pcie

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// Memory takes nothing: what is accepted is bounded by queues and credits, and
// all of it arrives in order once memory goes on.
func TestBlockedMemory(t *testing.T) {
	for _, headers := range []int{0, 20} { // infinite, finite
		r := newRig(t, func(s *rigSpec) { s.Credits.PH = headers })
		r.memory.blocked = true
		const n = 1000
		r.clients[0].todo = repeat(write1(0, 256), n)
		r.run(t)
		held := n - len(r.clients[0].todo)
		// Memory's wire, the receive buffer, the write queue, the client's wire.
		if most := 8 + r.Endpoint.tx.out[msg.Posted].Depth() + 32 + 4; held > most || held < 8+headers+32+4 {
			t.Errorf("%d headers: %d accepted with memory blocked, want at most %d", headers, held, most)
		}
		if len(r.Root.Waits()) == 0 || len(r.Endpoint.Waits()) == 0 {
			t.Errorf("waits %q %q, want lines from both ends", r.Endpoint.Waits(), r.Root.Waits())
		}
		r.memory.blocked = false
		r.engine.Wake(r.memory.id, r.engine.Now()+1)
		r.run(t)
		for i, m := range r.memory.got {
			if m.msg.Cookie != uint64(i) {
				t.Fatalf("write %d came as number %d", m.msg.Cookie, i)
			}
		}
		if len(r.memory.got) != n {
			t.Errorf("%d of %d writes arrived", len(r.memory.got), n)
		}
		conserved(t, r)
	}
}

// A client that takes no answers is not served any more; another is, and
// nothing is lost.
func TestClientThatTakesNoAnswers(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.clients, s.doneLen = 2, 2 })
	r.clients[0].deaf = true
	d := write1(0, 64)
	d.Notify = true
	r.clients[0].todo = append(repeat(read1(0, 64), 200), repeat(d, 200)...)
	r.clients[1].todo = repeat(read1(0, 64), 300)
	r.run(t)
	if len(r.clients[0].todo) == 0 || len(r.clients[1].dones) != 300 {
		t.Fatalf("deaf client has %d DMAs left, the other %d of 300 answers", len(r.clients[0].todo), len(r.clients[1].dones))
	}
	r.clients[0].deaf = false
	r.engine.Wake(r.clients[0].id, r.engine.Now()+1)
	r.run(t)
	if n := len(r.clients[0].dones); n != 400 {
		t.Errorf("%d of 400 answers", n)
	}
	conserved(t, r)
}

// Two clients with the same load get the same share at every moment.
func TestClientsShareInRotation(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.clients = 2 })
	r.clients[0].todo = repeat(write1(0, 64), 500)
	r.clients[1].todo = repeat(write1(1<<40, 64), 500)
	r.run(t)
	balance := 0
	for i, m := range r.memory.got {
		if m.msg.PA < 1<<40 {
			balance++
		} else {
			balance--
		}
		if balance < -2 || balance > 2 {
			t.Fatalf("after %d writes one client is %d ahead", i+1, balance)
		}
	}
}

// nag wakes units again and again although nothing happened.
type nag struct {
	engine *clocked.Engine
	id     clocked.UnitID
	units  []clocked.UnitID
	random *rand.Rand
	until  clocked.Time
}

func (n *nag) Name() string { return "nag" }
func (n *nag) Tick(now clocked.Time) {
	if now > n.until {
		return
	}
	for _, u := range n.units {
		n.engine.Wake(u, now+1+clocked.Time(n.random.Int64N(900)))
	}
	n.engine.Wake(n.id, now+1+clocked.Time(n.random.Int64N(900)))
}

// traffic is a run of mixed random traffic behind an IOMMU, in text.
func traffic(t tb, shuffle uint64, nagged, tight bool) string {
	r := newRig(t, func(s *rigSpec) {
		s.clients, s.shuffle, s.doneLen, s.loud, s.iommu = 2, shuffle, 2, shuffle%2 == 1, true
		if tight {
			s.pace = 7777 * clocked.Picosecond
			s.Credits = Credits{PH: 3, PD: 20, NPH: 2, NPD: 1}
			s.AdapterCredits = Credits{PH: 1, PD: 16, CPLH: 3, CPLD: 24}
			s.Tags, s.CompletionBuffer, s.ReadQueue, s.WriteQueue, s.SplitPolicy = 5, 1024, 2, 2, SplitRCB
		}
	})
	random := rand.New(rand.NewPCG(1, 2))
	for c := range r.clients {
		for i := range 300 {
			d := msg.DMA{Write: random.IntN(2) == 0, Notify: random.IntN(2) == 0,
				PA: model.PA(random.Uint64N(1 << 30)), Len: 1 + random.Uint32N(1500), Cookie: uint64(i)}
			d.Address.PASID = random.Uint32N(2)
			switch {
			case random.IntN(4) > 0:
			case d.Write:
				d.Kind = msg.KindMessage
			default:
				d.Kind, d.Len = msg.KindATS, 8
			}
			r.clients[c].todo = append(r.clients[c].todo, d)
		}
	}
	for i := range 100 {
		r.mmio.todo = append(r.mmio.todo, msg.Doorbell{Client: uint8(i % 2), Len: 8 + random.Uint32N(100), Cookie: uint64(i)})
		r.iommu.todo = append(r.iommu.todo, msg.Doorbell{Message: true, Client: uint8(i % 2), Cookie: uint64(i)})
	}
	r.memory.status = func(q *msg.MemReq) msg.Status { return msg.Status(q.PA >> 6 & q.PA >> 8 & 3) }
	if nagged {
		n := &nag{engine: r.engine, units: []clocked.UnitID{r.Endpoint.ID(), r.Root.ID()}, random: random, until: 100 * clocked.Microsecond}
		n.id = r.engine.Register(n)
		r.engine.Wake(n.id, 1)
	}
	r.run(t)
	conserved(t, r)
	return fmt.Sprint(r.memory.got, r.clients[0].dones, r.clients[1].dones, r.clients[0].bells, r.clients[1].bells, r.mmio.rung, r.iommu.rung,
		r.Endpoint.Stats(), r.Root.Stats())
}

// The order of ticks within an instant and needless ticks change nothing.
func TestShuffleAndNeedlessTicks(t *testing.T) {
	for _, tight := range []bool{false, true} {
		want := traffic(t, 0, false, tight)
		for seed := range uint64(8) {
			for _, nagged := range []bool{false, true} {
				if got := traffic(t, seed, nagged, tight); got != want {
					t.Errorf("tight %v, shuffle %d, nagged %v: differs", tight, seed, nagged)
				}
			}
		}
	}
}

// flood keeps a link busy with reads and writes without end and without
// allocation.
type flood struct {
	Client
	engine *clocked.Engine
	id     clocked.UnitID
	clock  clocked.Domain
	count  uint64
	mixed  bool
	ats    *msg.InvalidateDone // not nil: one DMA in four is for the IOMMU
}

func (f *flood) Name() string { return "flood" }
func (f *flood) Tick(now clocked.Time) {
	for d := f.Done.Peek(now); d != nil; d = f.Done.Peek(now) {
		f.Done.Pop(now)
	}
	if f.clock.Edge(now) == now && f.Req.Ready(now) {
		f.count++
		d := f.Req.Push(now)
		*d = msg.DMA{Write: f.mixed && f.count%2 == 0, PA: model.PA(f.count << 8), Len: 64}
		if f.ats != nil && f.count%8 < 2 {
			d.Body, d.Kind = f.ats, msg.KindATS
			if d.Write {
				d.Kind = msg.KindMessage
			}
		}
		f.engine.Wake(f.id, f.clock.Next(now))
	} else if f.clock.Edge(now) != now {
		f.engine.Wake(f.id, f.clock.Next(now))
	}
}

func newFlood(t tb) (*rig, *flood) {
	r := newRig(t)
	r.memory.quiet = true
	f := &flood{engine: r.engine, clock: r.clock(), mixed: true}
	f.id = r.engine.Register(f)
	f.Client = Client{
		Req:      requests(r.engine, f.id, r.Endpoint.ID(), true),
		Done:     wire[msg.DMADone](r.engine, r.Endpoint.ID(), f.id, f.clock, 8, cycle),
		Doorbell: wire[msg.Doorbell](r.engine, r.Endpoint.ID(), f.id, f.clock, 2, cycle),
	}
	r.Endpoint.Connect(EndpointPorts{Clients: []Client{f.Client}})
	r.engine.Wake(f.id, cycle)
	r.runUntil(t, 200*clocked.Microsecond)
	return r, f
}

func TestNoAllocation(t *testing.T) {
	r, f := newFlood(t)
	f.ats = &msg.InvalidateDone{}
	r.runUntil(t, r.engine.Now()+20*clocked.Microsecond)
	before := f.count
	allocs := testing.AllocsPerRun(5, func() { r.runUntil(t, r.engine.Now()+10*clocked.Microsecond) })
	if allocs != 0 || f.count < before+10000 {
		t.Errorf("%v allocations while %d DMAs were issued, want 0", allocs, f.count-before)
	}
}

// Either end ticks at most once for each TLP that it sends or receives; the
// endpoint, whose queues are always full here, once more for each DMA that it
// accepts.
func TestTicksPerTLP(t *testing.T) {
	r, f := newFlood(t)
	var ticks tickCounter
	r.engine.AcceptHook(&ticks)
	accepted, tlps := f.count, r.sent()
	r.runUntil(t, r.engine.Now()+20*clocked.Microsecond)
	accepted, tlps = f.count-accepted, r.sent()-tlps
	if ticks.endpoint > tlps+accepted+10 || ticks.root > tlps+10 {
		t.Errorf("%d ticks of the endpoint and %d of the root port for %d TLPs and %d DMAs", ticks.endpoint, ticks.root, tlps, accepted)
	}
}

// tickCounter counts the ticks of both ends.
type tickCounter struct{ endpoint, root uint64 }

func (c *tickCounter) Func(ctx sim.HookCtx) {
	if ctx.Pos != sim.HookPosBeforeEvent {
		return
	}
	switch u, _ := ctx.Item.(sim.Event).Handler().(sim.Named); u.Name() {
	case "pcie0.endpoint":
		c.endpoint++
	case "pcie0.root":
		c.root++
	}
}

// sent is the number of TLPs of both directions.
func (r *rig) sent() (n uint64) {
	up, down := r.Endpoint.Stats().TLPs, r.Root.Stats().TLPs
	for c := range numClasses {
		n += up[c] + down[c]
	}
	return n
}

// BenchmarkTLP is the cost of a TLP from end to end, clients and memory included.
func BenchmarkTLP(b *testing.B) {
	r, _ := newFlood(b)
	b.ReportAllocs()
	b.ResetTimer()
	for end := r.sent() + uint64(b.N); r.sent() < end; {
		r.runUntil(b, r.engine.Now()+clocked.Microsecond)
	}
}
