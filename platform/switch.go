package platform

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/pcie"
	"rnicmmu/measure"
)

// rootPort is the number of the root port that an adapter has, alone or with
// others behind a switch.
func (s *Spec) rootPort(adapter int) int { return adapter / max(1, s.Host.Switch.Adapters) }

// sharesRoot tells whether an adapter's root port is that of the one before.
func (s *Spec) sharesRoot(adapter int) bool {
	return adapter > 0 && s.rootPort(adapter) == s.rootPort(adapter-1)
}

// checkRootPorts refuses adapters that cannot share a root port.
func checkRootPorts(adapters []Spec) error {
	host := &adapters[0]
	for i := range adapters {
		switch {
		case !host.sharesRoot(i):
		case adapters[i].Host.NUMA.Socket != adapters[i-1].Host.NUMA.Socket:
			return fmt.Errorf("host.numa.socket: adapters %d and %d share a root port (host.switch.adapters %d), which is at one socket; give both the same",
				i-1, i, host.Host.Switch.Adapters)
		case adapters[i].Behind() != adapters[i-1].Behind():
			return fmt.Errorf("host.switch.adapters: %d: adapters %d and %d share a root port, and only one of them has its requests translated by the IOMMU; give both such a scheme or host.iommu.mode strict, or less adapters to a switch",
				host.Host.Switch.Adapters, i-1, i)
		}
	}
	return nil
}

// buildLinks makes the link of an adapter, and with it those of all adapters
// Behind the same switch.
func (s *System) buildLinks(i int, adapters []Spec) error {
	switch {
	case s.links[i] != nil:
		return nil
	case s.spec.Host.Switch.Adapters == 0:
		var err error
		s.links[i], err = pcie.New(s.engine, name("pcie", i), s.linkSpec(i, &adapters[i]), clocked.NewDomain(adapters[i].TPT.Clock))
		return err
	}
	root := s.spec.rootPort(i)
	first := root * s.spec.Host.Switch.Adapters
	var devices []pcie.Device
	for k := first; k < len(adapters) && s.spec.rootPort(k) == root; k++ {
		devices = append(devices, pcie.Device{Name: name("pcie", k), Spec: s.linkSpec(k, &adapters[k]),
			Clock: clocked.NewDomain(adapters[k].TPT.Clock)})
	}
	spec := s.spec.Host.Switch
	spec.PCIe.Seed = s.spec.Seed
	links, err := pcie.NewSwitched(s.engine, name("switch", root), spec, devices)
	copy(s.links[first:], links)
	return err
}

// linkSpec is what an adapter's link is built from.
func (s *System) linkSpec(i int, adapter *Spec) pcie.Spec {
	spec := adapter.PCIe
	spec.Seed, spec.Adapter = s.spec.Seed, uint16(i)
	return spec
}

// roots are one adapter's link of each root port.
func (s *System) roots() (links []*pcie.Link) {
	for i := range s.nodes {
		if !s.spec.sharesRoot(i) {
			links = append(links, s.nodes[i].link)
		}
	}
	return links
}

// upstream counts the links between root ports and switches; nil: there is none.
func (s *System) upstream() *measure.UpstreamLinks {
	if s.spec.Host.Switch.Adapters == 0 {
		return nil
	}
	var u measure.UpstreamLinks
	for _, l := range s.roots() {
		addLink(&u.Up, &u.StallsPS, l.Switch.Upstream())
		addLink(&u.Down, &u.StallsPS, l.Root.Stats())
	}
	return &u
}

// waitsAbove is what a root port waits for, and its switch.
func waitsAbove(l *pcie.Link) []string {
	out := l.Root.Waits()
	if l.Switch != nil {
		out = append(out, l.Switch.Waits()...)
	}
	return out
}

// busyTimes is for how long lines have been sending TLPs: of the adapters' links
// up and down, and of those between root ports and switches.
func (s *System) busyTimes() (adapters, upstream [2]clocked.Time) {
	for _, n := range s.nodes {
		adapters[0] += n.link.Endpoint.Stats().Busy
		adapters[1] += n.link.Down().Busy
	}
	if s.spec.Host.Switch.Adapters > 0 {
		for _, l := range s.roots() {
			upstream[0] += l.Switch.Upstream().Busy
			upstream[1] += l.Root.Stats().Busy
		}
	}
	return adapters, upstream
}

// utilisation is the share of the measured time in which each direction was
// sending, on average over the links.
func (s *System) utilisation(sum *measure.Summary) {
	span := float64(sum.SimulatedPS)
	if sum.Interrupted { // lines have gone on since the last access
		span = float64(s.engine.Now() - max(0, s.warmAt))
	}
	if span == 0 {
		return
	}
	adapters, upstream := s.busyTimes()
	links := float64(len(s.nodes))
	sum.PCIe.Up.Utilisation = float64(adapters[0]-s.busy[0]) / span / links
	sum.PCIe.Down.Utilisation = float64(adapters[1]-s.busy[1]) / span / links
	if u := sum.PCIe.Upstream; u != nil {
		links := float64(len(s.roots()))
		u.Up.Utilisation = float64(upstream[0]-s.busyUpstream[0]) / span / links
		u.Down.Utilisation = float64(upstream[1]-s.busyUpstream[1]) / span / links
	}
}
