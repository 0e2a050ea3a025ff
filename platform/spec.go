package platform

import (
	"errors"
	"fmt"
	"math"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/iommu"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/hostmmu/memory"
	"rnicmmu/components/pcie"
	"rnicmmu/components/tpt"
	"rnicmmu/components/transport"
	"rnicmmu/model"
	"rnicmmu/workload"
)

// Spec is the whole configuration of a run. Keys, defaults, ranges and sources
// are in the tags; package configs reads them.
type Spec struct {
	Seed         uint64         `key:"seed" default:"1" doc:"seed of every random stream" source:"any"`
	Scheme       string         `key:"scheme" default:"pinned" oneof:"pinned,odp,sva,iommu,suspend" doc:"how the adapter lives with paging: pinned pages; on-demand paging of its table; the process's page table by ATS and PRI; every transfer translated by the host's IOMMU; suspension of what moves or leaves" source:"pinned: [rdma-core] ibv_reg_mr; odp: [Linux] mlx5/odp.c; sva: [riscv-iommu]; iommu: [rIOMMU15]; suspend: derived, docs/schemes.md"`
	Transport    string         `key:"transport" default:"rc" oneof:"rc,iwarp" doc:"transport of the requests: the reliable connection of InfiniBand and RoCE, or DDP over TCP" source:"rc: [IBA]; iwarp: [RFC5040], [RFC5041]"`
	Adapters     model.Replicas `key:"adapters" default:"1" min:"1" max:"16" scope:"scheme,transport,translate_per,tpt,pcie,qp,tcp,adapter,network,host.numa.socket" doc:"adapters on the host, each with a peer: a number, or, where they differ, a list of the settings of each, such as [{tpt.mtt.entries: 64}, {scheme: sva, pcie.lanes: 8}, {}]" source:"any"`
	TranslatePer string         `key:"translate_per" default:"request" oneof:"request,packet,tlp" doc:"a page is translated once a message, once a packet or once a TLP, and held between" source:"assumption: adapters differ"`
	Warmup       model.Warmup   `key:"warmup" default:"0" doc:"accesses or simulated time left out of the figures" source:"any"`
	Watchdog     clocked.Time   `key:"watchdog" default:"100s" min:"1us" max:"10000s" doc:"simulated time without a completion after which the run is given up, with a dump" source:"assumption: above seven ACK timeouts of code 21, 60 s (derived); larger codes need more"`

	TPT       tpt.Spec              `key:"tpt" doc:"translation and protection table unit"`
	PCIe      pcie.Spec             `key:"pcie" doc:"PCIe link of each adapter"`
	Host      HostSpec              `key:"host" doc:"memory, pager and CPU of the host"`
	Pressure  PressureSpec          `key:"pressure" doc:"paging pressure"`
	Advertise AdvertiseSpec         `key:"advertise" doc:"memory promised to peers"`
	QP        transport.QPSpec      `key:"qp" doc:"queue pairs"`
	TCP       transport.TCPSpec     `key:"tcp" doc:"TCP under iWARP"`
	Adapter   transport.AdapterSpec `key:"adapter" doc:"receive side of the adapter"`
	Network   transport.NetworkSpec `key:"network" doc:"network between peer and adapter"`
	Peer      PeerSpec              `key:"peer" doc:"the requesters' own adapters"`
	Workload  WorkloadSpec          `key:"workload" doc:"accesses to replay or generate"`
}

// KernelSpec and MemorySpec lend their parameters to the group host.
type (
	KernelSpec = kernel.Spec
	MemorySpec = memory.Spec
)

// HostSpec is the host: its kernel and its memory.
type HostSpec struct {
	KernelSpec
	MemorySpec
	IOMMU  iommu.Spec      `key:"iommu" doc:"IOMMU; schemes sva and iommu have one in any mode"`
	Switch pcie.SwitchSpec `key:"switch" doc:"PCIe switches between root ports and adapters"`
}

// PressureSpec sets the host's memory in proportion to the workload.
type PressureSpec struct {
	Overcommit float64 `key:"overcommit" default:"0" min:"0" max:"1000" zero:"off: host.memory counts" doc:"user frames = working set / this; not together with host.memory" source:"any"`
}

// PeerSpec is the requesters' side: memory that never pages, behind a link.
type PeerSpec struct {
	PCIe pcie.Spec `key:"pcie" doc:"PCIe link of the peer's adapter"`
}

