package platform

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/iommu"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/hostmmu/memory"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/components/tpt"
	"rnicmmu/components/transport"
)

// Depths of the wires, in messages: enough that none is the bottleneck of the
// unit behind it.
const (
	depthRegister = 16  // between units of an adapter
	depthResults  = 64  // translations on their way
	depthNetwork  = 256 // packets in flight between peer and adapter
	depthInbox    = 64
)

// connect makes every wire.
func (s *System) connect() {
	inbox := hostWire[msg.Inbox](s, s.memory, s.kernel, depthInbox)
	pageOp := hostWire[msg.PageOp](s, s.kernel, s.memory, depthRegister)
	pageDone := hostWire[msg.PageDone](s, s.memory, s.kernel, depthRegister)
	kernelPorts := kernel.Ports{Inbox: inbox, PageOp: pageOp, PageDone: pageDone}
	memoryPorts := memory.Ports{Inbox: inbox, PageOp: pageOp, PageDone: pageDone}
	var guard iommu.Ports
	for i, n := range s.nodes {
		if s.spec.sharesRoot(i) {
			kernelPorts.Adapters = append(kernelPorts.Adapters, kernelPorts.Adapters[i-1])
			guard.Adapters = append(guard.Adapters, guard.Adapters[i-1])
		} else {
			s.connectRoot(n, &kernelPorts, &memoryPorts, &guard)
		}
		s.connectAdapter(n)
		s.connectPeer(i, n)
	}
	if s.iommu != nil {
		s.connectIOMMU(&guard, &kernelPorts, &memoryPorts)
	}
	if g := s.driver.registrar; g != nil {
		g.requests = hostWire[msg.Registration](s, s.driver, s.kernel, depthRegister)
		g.answers = hostWire[msg.Registered](s, s.kernel, s.driver, depthRegister)
		kernelPorts.Registration, kernelPorts.Registered = g.requests, g.answers
	}
	if s.script != nil {
		s.connectScript(&kernelPorts)
	}
	s.kernel.Connect(kernelPorts)
	s.memory.Connect(memoryPorts)
}

// connectRoot joins an adapter's root port to the kernel and to memory.
func (s *System) connectRoot(n *node, k *kernel.Ports, m *memory.Ports, guard *iommu.Ports) {
	mmio := hostWire[msg.Doorbell](s, s.kernel, n.link.Root, depthRegister)
	ports, client := iommu.AdapterPorts{}, memory.Client{}
	if n.spec.Behind() {
		client, ports = s.joinGuarded(n.link.Root, mmio)
	} else {
		client = s.joinRoot(n.link.Root, s.memory, mmio)
	}
	k.Adapters = append(k.Adapters, kernel.AdapterPort{MMIO: mmio})
	m.Clients = append(m.Clients, client)
	guard.Adapters = append(guard.Adapters, ports)
}

// joinRoot puts a root port in front of memory.
func (s *System) joinRoot(root *pcie.RootPort, mem *memory.Memory, mmio *clocked.Wire[msg.Doorbell]) memory.Client {
	req := hostWire[msg.MemReq](s, root, mem, depthRegister)
	done := hostWire[msg.MemDone](s, mem, root, depthRegister)
	root.Connect(pcie.RootPorts{MMIO: mmio, MemReq: req, MemDone: done})
	return memory.Client{Req: req, Done: done}
}

// joinGuarded puts a root port in front of the IOMMU, and that in front of memory.
func (s *System) joinGuarded(root *pcie.RootPort, mmio *clocked.Wire[msg.Doorbell]) (memory.Client, iommu.AdapterPorts) {
	client := memory.Client{Req: hostWire[msg.MemReq](s, s.iommu, s.memory, depthRegister),
		Done: hostWire[msg.MemDone](s, s.memory, s.iommu, depthRegister)}
	ports := iommu.AdapterPorts{Out: client.Req, MemDone: client.Done,
		Req:     hostWire[msg.MemReq](s, root, s.iommu, depthRegister),
		Done:    hostWire[msg.MemDone](s, s.iommu, root, depthRegister),
		Message: hostWire[msg.Doorbell](s, s.iommu, root, depthRegister)}
	root.Connect(pcie.RootPorts{MMIO: mmio, Message: ports.Message, MemReq: ports.Req, MemDone: ports.Done})
	return client, ports
}

