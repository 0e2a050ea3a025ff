package platform

import (
	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/iommu"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/tpt"
	"rnicmmu/model"
)

// iommuTables is where the IOMMU's own tables lie: above those of the adapters.
const iommuTables model.PA = 1 << 49

// Domains of the IOMMU.
const (
	dmaDomain     = 1
	processDomain = 2
)

// Behind tells whether an adapter's requests pass the IOMMU.
func (s *Spec) Behind() bool {
	return s.Scheme == kernel.SVA || s.Scheme == kernel.IOMMU || s.Host.IOMMU.Mode != "off"
}

// process tells whether the IOMMU translates each transfer by the process's table.
func (s *Spec) process() bool {
	return s.Scheme == kernel.IOMMU && s.Host.IOMMU.Table == "process"
}

// forKernel is what the kernel has to know of the adapter.
func (s *Spec) forKernel() kernel.AdapterConfig {
	table := s.Scheme == kernel.Pinned || s.Scheme == kernel.ODP || s.Scheme == kernel.Suspend
	c := kernel.AdapterConfig{Shift: s.TPT.PageShift(), Scheme: s.Scheme, Process: s.process(), IOMMU: table && s.Behind()}
	if s.Workload.implicit() {
		c.Root = root()
	}
	return c
}

// Mode is how the adapter translates.
func (s *Spec) Mode() (m tpt.Mode, pasid uint32) {
	switch {
	case s.Scheme == kernel.SVA:
		return tpt.ATC, kernel.PASID
	case s.process():
		return tpt.Bypass, kernel.PASID
	}
	return tpt.Table, 0
}

// buildIOMMU makes the IOMMU if an adapter is behind it.
func (s *System) buildIOMMU(adapters []Spec) (err error) {
	for i := range adapters {
		s.guarded = s.guarded || adapters[i].Behind()
	}
	if !s.guarded {
		return nil
	}
	config := iommu.Config{Adapters: len(adapters), Tables: iommuTables, Seed: s.spec.Seed}
	spec := s.spec.Host.IOMMU
	for i := range adapters { // what an adapter's queue does not take would stand before completions
		spec.ATSDepth = min(spec.ATSDepth, adapters[i].TPT.Invalidation.QueueDepth)
	}
	if s.iommu, err = iommu.New(s.engine, "iommu", spec, config); err != nil {
		return err
	}
	s.engine.Last(s.iommu.ID()) // it walks tables that the kernel writes
	process, dma := s.kernel.Tables()
	if dma == nil {
		dma = process // nothing of it is used: every user address is translated by PASID
	}
	for i := range adapters {
		ats := adapters[i].Scheme == kernel.SVA
		own := iommu.Context{Table: dma, Domain: dmaDomain, Identity: tableBase, ATS: ats, Trusted: ats}
		if err := s.iommu.SetContext(uint16(i), 0, own); err != nil { // queues, and what is translated already
			return err
		}
		if !ats && !adapters[i].process() {
			continue
		}
		own = iommu.Context{Table: process, Domain: processDomain, Identity: tableBase, ATS: ats, PRI: ats, Trusted: ats}
		if err := s.iommu.SetContext(uint16(i), kernel.PASID, own); err != nil {
			return err
		}
	}
	return nil
}

// services are the read service times of memory's clients, the root ports: those
// Behind the IOMMU without what it takes itself, and that of its walks.
func (s *System) services(adapters []Spec) []clocked.Time {
	var all []clocked.Time
	for i := range adapters {
		if s.spec.sharesRoot(i) {
			continue
		}
		t := clocked.Time(0)
		if adapters[i].Behind() {
			t = s.spec.PCIe.ReadLatency - s.spec.Host.IOMMU.HitLatency - 3*hostHop
		}
		all = append(all, t)
	}
	if s.guarded {
		all = append(all, s.spec.Host.IOMMU.WalkRead)
	}
	return all
}
