package platform

import (
	"errors"
	"fmt"
	"math"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/hostmmu/memory"
	"rnicmmu/components/pcie"
	"rnicmmu/components/tpt"
	"rnicmmu/components/transport"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

// Physical addresses of the adapters' tables and queues: above every frame.
const (
	tableBase  model.PA = 1 << 44
	tableSpan  model.PA = 1 << 42 // one adapter
	queueSpace model.PA = 1 << 40 // within an adapter's span: QP contexts and their queues
	eventSpace model.PA = 1 << 41 // and queues of commands and events
)

// hostHop is a register between units of the host.
const hostHop = clocked.Nanosecond

// domain is the protection domain of everything in a run.
const domain = 1

// build makes the units from the host outwards, then joins them.
func (s *System) build(adapters []Spec, order []int, in *Input) error {
	if err := s.buildKernel(adapters); err != nil {
		return err
	}
	if err := s.buildIOMMU(adapters); err != nil {
		return err
	}
	if err := s.buildMemory(adapters); err != nil {
		return err
	}
	s.buildDriver(len(adapters), in)
	s.nodes, s.links = make([]*node, len(adapters)), make([]*pcie.Link, len(adapters))
	for _, i := range order {
		var err error
		if s.nodes[i], err = s.buildNode(i, adapters); err != nil {
			return err
		}
	}
	s.connect()
	return s.program()
}

// buildKernel makes the kernel and registers the memory on every adapter, at
// the same entries of each table.
func (s *System) buildKernel(adapters []Spec) error {
	config := kernel.Config{Seed: s.spec.Seed, OnInvalidation: s.onInvalidation, OnCPUAccess: s.onCPUAccess, OnFlushed: s.onFlushed}
	for i := range adapters {
		config.Adapters = append(config.Adapters, adapters[i].forKernel())
	}
	if s.script != nil {
		config.Initial = s.initial
	}
	if u := &s.spec.Host.IOMMU; u.Mode == "deferred" {
		config.FlushCount, config.FlushTime = u.FlushCount, u.FlushTime
	}
	spec := s.spec.Host.KernelSpec
	for i := range adapters { // software never posts more than the queue holds
		spec.Command.Outstanding = min(spec.Command.Outstanding, adapters[i].TPT.Invalidation.QueueDepth)
	}
	var err error
	if s.kernel, err = kernel.New(s.engine, "kernel", spec, config); err != nil {
		return err
	}
	var regions []kernel.Region
	for i := range s.space.Regions {
		r := &s.space.Regions[i]
		if r.Key = keyOf(i); s.spec.Workload.implicit() {
			r.Key = keyOf(0)
		}
	}
	for a := range adapters {
		for _, p := range s.tableOf(&adapters[a].TPT).pieces {
			k := p.region.Key
			rights, _ := s.rights(p.region, p.length)
			regions = append(regions, kernel.Region{VA: p.va, Length: p.length, Adapter: a,
				FirstPage: p.firstPage, FirstEntry: p.entry, Key: k, Window: s.windowOf(p.region), Writable: rights.Has(key.RemoteWrite), Dynamic: s.isDynamic(p.region),
				MPT: key.Region{Key: k, PD: domain, Rights: rights, FastReg: s.spec.Workload.RegistrationMethod == "fast"}})
		}
	}
	s.setup, err = s.kernel.Register(regions)
	var refused *Refused
	if over := s.spec.Pressure.Overcommit; over > 0 && errors.As(err, &refused) {
		most := math.Floor(1000*float64(s.userPages())/float64(refused.Pages)) / 1000
		refused.Reason += fmt.Sprintf(" (pressure.overcommit %g leaves so few; at most %g suffices)", over, most)
	}
	if err != nil {
		return err
	}
	return s.adviseStatic(regions)
}

// allRights are those of peers on the memory of the workload.
const allRights = key.LocalWrite | key.RemoteWrite | key.RemoteRead | key.RemoteAtomic

// keyOf is the key that the region of that number gets on every adapter.
func keyOf(region int) key.Key { return key.Make(uint32(region)+1, 0) }

// lineUp rounds a region's entries up to whole lines, so that no line holds
// entries of two regions.
func lineUp(entries uint64) uint64 { return (entries + mtt.MaxLine - 1) / mtt.MaxLine * mtt.MaxLine }

func (s *System) buildMemory(adapters []Spec) error {
	services := s.services(adapters)
	config := memory.Config{Clients: len(services), ReadService: s.spec.PCIe.ReadLatency - 2*hostHop, Services: services,
		Shift: s.spec.Host.Shift(), Frames: s.spec.Host.Frames(), Pages: s.kernel.Pages(), Slots: s.kernel.Pages()}
	for i := range adapters {
		if !s.spec.sharesRoot(i) {
			config.Sockets = append(config.Sockets, adapters[i].Host.NUMA.Socket)
		}
	}
	if s.spec.Host.IOMMU.Mode == "deferred" {
		config.Excused = s.kernel.DeferredStale
	}
	var err error
	s.memory, err = memory.New(s.engine, "memory", s.spec.Host.MemorySpec, config)
	return err
}

func (s *System) buildDriver(peers int, in *Input) {
	w := &s.spec.Workload
	s.driver = &driver{engine: s.engine, space: s.space, source: s.source, qps: uint32(w.QPs),
		outstanding: w.Outstanding, inline: uint32(s.spec.QP.Inline), warmup: s.spec.Warmup, peers: make([]driverPort, peers)}
	s.driver.deal = in != nil && in.NoQPs
	s.driver.grants = newAdvertiser(s.spec.Advertise, s.space, s.kernel.Reserved())
	if s.script != nil {
		s.driver.script = s.script
	} else {
		s.driver.registrar = newRegistrar(&s.spec, peers, s.space)
	}
	if in == nil && w.OfferedRate > 0 {
		s.driver.outstanding = 0
	}
	s.driver.id = s.engine.Register(s.driver)
}

// buildNode makes an adapter and its peer.
func (s *System) buildNode(i int, adapters []Spec) (*node, error) {
	spec := adapters[i]
	n := &node{spec: spec, clock: clocked.NewDomain(spec.TPT.Clock)}
	entries := s.tableOf(&spec.TPT).entries
	base := tableBase + model.PA(i)*tableSpan
	keys := s.keysOf()
	mode, pasid := spec.Mode()
	config := tpt.Config{Mode: mode, PASID: pasid, Seed: spec.Seed,
		Place: tpt.Place{MPT: base, MTT: s.TableAt(i), Keys: keys, Entries: max(1, entries), Queues: base + eventSpace}}
	// Software allots an adapter no more page requests than the ring holds.
	spec.TPT.PageRequests = min(spec.TPT.PageRequests, s.spec.Host.IOMMU.PageRequests)
	var err error
	if n.tpt, err = tpt.New(s.engine, name("tpt", i), spec.TPT, config); err != nil {
		return nil, err
	}
	if err := s.buildLinks(i, adapters); err != nil {
		return nil, err
	}
	n.link = s.links[i]
	return n, s.buildTransport(i, n, base+queueSpace)
}

func (s *System) buildTransport(i int, n *node, queues model.PA) error {
	spec := transport.Spec{QP: n.spec.QP, Adapter: n.spec.Adapter, Network: n.spec.Network,
		QPs: s.spec.Workload.QPs, HostPage: s.spec.Host.Shift(), AdapterPage: n.spec.TPT.PageShift(),
		MPS: uint32(n.spec.PCIe.MPS), MRRS: uint32(n.spec.PCIe.MRRS), TranslatePer: n.spec.TranslatePer}
	if n.spec.Transport == iwarp {
		spec.TCP = &n.spec.TCP
	}
	const entries = 64 // of a queue; only their addresses matter
	ring := model.PA(spec.QPs * entries * 64)
	host := transport.HostMemory{QPC: queues, RQ: queues + 1<<36, CQ: queues + 1<<36 + ring, Backup: queues + 1<<37, Entries: entries}
	var err error
	if n.responder, err = transport.NewResponder(s.engine, name("responder", i), spec, host, s.receiveBuffers(i), uint32(n.spec.QP.FirstPSN), &s.pool); err != nil {
		return err
	}
	local := transport.LocalMemory{SQ: 1 << 36, CQ: 1<<36 + ring, Entries: entries, Data: 1 << 40, Bytes: 1 << 30}
	if n.requester, err = transport.NewRequester(s.engine, name("requester", i), spec, local, uint32(n.spec.QP.FirstPSN), &s.pool); err != nil {
		return err
	}
	peer := s.spec.Peer.PCIe
	peer.Seed = s.spec.Seed
	if n.peerLink, err = pcie.New(s.engine, name("peer_pcie", i), peer, n.clock); err != nil {
		return fmt.Errorf("peer.%w", err)
	}
	config := memory.Config{Clients: 1, ReadService: s.spec.Peer.PCIe.ReadLatency - 2*hostHop, Shift: model.Shift4K}
	n.peerMemory, err = memory.New(s.engine, name("peer_memory", i), s.spec.Host.MemorySpec.OfPeer(), config)
	return err
}

// receiveBuffers are the rings of each QP of an adapter, in the receive region.
func (s *System) receiveBuffers(int) []transport.RecvBuffers {
	w := &s.spec.Workload
	buffers := make([]transport.RecvBuffers, w.QPs)
	for q := range buffers {
		buffers[q].PD = domain
	}
	last := len(s.space.Regions) - 1
	if last < 0 || s.space.Regions[last].Host != receiveHost {
		return buffers
	}
	r := &s.space.Regions[last]
	for q := range buffers {
		va := r.Placed + model.VA(uint64(q)*uint64(w.ReceiveBuffers)*uint64(w.ReceiveBytes))
		buffers[q] = transport.RecvBuffers{Key: uint32(r.Key), PD: domain, VA: va,
			Len: uint32(w.ReceiveBytes), Count: w.ReceiveBuffers, Page: s.space.Page(r, va)}
	}
	return buffers
}

// program registers the regions with each adapter and writes the entries and
// contents that exist before time 0.
func (s *System) program() error {
	for _, n := range s.nodes {
		if err := s.registerKeys(n); err != nil {
			return err
		}
	}
	for _, f := range s.setup.Fills {
		t := s.nodes[f.Adapter].tpt
		step := model.PA(s.nodes[f.Adapter].spec.TPT.PageShift().Bytes())
		for i := range f.Count {
			t.Table().Set(f.Entry+i, mtt.Entry{PA: f.PA + model.PA(i)*step, Read: true, Write: f.Write, Present: true}.Encode())
		}
	}
	s.preload()
	return nil
}

func (s *System) preload() {
	for _, r := range s.setup.Swapped {
		for i := range r.Count {
			s.memory.PreloadSwapped(r.First+i, r.First+i)
		}
	}
	for _, r := range s.setup.Resident {
		for i := range r.Count {
			s.memory.Preload(r.Frame+i, r.First+i)
		}
	}
}

func (s *System) onInvalidation(v *measure.Invalidation) {
	if s.record == nil {
		return
	}
	v.Warmup = s.warmAt < 0 || v.ID < s.baseInv
	s.record.Invalidation(s.engine.Now(), v)
}

func (s *System) onFlushed(window clocked.Time) {
	if s.warmAt >= 0 {
		s.windows.Record(window)
	}
}

func (s *System) onCPUAccess(latency clocked.Time) {
	if s.warmAt >= 0 {
		s.cpu.Record(latency)
	}
}