// connectIOMMU joins the IOMMU to the kernel and to its own client of memory.
func (s *System) connectIOMMU(guard *iommu.Ports, k *kernel.Ports, m *memory.Ports) {
	guard.WalkReq = hostWire[msg.MemReq](s, s.iommu, s.memory, depthRegister)
	guard.WalkDone = hostWire[msg.MemDone](s, s.memory, s.iommu, depthRegister)
	guard.Commands = hostWire[*msg.IOMMUCommand](s, s.kernel, s.iommu, depthRegister)
	guard.Events = hostWire[msg.IOMMUEvent](s, s.iommu, s.kernel, depthRegister)
	k.IOMMU, k.IOMMUEvents = guard.Commands, guard.Events
	m.Clients = append(m.Clients, memory.Client{Req: guard.WalkReq, Done: guard.WalkDone})
	s.iommu.Connect(*guard)
}

func (s *System) connectAdapter(n *node) {
	c := n.clock
	client := func(u identified) pcie.Client {
		return pcie.Client{
			Req:      wire[msg.DMA](s, c, u, n.link.Endpoint, depthRegister),
			Done:     wire[msg.DMADone](s, c, n.link.Endpoint, u, depthRegister),
			Doorbell: wire[msg.Doorbell](s, c, n.link.Endpoint, u, depthRegister),
		}
	}
	data, tables := client(n.responder), client(n.tpt)
	n.link.Endpoint.Connect(pcie.EndpointPorts{Clients: []pcie.Client{data, tables}})
	translate := wire[msg.Translate](s, c, n.responder, n.tpt, depthRegister)
	results := wire[msg.Translation](s, c, n.tpt, n.responder, depthResults)
	release := wire[msg.Release](s, c, n.responder, n.tpt, depthRegister)
	n.tpt.Ports = tpt.Ports{Translate: translate, Translation: results, Release: release,
		DMA: tables.Req, DMADone: tables.Done, Doorbell: tables.Doorbell}
	requests := wire[*msg.Packet](s, c, n.requester, n.responder, depthNetwork)
	responses := wire[*msg.Packet](s, c, n.responder, n.requester, depthNetwork)
	n.responder.Connect(transport.ResponderPorts{Rx: requests, Tx: responses, Translate: translate,
		Translation: results, Release: release, DMA: data.Req, DMADone: data.Done})
	peer := pcie.Client{
		Req:      wire[msg.DMA](s, c, n.requester, n.peerLink.Endpoint, depthRegister),
		Done:     wire[msg.DMADone](s, c, n.peerLink.Endpoint, n.requester, depthRegister),
		Doorbell: wire[msg.Doorbell](s, c, n.peerLink.Endpoint, n.requester, depthRegister),
	}
	n.peerLink.Endpoint.Connect(pcie.EndpointPorts{Clients: []pcie.Client{peer}})
	n.requester.Connect(transport.RequesterPorts{Doorbell: peer.Doorbell, DMA: peer.Req, DMADone: peer.Done,
		Tx: requests, Rx: responses})
}

func (s *System) connectPeer(i int, n *node) {
	mmio := hostWire[msg.Doorbell](s, s.driver, n.peerLink.Root, depthRegister)
	inbox := hostWire[msg.Inbox](s, n.peerMemory, s.driver, depthInbox)
	client := s.joinRoot(n.peerLink.Root, n.peerMemory, mmio)
	n.peerMemory.Connect(memory.Ports{Clients: []memory.Client{client}, Inbox: inbox})
	s.driver.peers[i] = driverPort{mmio: mmio, inbox: inbox}
}

// identified is a unit at an end of a wire.
type identified interface {
	Name() string
	ID() clocked.UnitID
}

// WireInfo describes a wire between two units.
type WireInfo struct {
	From, To string
	Message  string // its Go type
	Depth    int    // messages
	Latency  clocked.Time
	Wire     any // *clocked.Wire of the message's type, to be watched
}

// Wires are the system's wires, in the order in which they were made.
func (s *System) Wires() []WireInfo { return s.wires }

// wire is a register of one cycle within an adapter.
func wire[T any](s *System, clock clocked.Domain, from, to identified, depth int) *clocked.Wire[T] {
	return join[T](s, from, to, clocked.WireSpec{Domain: clock, Depth: depth, Latency: clock.Period()})
}

// hostWire is a register between units of a host, which have no common clock.
func hostWire[T any](s *System, from, to identified, depth int) *clocked.Wire[T] {
	return join[T](s, from, to, clocked.WireSpec{Depth: depth, Latency: hostHop})
}

func join[T any](s *System, from, to identified, spec clocked.WireSpec) *clocked.Wire[T] {
	spec.Name = from.Name() + "→" + to.Name()
	spec.Writer, spec.Reader = from.ID(), to.ID()
	w := clocked.NewWire[T](s.engine, spec)
	s.wires = append(s.wires, WireInfo{From: from.Name(), To: to.Name(), Message: fmt.Sprintf("%T", *new(T)),
		Depth: spec.Depth, Latency: spec.Latency, Wire: w})
	return w
}
