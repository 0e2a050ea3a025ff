package pcie

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

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

func newFlood(t tb, options ...option) (*rig, *flood) {
	r := newRig(t, options...)
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

// Nothing on the way of a TLP allocates, whatever the order and whatever is lost.
func TestNoAllocation(t *testing.T) {
	finite := func(s *rigSpec) { s.AdapterCredits.CPLH, s.AdapterCredits.CPLD = 8, 64 }
	damaged := func(s *rigSpec) { s.Inject.BER = 1e-5 }
	for i, options := range [][]option{nil, {passes(PassRandom), finite}, {damaged}, {passes(PassAlways), finite, damaged}} {
		r, f := newFlood(t, options...)
		f.ats = &msg.InvalidateDone{}
		r.runUntil(t, r.engine.Now()+50*clocked.Microsecond)
		before := f.count
		allocs := testing.AllocsPerRun(5, func() { r.runUntil(t, r.engine.Now()+10*clocked.Microsecond) })
		if allocs != 0 || f.count < before+2000 {
			t.Errorf("case %d: %v allocations while %d DMAs were issued, want 0", i, allocs, f.count-before)
		}
	}
}

// Either end ticks once for each TLP that it sends or receives; the endpoint, whose
// queues are always full here, once more for each DMA that it accepts. A tick more
// is due where a TLP that is ready finds the line taken by an Ack, an UpdateFC or an
// SKP ordered set: in the 8 ns of the latter, each 3 µs, and of the backlog that it
// leaves, one TLP in 50 at most. Who waits for tags is not woken by Acks.
func TestTicksPerTLP(t *testing.T) {
	for _, option := range []option{func(*rigSpec) {}, func(s *rigSpec) { s.Tags = 4 }} {
		r, f := newFlood(t, option)
		var ticks tickCounter
		r.engine.AcceptHook(&ticks)
		accepted, tlps := f.count, r.sent()
		r.runUntil(t, r.engine.Now()+20*clocked.Microsecond)
		accepted, tlps = f.count-accepted, r.sent()-tlps
		if ticks.endpoint > tlps+accepted+tlps/50 || ticks.root > tlps+tlps/50 {
			t.Errorf("%d ticks of the endpoint and %d of the root port for %d TLPs and %d DMAs", ticks.endpoint, ticks.root, tlps, accepted)
		}
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