// WorkloadSpec says what the accesses are.
type WorkloadSpec struct {
	Trace        string      `key:"trace" default:"" doc:"trace or capture to replay, a path or redis, the embedded example; empty: a synthetic workload" source:"any"`
	Pattern      string      `key:"pattern" default:"uniform" oneof:"sequential,strided,uniform,zipf,pointer-chase,hotset,keyvalue" doc:"address pattern" source:"any"`
	Accesses     uint64      `key:"accesses" default:"1000000" min:"0" max:"1000000000000" zero:"a trace: all of it" doc:"accesses to run; with a trace and no value, the whole trace" source:"assumption: a run of seconds"`
	AccessBytes  model.Bytes `key:"access_bytes" default:"64B" min:"1B" max:"2GiB" doc:"bytes of an access, and its alignment" source:"[FaRM14] Fig. 4: 64 B"`
	WorkingSet   model.Bytes `key:"working_set" default:"4MiB" min:"1B" max:"64TiB" doc:"memory that the accesses fall in" source:"assumption: half of the default table cache's reach"`
	Regions      int         `key:"regions" default:"1" min:"1" max:"1000000" doc:"memory regions that the working set is registered as" source:"any"`
	Registration string      `key:"registration" default:"once" oneof:"once,each,cached,implicit" doc:"regions are registered before the run, for each access and let go after it (accesses that overlap share), or kept in a cache of registrations; implicit, under odp: one region over the whole address space, before the run" source:"any; implicit: [Linux] mlx5/odp.c"`

	RegistrationCache  int          `key:"registration_cache" default:"16" min:"1" max:"1000000" doc:"cached: registrations kept on an adapter; a region beyond them takes the place of the one that has been idle longest" source:"assumption"`
	RegistrationMethod string       `key:"registration_method" default:"regular" oneof:"regular,fast,window" doc:"a registration ends with its pages unpinned; or with its key alone, while pages stay pinned and a work request makes the next key valid (fast registration); or memory stays registered and a type 2 window is bound to it for one queue pair, and invalidated (each: a window serves accesses of its queue pair that overlap)" source:"fast: [Linux] rxe_mr.c; window: [Linux] rxe_mw.c"`
	RegistrationAdvice string       `key:"registration_advice" default:"none" oneof:"none,read,write,no_fault" doc:"what software advises of memory when it has registered it, at time 0 too: to bring its pages in to be read or stored to, or to map those that are present" source:"[rdma-core] man ibv_advise_mr"`
	SendInvalidate     float64      `key:"send_invalidate" default:"0" min:"0" max:"1" doc:"cached, by methods fast and window: share of SENDs that invalidate a registration without users, the one that has been idle longest" source:"any"`
	RegistrationHook   string       `key:"registration_hook" default:"none" oneof:"none,notice" doc:"what software does when the process unmaps registered memory: nothing, so that peers go on with the old frames where those are pinned; or let the registration go and register the new mapping" source:"assumption: a cache above the kernel is not told unless it asks"`
	RemapInterval      clocked.Time `key:"remap_interval" default:"0ns" min:"1us" max:"100s" zero:"never" doc:"each, cached: the process unmaps a random region and maps fresh memory there this often" source:"assumption: off"`

	QPs            int         `key:"qps" default:"16" min:"1" max:"1000000" doc:"queue pairs; those of a trace are folded onto them, and a trace that names none is dealt out to all in turn" source:"assumption"`
	Outstanding    int         `key:"outstanding" default:"32" min:"1" max:"1000000" doc:"closed loop: accesses in flight, all queue pairs together" source:"assumption: a light load; of 64 B WRITEs 32 in flight reach 20 M/s on the default adapter, 128 reach 76 M/s (measured on this model)"`
	OfferedRate    model.Rate  `key:"offered_rate" default:"0/s" min:"0/s" max:"1000000000000/s" zero:"closed loop" doc:"open loop: accesses a second on average" source:"any"`
	Arrival        string      `key:"arrival" default:"exponential" oneof:"exponential,fixed" doc:"open loop: gaps between accesses" source:"any"`
	ReadFraction   float64     `key:"read_fraction" default:"0" min:"0" max:"1" doc:"share of READs" source:"any"`
	SendFraction   float64     `key:"send_fraction" default:"0" min:"0" max:"1" doc:"share of SENDs" source:"any"`
	AtomicFraction float64     `key:"atomic_fraction" default:"0" min:"0" max:"1" doc:"share of 8-byte atomics; what is left are WRITEs" source:"any"`
	StrideBytes    model.Bytes `key:"stride" default:"4KiB" min:"1B" max:"1TiB" doc:"strided: distance between accesses, a multiple of access_bytes" source:"any"`
	ZipfTheta      float64     `key:"zipf_theta" default:"0.99" min:"0" max:"10" doc:"zipf, keyvalue: exponent" source:"[YCSB10]"`
	HotFraction    float64     `key:"hot_fraction" default:"0.2" min:"0" max:"1" doc:"hotset: share of the working set that is hot" source:"[YCSB10]"`
	HotProbability float64     `key:"hot_probability" default:"0.8" min:"0" max:"1" doc:"hotset: share of the accesses that go there" source:"[YCSB10]"`
	ValueMin       model.Bytes `key:"value_min" default:"64B" min:"1B" max:"1GiB" doc:"keyvalue: shortest value" source:"assumption"`
	ValueMax       model.Bytes `key:"value_max" default:"1KiB" min:"1B" max:"1GiB" doc:"keyvalue: longest value" source:"assumption"`

	AggressorFraction   float64     `key:"aggressor_fraction" default:"0" min:"0" max:"1" zero:"none: the pattern is on all queue pairs" doc:"share of the accesses that come from an aggressor: the queue pairs of every tenant but 0 (tpt.tenants), uniform in memory of their own; the pattern keeps to tenant 0's" source:"any"`
	AggressorWorkingSet model.Bytes `key:"aggressor_working_set" default:"64MiB" min:"1B" max:"64TiB" doc:"memory of the aggressor, apart from the working set" source:"assumption: 8 times the default table cache's reach"`

	AggressorRegions      int    `key:"aggressor_regions" default:"1" min:"1" max:"1000000" doc:"memory regions that the aggressor's memory is registered as" source:"any"`
	AggressorRegistration string `key:"aggressor_registration" default:"once" oneof:"once,each,cached" doc:"as workload.registration, of the aggressor's regions; its cache is its own, and of the same size" source:"any"`

	ReceiveBuffers int         `key:"receive_buffers" default:"64" min:"1" max:"65536" doc:"receive buffers of each queue pair, used in turn by SENDs" source:"assumption"`
	ReceiveBytes   model.Bytes `key:"receive_bytes" default:"4KiB" min:"1B" max:"1GiB" doc:"size of a receive buffer; a longer SEND is an invalid request" source:"assumption: one page"`
}

