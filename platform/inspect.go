package platform

import (
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/tpt"
)

// Adapter is what a check beside a run knows of an adapter before the run.
type Adapter struct {
	Spec   *Spec
	Config tpt.Config // how and from where it translates
	Unit   *tpt.Unit  // whose tables hold what was registered before the run
}

// Adapters are the adapters of the system, by number.
func (s *System) Adapters() []Adapter {
	all := make([]Adapter, len(s.nodes))
	for i, n := range s.nodes {
		all[i] = Adapter{Spec: &n.spec, Config: n.tpt.Config(), Unit: n.tpt}
	}
	return all
}

// Setup is what was made true before time 0.
func (s *System) Setup() kernel.Setup { return s.setup }
