package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

const ns = clocked.Nanosecond

// cycle is the period of the adapter's clock in the tests.
const cycle = 1250 * clocked.Picosecond

// hop is the latency of the host's wires in the tests.
const hop = ns

// rig is a link between mock clients and a mock memory.
type rig struct {
	*Link
	spec    Spec
	engine  *clocked.Engine
	clients []*mockClient
	memory  *mockMemory
	mmio    *mockSoftware
	iommu   *mockSoftware // nil without
}

type option func(*rigSpec)

type rigSpec struct {
	Spec
	clients int
	awake   bool // clients tick in every cycle
	shuffle uint64
	latency clocked.Time // of memory, with the wire back
	pace    clocked.Time // of memory
	doneLen int
	loud    bool // pushes of DMAs always wake the endpoint
	iommu   bool // messages come from an IOMMU, which also answers translation requests
}

// tb is what testing.T, testing.B and rapid.T share.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func defaultSpec(t tb) Spec {
	var s Spec
	if err := configs.Defaults(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func newRig(t tb, options ...option) *rig {
	s := rigSpec{Spec: defaultSpec(t), clients: 1, latency: 400 * ns, doneLen: 8}
	for _, o := range options {
		o(&s)
	}
	e := clocked.NewEngine()
	if s.shuffle > 0 {
		e.Shuffle(s.shuffle)
	}
	clock := clocked.NewDomain(800_000_000)
	link, err := New(e, "pcie0", s.Spec, clock)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Link: link, spec: s.Spec, engine: e}
	r.memory = &mockMemory{engine: e, latency: s.latency, pace: s.pace}
	r.memory.id = e.Register(r.memory)
	r.mmio = &mockSoftware{}
	r.mmio.id = e.Register(r.mmio)
	host := RootPorts{
		MMIO:    wire[msg.Doorbell](e, r.mmio.id, link.Root.ID(), clocked.Domain{}, 4, hop),
		MemReq:  wire[msg.MemReq](e, link.Root.ID(), r.memory.id, clocked.Domain{}, 8, hop),
		MemDone: wire[msg.MemDone](e, r.memory.id, link.Root.ID(), clocked.Domain{}, 1024, hop),
	}
	r.memory.req, r.memory.done, r.mmio.out = host.MemReq, host.MemDone, host.MMIO
	if s.iommu {
		r.iommu = &mockSoftware{}
		r.iommu.id = e.Register(r.iommu)
		host.Message = wire[msg.Doorbell](e, r.iommu.id, link.Root.ID(), clocked.Domain{}, 4, hop)
		r.iommu.out = host.Message
	}
	link.Root.Connect(host)
	var ports EndpointPorts
	for i := range s.clients {
		c := &mockClient{engine: e, clock: clock, awake: s.awake, index: i}
		c.id = e.Register(c)
		c.Client = Client{
			Req:      requests(e, c.id, link.Endpoint.ID(), !s.loud),
			Done:     wire[msg.DMADone](e, link.Endpoint.ID(), c.id, clock, s.doneLen, cycle),
			Doorbell: wire[msg.Doorbell](e, link.Endpoint.ID(), c.id, clock, 2, cycle),
		}
		ports.Clients = append(ports.Clients, c.Client)
		r.clients = append(r.clients, c)
	}
	link.Endpoint.Connect(ports)
	return r
}

func wire[T any](e *clocked.Engine, from, to clocked.UnitID, d clocked.Domain, depth int, latency clocked.Time) *clocked.Wire[T] {
	return clocked.NewWire[T](e, clocked.WireSpec{Name: "w", Writer: from, Reader: to, Domain: d, Depth: depth, Latency: latency})
}

// requests is a client's wire to the endpoint.
func requests(e *clocked.Engine, from, to clocked.UnitID, quiet bool) *clocked.Wire[msg.DMA] {
	return clocked.NewWire[msg.DMA](e, clocked.WireSpec{Name: "req", Writer: from, Reader: to,
		Domain: clocked.NewDomain(800_000_000), Depth: 4, Latency: cycle, Quiet: quiet})
}

// run starts everybody and runs until nothing is left to do.
func (r *rig) run(t tb) { r.runUntil(t, clocked.Never) }

func (r *rig) runUntil(t tb, limit clocked.Time) {
	t.Helper()
	for _, c := range r.clients {
		if len(c.todo) > 0 {
			r.engine.Wake(c.id, max(r.engine.Now()+1, r.clock().Edge(c.start)))
		}
	}
	for _, s := range []*mockSoftware{r.mmio, r.iommu} {
		if s != nil && len(s.todo) > 0 {
			r.engine.Wake(s.id, r.engine.Now()+1)
		}
	}
	if err := r.engine.RunUntil(limit); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) clock() clocked.Domain { return r.Endpoint.clock }

// mockClient issues its DMAs as fast as it can and notes the answers.
type mockClient struct {
	Client
	engine *clocked.Engine
	id     clocked.UnitID
	clock  clocked.Domain
	index  int
	start  clocked.Time
	awake  bool
	deaf   bool // takes neither answers nor doorbells
	todo   []msg.DMA
	dones  []seen[msg.DMADone]
	bells  []seen[msg.Doorbell]
}

