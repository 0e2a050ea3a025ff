package platform

import (
	"errors"
	"fmt"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/iommu"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/hostmmu/memory"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/components/tpt"
	"rnicmmu/components/transport"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/workload"
)

// Refused says that the host refuses to register the memory: it cannot be
// pinned.
type Refused = kernel.Refused

// Stuck says that the model stopped itself, with a dump of who waits for whom.
type Stuck struct {
	Reason string
	Broken []measure.Violation // seen before by the checks beside the run, if there were any
	Waits  []string
}

func (s *Stuck) Error() string {
	lines := []string{s.Reason}
	for _, v := range s.Broken {
		lines = append(lines, fmt.Sprintf("broken before, at %v: %s: %s", v.TimePS, v.Rule, v.What))
	}
	return strings.Join(append(lines, s.Waits...), "\n  ")
}

// node is one adapter of the host and the peer that talks to it.
type node struct {
	spec      Spec
	clock     clocked.Domain
	tpt       *tpt.Unit
	link      *pcie.Link
	responder *transport.Responder

	requester  *transport.Requester
	peerLink   *pcie.Link
	peerMemory *memory.Memory
}

// System is a host with its adapters, each with a peer, ready to run once.
type System struct {
	spec   Spec // of the host and of what all share: the first adapter's
	engine *clocked.Engine
	nodes  []*node
	links  []*pcie.Link // of the nodes
	memory *memory.Memory
	kernel *kernel.Kernel
	iommu  *iommu.Unit // nil: no adapter is behind one
	driver *driver
	space  *Space
	setup  kernel.Setup
	source workload.Source
	script *Script // nil: there is a workload
	total  uint64  // accesses expected; 0: unknown
	pool   msg.Pool[msg.Packet]

	guarded bool // there is an IOMMU
	wires   []WireInfo

	record       *measure.Recorder
	cpu          *measure.Histogram
	windows      *measure.Histogram // of pages out of the DMA domain that an IOTLB may know
	base         measure.Summary    // counters at the end of the warm-up
	baseInv      uint64             // invalidations issued by then
	busy         [2]clocked.Time    // links busy by then: up, down
	busyUpstream [2]clocked.Time    // and those between root ports and switches
	warmAt       clocked.Time
	finished     clocked.Time
	ended        bool
}

// New builds the system that the specs, one an adapter, describe. The host and
// all that is shared are those of the first. A nil input makes the synthetic
// workload of the spec. Errors name keys; memory that cannot be pinned gives a
// *Refused.
func New(adapters []Spec, in *Input) (*System, error) {
	order := make([]int, len(adapters))
	for i := range order {
		order[i] = i
	}
	return newSystem(adapters, in, order)
}

// newSystem is New with the adapters' units registered in the given order, on
// which no result depends.
func newSystem(adapters []Spec, in *Input, order []int) (*System, error) {
	s := &System{spec: adapters[0], engine: clocked.NewEngine()}
	if in != nil {
		s.script = in.Script
	}
	var err error
	for i := range adapters {
		e := adapters[i].Check()
		if e != nil && len(adapters) > 1 {
			e = fmt.Errorf("adapters[%d]: %w", i, e)
		}
		err = errors.Join(err, e)
	}
	if err == nil {
		err = checkRootPorts(adapters)
	}
	if err != nil {
		return nil, err
	}
	var regions []workload.Region
	page := s.spec.Host.Shift()
	for i := range adapters {
		page = max(page, adapters[i].TPT.PageShift())
	}
	if s.source, regions, err = source(&s.spec, in, page); err != nil {
		return nil, err
	}
	s.total = s.spec.total(in)
	if err := s.spec.CheckWarmup(in); err != nil {
		return nil, err
	}
	if s.space, err = NewSpace(append(regions, s.receiveRegions(in)...), s.spec.Host.Shift()); err != nil {
		return nil, err
	}
	s.applyPressure()
	if err := s.build(adapters, order, in); err != nil {
		return nil, err
	}
	return s, nil
}

// Now is the simulated time.
func (s *System) Now() clocked.Time { return s.engine.Now() }

// Adapters are the specifications of the adapters, as they were built.
func (s *System) Adapters() []Spec {
	specs := make([]Spec, len(s.nodes))
	for i, n := range s.nodes {
		specs[i] = n.spec
	}
	return specs
}

// Setup is what is in tables, frames and swap before time 0.
func (s *System) Setup() kernel.Setup { return s.setup }

// Shuffle makes units tick in another order within each instant.
func (s *System) Shuffle(seed uint64) { s.engine.Shuffle(seed) }

// applyPressure sizes the host's memory by the working set.
func (s *System) applyPressure() {
	over := s.spec.Pressure.Overcommit
	if over == 0 {
		return
	}
	shift := s.spec.Host.Shift()
	s.spec.Host.Memory = model.Bytes(uint64(max(2, float64(s.userPages())/over)) << shift)
}

// userPages are the host pages that the workload and the host's own program
// want.
func (s *System) userPages() uint64 { return uint64(s.space.Pages()) + uint64(s.spec.Host.CPUPages()) }

// receiveRegions is the memory of the receive buffers, where there are SENDs.
func (s *System) receiveRegions(in *Input) []workload.Region {
	sends := s.spec.Workload.SendFraction > 0
	if in != nil {
		_, sends = in.Sends()
	}
	if !sends {
		return nil
	}
	w := &s.spec.Workload
	bytes := uint64(w.ReceiveBytes) * uint64(w.ReceiveBuffers) * uint64(w.QPs)
	return []workload.Region{{Len: bytes, Host: receiveHost}}
}

// receiveHost is the address space of receive buffers; no access names it.
const receiveHost = ^uint16(0)

// Waits is who waits for whom now.
func (s *System) Waits() []string {
	out := s.driver.Waits()
	for i, n := range s.nodes {
		if s.kernel.Dead(i) {
			out = append(out, fmt.Sprintf("adapter %d did not answer in time and was cut off", i))
		}
		out = append(out, n.requester.Waits()...)
		out = append(out, n.responder.Waits()...)
		out = append(out, n.tpt.Waits()...)
		out = append(out, n.link.Endpoint.Waits()...)
		if !s.spec.sharesRoot(i) {
			out = append(out, waitsAbove(n.link)...)
		}
		out = append(out, n.peerLink.Endpoint.Waits()...)
		out = append(out, n.peerLink.Root.Waits()...)
	}
	if s.iommu != nil {
		out = append(out, s.iommu.Waits()...)
	}
	out = append(out, s.memory.Waits()...)
	return append(out, s.kernel.Waits()...)
}

func name(unit string, i int) string { return fmt.Sprintf("%s%d", unit, i) }
