package pcie

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// tree is adapters of two clients each behind one switch, between mocks.
type tree struct {
	spec    SwitchSpec
	devices []Device
	links   []*Link
	engine  *clocked.Engine
	clients [][]*mockClient // by adapter
	memory  *mockMemory
	mmio    *mockSoftware
	iommu   *mockSoftware
}

const treeClients = 2

// treeSpec is what tests change before a tree is built.
type treeSpec struct {
	SwitchSpec
	devices []Device
	latency clocked.Time // of memory
	shuffle uint64
}

// newTree puts so many adapters with default links behind a switch.
func newTree(t tb, adapters int, options ...func(*treeSpec)) *tree {
	t.Helper()
	s := treeSpec{SwitchSpec: SwitchSpec{Latency: 115 * ns, PCIe: defaultSpec(t)}, latency: 400 * ns}
	for i := range adapters {
		s.devices = append(s.devices, Device{fmt.Sprintf("pcie%d", i), defaultSpec(t), clocked.NewDomain(800_000_000)})
		s.devices[i].Spec.Adapter = uint16(i)
	}
	for _, o := range options {
		o(&s)
	}
	b := &tree{spec: s.SwitchSpec, devices: s.devices, engine: clocked.NewEngine()}
	if s.shuffle > 0 {
		b.engine.Shuffle(s.shuffle)
	}
	var err error
	if b.links, err = NewSwitched(b.engine, "switch0", s.SwitchSpec, s.devices); err != nil {
		t.Fatal(err)
	}
	b.connectHost(s.latency)
	for i, l := range b.links {
		b.connectAdapter(l, s.devices[i].Clock)
	}
	return b
}

func (b *tree) connectHost(latency clocked.Time) {
	e, root := b.engine, b.root()
	b.memory = &mockMemory{engine: e, latency: latency}
	b.memory.id = e.Register(b.memory)
	b.mmio, b.iommu = &mockSoftware{}, &mockSoftware{}
	b.mmio.id, b.iommu.id = e.Register(b.mmio), e.Register(b.iommu)
	host := RootPorts{
		MMIO:    wire[msg.Doorbell](e, b.mmio.id, root.ID(), clocked.Domain{}, 4, hop),
		Message: wire[msg.Doorbell](e, b.iommu.id, root.ID(), clocked.Domain{}, 4, hop),
		MemReq:  wire[msg.MemReq](e, root.ID(), b.memory.id, clocked.Domain{}, 8, hop),
		MemDone: wire[msg.MemDone](e, b.memory.id, root.ID(), clocked.Domain{}, 1024, hop),
	}
	b.memory.req, b.memory.done, b.mmio.out, b.iommu.out = host.MemReq, host.MemDone, host.MMIO, host.Message
	root.Connect(host)
}

func (b *tree) connectAdapter(l *Link, clock clocked.Domain) {
	e := b.engine
	var ports EndpointPorts
	var clients []*mockClient
	for i := range treeClients {
		c := &mockClient{engine: e, clock: clock, index: i}
		c.id = e.Register(c)
		c.Client = Client{Req: requests(e, c.id, l.Endpoint.ID(), true),
			Done:     wire[msg.DMADone](e, l.Endpoint.ID(), c.id, clock, 8, cycle),
			Doorbell: wire[msg.Doorbell](e, l.Endpoint.ID(), c.id, clock, 2, cycle)}
		ports.Clients = append(ports.Clients, c.Client)
		clients = append(clients, c)
	}
	l.Endpoint.Connect(ports)
	b.clients = append(b.clients, clients)
}

func (b *tree) root() *RootPort { return b.links[0].Root }
func (b *tree) hub() *Switch    { return b.links[0].Switch }

// run starts everybody and runs until nothing is left to do.
func (b *tree) run(t tb) {
	t.Helper()
	b.runUntil(t, clocked.Never)
}

func (b *tree) runUntil(t tb, limit clocked.Time) {
	t.Helper()
	for _, all := range b.clients {
		for _, c := range all {
			if len(c.todo) > 0 {
				b.engine.Wake(c.id, max(b.engine.Now()+1, c.clock.Edge(c.start)))
			}
		}
	}
	for _, s := range []*mockSoftware{b.mmio, b.iommu} {
		if len(s.todo) > 0 {
			b.engine.Wake(s.id, b.engine.Now()+1)
		}
	}
	if err := b.engine.RunUntil(limit); err != nil {
		t.Fatal(err)
	}
}

// rest checks that nothing is left anywhere: TLPs, places, tags, credits.
func (b *tree) rest(t tb) {
	t.Helper()
	u := b.hub()
	if !u.Idle() || len(u.Waits()) > 0 || u.transits.used() > 0 || u.Unrouted() > 0 {
		t.Errorf("switch: idle %v, waits %q, %d TLPs kept, %d for nobody", u.Idle(), u.Waits(), u.transits.used(), u.Unrouted())
	}
	up := b.spec.PCIe
	b.full(t, u.ports[0].name, &u.ports[0].tx, &up.Credits)
	lower := up.AdapterCredits.finite()
	b.full(t, b.root().name, &b.root().tx, &lower)
	for i, l := range b.links {
		if !l.Idle() || len(l.Endpoint.Waits()) > 0 || len(l.Root.Waits()) > 0 {
			t.Errorf("adapter %d: idle %v, waits %q %q", i, l.Idle(), l.Endpoint.Waits(), l.Root.Waits())
		}
		d := &b.devices[i].Spec
		upper := d.Credits.finite()
		b.full(t, l.Endpoint.name, &l.Endpoint.tx, &upper)
		b.full(t, u.ports[i+1].name, &u.ports[i+1].tx, &d.AdapterCredits)
		if n := l.Endpoint.tags.used(); n > 0 || l.Endpoint.tx.space != uint32(d.CompletionBuffer) {
			t.Errorf("adapter %d: %d tags are taken, %d B of completion space are free", i, n, l.Endpoint.tx.space)
		}
	}
}

// full checks that a transmitter has all credits and an empty replay buffer, once
// what costs no event has come.
func (b *tree) full(t tb, name string, x *transmitter, advertised *Credits) {
	t.Helper()
	x.collect(b.engine.Now() + clocked.Millisecond)
	for p, n := range advertised.pools() {
		if free := int(x.credits[p].Free()); free != n {
			t.Errorf("%s: %d of %d credits %v", name, free, n, rules.Pool(p))
		}
	}
	if x.sequence.Outstanding() > 0 || x.held > 0 {
		t.Errorf("%s: %d TLPs are left in the replay buffer", name, x.sequence.Outstanding())
	}
}

// at sets when the clients of an adapter start.
func (b *tree) at(adapter int, start clocked.Time) *mockClient {
	c := b.clients[adapter][0]
	c.start = start
	return c
}

// tlps are all TLPs sent.
func (s *Stats) tlps() uint64 { return s.TLPs[0] + s.TLPs[1] + s.TLPs[2] }

// untouched checks that the upstream link has carried nothing.
func (b *tree) untouched(t *testing.T, what string) {
	t.Helper()
	up, down := b.hub().Upstream(), b.root().Stats()
	if up.tlps()+down.tlps() > 0 || len(b.memory.got) > 0 {
		t.Errorf("%s: %d TLPs went up, %d came down, memory saw %d requests", what, up.tlps(), down.tlps(), len(b.memory.got))
	}
}