// seen is a message and when it was visible.
type seen[T any] struct {
	at  clocked.Time
	msg T
}

func (c *mockClient) Name() string { return "client" }

func (c *mockClient) Tick(now clocked.Time) {
	for !c.deaf {
		d := c.Done.Peek(now)
		if d == nil {
			break
		}
		c.dones = append(c.dones, seen[msg.DMADone]{now, *d})
		c.Done.Pop(now)
	}
	for !c.deaf {
		d := c.Doorbell.Peek(now)
		if d == nil {
			break
		}
		c.bells = append(c.bells, seen[msg.Doorbell]{now, *d})
		c.Doorbell.Pop(now)
	}
	if len(c.todo) == 0 || now < c.start {
		return
	}
	if c.clock.Edge(now) != now {
		c.engine.Wake(c.id, c.clock.Next(now))
		return
	}
	pushed := c.Req.Ready(now)
	if pushed {
		d := c.todo[0]
		if d.Ledger != nil && d.Ledger.Last == 0 {
			d.Ledger.Open(now)
		}
		*c.Req.Push(now) = d
		c.todo = c.todo[1:]
	}
	if len(c.todo) > 0 && (c.awake || pushed) {
		c.engine.Wake(c.id, c.clock.Next(now))
	}
}

// mockMemory takes requests, one in each pace if that is not 0, and answers
// reads after a fixed latency, which it charges. It stands for an IOMMU too.
type mockMemory struct {
	engine  *clocked.Engine
	pace    clocked.Time
	next    clocked.Time // when the next request can be taken
	id      clocked.UnitID
	req     *clocked.Wire[msg.MemReq]
	done    *clocked.Wire[msg.MemDone]
	status  func(*msg.MemReq) msg.Status
	latency clocked.Time
	blocked bool
	stale   bool
	got     []seen[msg.MemReq]
	quiet   bool // keeps no record
}

func (m *mockMemory) Name() string { return "memory" }

func (m *mockMemory) Tick(now clocked.Time) {
	for !m.blocked {
		r := m.req.Peek(now)
		if r == nil {
			return
		}
		if !r.Write && !m.done.Ready(now) {
			return
		}
		if now < m.next {
			m.engine.Wake(m.id, m.next)
			return
		}
		m.next = now + m.pace
		if !m.quiet {
			m.got = append(m.got, seen[msg.MemReq]{now, *r})
		}
		if !r.Write {
			if r.Ledger != nil {
				r.Ledger.Charge(now+m.latency, measure.CauseHostMemory)
			}
			a := m.done.PushAt(now, now+m.latency)
			*a = msg.MemDone{Kind: r.Kind, Tag: r.Tag, Adapter: r.Adapter, Len: r.Len, PA: r.PA, Ledger: r.Ledger,
				Stale: m.stale, Relaxed: r.Relaxed}
			if r.Kind == msg.KindATS {
				a.Entry = uint64(r.PA) + 1
			}
			if m.status != nil {
				a.Status = m.status(r)
			}
		}
		m.req.Pop(now)
	}
}

// mockSoftware rings doorbells, or sends messages, as fast as it can.
type mockSoftware struct {
	id   clocked.UnitID
	out  *clocked.Wire[msg.Doorbell]
	todo []msg.Doorbell
	rung []clocked.Time
}

func (m *mockSoftware) Name() string { return "software" }

func (m *mockSoftware) Tick(now clocked.Time) {
	for len(m.todo) > 0 && m.out.Ready(now) {
		*m.out.Push(now) = m.todo[0]
		m.rung = append(m.rung, now)
		m.todo = m.todo[1:]
	}
}

// serial is the time of n bytes on the link, rounded up as the link does.
func serial(s *Spec, n int64) clocked.Time {
	num, den := rules.ByteTime(s.Gen, s.Lanes)
	return clocked.Time((n*num + den - 1) / den)
}

// writeBytes, requestBytes and completionBytes are sizes on the wire of TLPs
// without attributes whose data are whole double words.
func writeBytes(s *Spec, pa model.PA, n uint32) int64 {
	return rules.TLPBytes(s.Gen, rules.Shape{Header: rules.RequestHeader(pa), Digest: s.ECRC, Payload: n})
}
func requestBytes(s *Spec, pa model.PA) int64 { return writeBytes(s, pa, 0) }
func completionBytes(s *Spec, n uint32) int64 { return writeBytes(s, 0, n) }

func write1(pa model.PA, n uint32) msg.DMA { return msg.DMA{Write: true, PA: pa, Len: n} }
func read1(pa model.PA, n uint32) msg.DMA  { return msg.DMA{PA: pa, Len: n} }

func repeat(d msg.DMA, n int) []msg.DMA {
	out := make([]msg.DMA, n)
	for i := range out {
		out[i] = d
		out[i].Cookie = uint64(i)
		out[i].PA += model.PA(i) << 12
	}
	return out
}