// synthetic is the generator's own description of the workload.
func (s *Spec) synthetic() workload.SyntheticSpec {
	w := &s.Workload
	return workload.SyntheticSpec{
		Seed: s.Seed, Pattern: w.Pattern, Accesses: w.Accesses,
		WorkingSet: uint64(w.WorkingSet), Regions: uint32(w.Regions), Page: s.Host.Shift(),
		AccessBytes: uint32(w.AccessBytes), QPs: uint32(w.QPs),
		ReadFraction: w.ReadFraction, SendFraction: w.SendFraction, AtomicFraction: w.AtomicFraction,
		StrideBytes: uint64(w.StrideBytes), ZipfTheta: w.ZipfTheta,
		HotFraction: w.HotFraction, HotProbability: w.HotProbability,
		ValueMin: uint32(w.ValueMin), ValueMax: uint32(w.ValueMax),
		OfferedRate: float64(w.OfferedRate), Arrival: w.Arrival,
		Tenants: uint32(s.TPT.Tenants), AggressorFraction: w.AggressorFraction, AggressorWorkingSet: uint64(w.AggressorWorkingSet), AggressorRegions: uint32(w.AggressorRegions),
	}
}

const iwarp = "iwarp"

// Check reports every impossible combination of values, each by its key.
func (s *Spec) Check() error {
	mode, _ := s.Mode()
	all := []error{s.TPT.CheckMode(mode)}
	all = append(all, s.PCIe.Check(), s.checkHost())
	if s.Host.Switch.Adapters > 0 {
		all = append(all, s.Host.Switch.Check(s.PCIe))
	}
	if err := s.Peer.PCIe.Check(); err != nil {
		all = append(all, fmt.Errorf("peer.%w", err))
	}
	if s.Scheme != "pinned" && s.Scheme != "iommu" && s.TPT.PageShift() > s.Host.Shift() {
		all = append(all, fmt.Errorf("tpt.page: %s is more than host.page %s, which comes and goes page by page under %s; use at most that", s.TPT.Page, s.Host.Page, s.Scheme))
	}
	if s.Scheme == "sva" && s.Host.Events.Split > 0 && s.TPT.PageShift() > s.Host.Leaf() && s.Host.Leaf() > 0 {
		all = append(all, fmt.Errorf("host.events.split_interval: a split page of %s has leaves smaller than tpt.page %s, and an adapter under sva caches no part of its page; use a tpt.page of one leaf, or 0ns", s.Host.Page, s.TPT.Page))
	}
	if s.Behind() {
		all = append(all, s.Host.IOMMU.Check())
	}
	if s.Transport == iwarp && s.process() && s.Host.IOMMU.Absent == "retry" {
		all = append(all, errors.New("host.iommu.absent: retry under transport iwarp, which cannot take an acknowledged segment back; use abort, or host.iommu.table dma"))
	}
	all = append(all, s.Workload.checkRegistration(s))
	if s.Pressure.Overcommit != 0 && (s.Pressure.Overcommit < 1.0/64 || math.IsNaN(s.Pressure.Overcommit)) {
		all = append(all, fmt.Errorf("pressure.overcommit: %g is outside 1/64 … 1000", s.Pressure.Overcommit))
	}
	return errors.Join(all...)
}

// maxFrames bounds the frames as maxPages bounds the pages.
const maxFrames = maxPages

// checkHost checks the kernel's part; under pressure.overcommit its memory is
// not host.memory's but comes from the working set.
func (s *Spec) checkHost() error {
	k := s.Host.KernelSpec
	if s.Pressure.Overcommit != 0 {
		k.Memory = model.Bytes(2 * k.Shift().Bytes())
	}
	switch {
	case k.Frames() > maxFrames:
		return fmt.Errorf("host.memory: %d frames of %s are more than the %d that this model holds; use less or a larger host.page", k.Frames(), k.Page, maxFrames)
	case k.CPUPages() > maxPages:
		return fmt.Errorf("host.cpu.working_set: %d pages of %s are more than the %d that this model holds; use less or a larger host.page", k.CPUPages(), k.Page, maxPages)
	}
	return k.Check()
}
