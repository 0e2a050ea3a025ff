package platform

import (
	"fmt"

	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// advices are the values of workload.registration_advice.
var advices = map[string]kernel.Advice{"read": kernel.AdvisePrefetch, "write": kernel.AdvisePrefetchWrite, "no_fault": kernel.AdvisePrefetchNoFault}

// advise says of a region that was registered that it will be used.
func (g *registrar) advise(n int32) {
	if a, gives := advices[g.spec.RegistrationAdvice]; gives {
		*g.out.Push() = msg.Registration{Op: msg.AdviseRegion, Region: int(n), Advice: uint8(a)}
	}
}

// adviseStatic says so of the memory that is registered at time 0.
func (s *System) adviseStatic(regions []kernel.Region) error {
	a, gives := advices[s.spec.Workload.RegistrationAdvice]
	for i := range regions {
		if r := &regions[i]; gives && !r.Dynamic {
			if err := s.kernel.Advise(0, r.Adapter, i, a, r.VA, r.Length); err != nil {
				return fmt.Errorf("workload.registration_advice: %w", err)
			}
		}
	}
	return nil
}

// mayInvalidate gives a SEND, for the share of them that is to have one, the key
// of the pattern's registration that has been idle longest, to invalidate it. A
// window is invalidated by its own queue pair.
func (g *registrar) mayInvalidate(p *passport) {
	c := &g.caches[2*int(p.access.Adapter)]
	if g.spec.SendInvalidate == 0 || p.wqe.Op != model.OpSend || float64(g.killer.Below(1e9)) >= g.spec.SendInvalidate*1e9 {
		return
	}
	n := c.idle.oldest
	for n != nobody && g.windows() && g.regions[n].qp != p.access.QP {
		n = g.nodes[n].next
	}
	if n == nobody {
		return
	}
	c.idle.remove(g.nodes, n)
	r := &g.regions[n]
	r.place = placeLeaving
	c.leaving++
	p.registration, p.wqe.Invalidate = n, r.key
}

// invalidated: a SEND that was to invalidate a registration has ended. If it
// failed software does that itself.
func (g *registrar) invalidated(p *passport) {
	if p.access.Status == measure.StatusOK {
		g.order(msg.RemoteInvalidate, p.registration)
		return
	}
	g.order(msg.LocalInvalidate, p.registration)
}

// windowOf is the key of the window that opens a region to peers, for the n-th
// region; windows come behind regions.
func (s *System) windowOf(r *Region) key.Key {
	if w := &s.spec.Workload; w.RegistrationMethod != "window" || !s.isDynamic(r) {
		return 0
	}
	return keyOf(len(s.space.Regions) + int(r.Number))
}

// windows tells whether peers use memory by windows.
func (g *registrar) windows() bool { return g.spec.RegistrationMethod == "window" }

// serves tells whether a valid registration is the access's too: a window is
// that of one queue pair, and of no more when another waits for it.
func (g *registrar) serves(r *registration, p *passport) bool {
	return !g.windows() || r.qp == p.access.QP && r.waiting.Len() == 0
}

// bind has a region's window bound to the queue pair that has waited longest.
func (g *registrar) bind(n int32) {
	r := &g.regions[n]
	r.qp = (*r.waiting.Front()).access.QP
	*g.out.Push() = msg.Registration{Op: msg.FastRegister, Region: int(n), QP: r.qp}
}
