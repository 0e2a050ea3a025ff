package pcie

import (
	"fmt"

	"rnicmmu/clocked"
	rules "rnicmmu/model/pcie"
)

// SwitchSpec holds the parameters of switches. Its keys stand under "host.switch".
type SwitchSpec struct {
	Adapters int          `key:"adapters" default:"0" min:"1" max:"16" zero:"no switch: each adapter has a root port" doc:"adapters that share a root port behind a switch, in their order; the last switch may have fewer" source:"any"`
	Latency  clocked.Time `key:"latency" default:"115ns" min:"1ns" max:"100us" doc:"from the last byte of a TLP at a port until its first may leave by another (store and forward)" source:"[HighPoint], weak: 115 ns through a Gen5 switch, its own port pipelines perhaps included, which are in link_latency too"`
	PCIe     Spec         `key:"pcie" doc:"link between root port and switch, and the root port's part of transactions; what concerns an endpoint alone has no effect"`
}

// Least completion credits of a switch by default ([cocotbext-pcie], a bridge).
const (
	switchCPLH = 64
	switchCPLD = 1024
)

// finite are the credits that a port of a switch advertises: completions never
// without a bound.
func (c Credits) finite() Credits {
	if c.CPLH == 0 {
		c.CPLH = switchCPLH
	}
	if c.CPLD == 0 {
		c.CPLD = switchCPLD
	}
	return c
}

// Device is an adapter that is put behind a switch: the name and parameters of its
// link, and its clock.
type Device struct {
	Name  string
	Spec  Spec
	Clock clocked.Domain
}

// Check refuses links of adapters that cannot be joined by a switch. Errors name
// the key.
func (s *SwitchSpec) Check(adapters ...Spec) error {
	up := s.PCIe
	up.AdapterCredits = up.AdapterCredits.finite()
	for i := range adapters {
		d := &adapters[i]
		up.ECRC = up.ECRC || d.ECRC
		switch {
		case d.MPS != s.PCIe.MPS:
			return fmt.Errorf("host.switch.pcie.mps: %d B: %d B is due, as pcie.mps of the adapters: a switch cuts no TLPs", s.PCIe.MPS, d.MPS)
		case d.TagBits > 10 && !rules.Flits(s.PCIe.Gen):
			return fmt.Errorf("pcie.tag_bits: %d: at most 10 is due below host.switch.pcie.gen 6", d.TagBits)
		case d.Adapter >= maxAdapters:
			return fmt.Errorf("pcie: adapter %d: below %d is due", d.Adapter, maxAdapters)
		}
	}
	for _, d := range adapters { // TLPs with a digest pass where their own link adds none
		d.Credits, d.ECRC = d.Credits.finite(), up.ECRC
		if err := d.Check(); err != nil {
			return err
		}
	}
	if err := up.Check(); err != nil {
		return fmt.Errorf("host.switch.%w", err)
	}
	return nil
}

// NewSwitched builds a root port, a switch and the endpoints behind it, and gives
// a Link for each. All must be connected before the engine runs. Errors name keys.
func NewSwitched(e *clocked.Engine, name string, spec SwitchSpec, devices []Device) ([]*Link, error) {
	specs, adapters := make([]Spec, len(devices)), make([]uint16, len(devices))
	for i := range devices {
		specs[i], adapters[i] = devices[i].Spec, devices[i].Spec.Adapter
	}
	if err := spec.Check(specs...); err != nil {
		return nil, err
	}
	root := newRootPort(name+".root", spec.PCIe)
	root.id = e.Register(root)
	u := newSwitch(e, name, spec.Latency, adapters)
	up := spec.PCIe
	up.AdapterCredits = up.AdapterCredits.finite()
	join(e, &up, name+".pcie", root.end(), u.end(upstream, up.Gen))
	links := make([]*Link, len(devices))
	deep := up.deep()
	for i := range devices {
		d := devices[i]
		d.Spec.Credits = d.Spec.Credits.finite()
		deep = deep || d.Spec.deep()
		l := &Link{Endpoint: newEndpoint(d.Name+".endpoint", d.Spec, d.Clock), Root: root, Switch: u, port: i + 1}
		l.Endpoint.register(e)
		join(e, &d.Spec, d.Name, u.end(l.port, d.Spec.Gen), l.Endpoint.end())
		l.Endpoint.reserve(&d.Spec)
		links[i] = l
	}
	if deep { // what may pass others of its class can come by any port
		root.tx.window = window
		for i := range u.ports {
			u.ports[i].tx.window = window
		}
	}
	return links, nil
}
