package platform

import (
	"errors"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// take takes the kernel's answers and notices.
func (g *registrar) take(now clocked.Time) {
	for m := g.answers.Peek(now); m != nil; m = g.answers.Peek(now) {
		n := int32(m.Region)
		switch m.Op {
		case msg.RegisterRegion, msg.FastRegister:
			g.registered(n, m)
		case msg.DeregisterRegion, msg.LocalInvalidate, msg.RemoteInvalidate:
			g.gone(n, m)
		case msg.RegionUnmapped:
			g.unmapped(n, m)
		}
		g.answers.Pop(now)
	}
}

// registered: peers may use the region, or the kernel refused.
func (g *registrar) registered(n int32, m *msg.Registered) {
	r := &g.regions[n]
	if m.Err != nil {
		g.failed(n, m)
		return
	}
	if m.Op == msg.RegisterRegion {
		g.advise(n)
		if g.windows() {
			g.bind(n)
			return
		}
	}
	r.place, r.stale, r.key, r.allocation = placeValid, false, m.Key, m.Allocation
	for range r.waiting.Len() {
		p := r.waiting.Pop()
		if g.windows() && p.access.QP != r.qp {
			*r.waiting.Push() = p
			continue
		}
		g.parked--
		g.use(n, p)
		*g.ready.Push() = p
	}
}

// failed: a registration was refused. Where memory is short and others hold
// some, it is tried again when one of them has gone; else its accesses are given
// up.
func (g *registrar) failed(n int32, m *msg.Registered) {
	r := &g.regions[n]
	g.cacheOf(n).held--
	r.place = placeNone
	if m.Op == msg.FastRegister {
		r.place = placeFree
		g.free.push(g.nodes, n)
	} else {
		g.pinning--
	}
	var none *Refused
	if g.short = g.pinning > 0 && errors.As(m.Err, &none); g.short {
		g.want(n)
		return
	}
	for r.waiting.Len() > 0 {
		g.parked--
		*g.refused.Push() = r.waiting.Pop()
	}
}

// gone: a registration has ended. Who waited for the region has it registered
// again.
func (g *registrar) gone(n int32, m *msg.Registered) {
	r, c := &g.regions[n], g.cacheOf(n)
	if m.Op != msg.DeregisterRegion {
		r.place = placeFree
		g.free.push(g.nodes, n)
	} else {
		r.place = placeNone
		g.short = false
		g.ending--
		g.pinning--
	}
	if m.Op != msg.DeregisterRegion || g.spec.RegistrationMethod == "regular" {
		c.held--
		c.leaving--
	}
	if r.waiting.Len() > 0 {
		g.want(n)
	}
}

// unmapped: the process has unmapped memory of the region. Software that looks
// at that lets the registration go, and registers the new mapping.
func (g *registrar) unmapped(n int32, m *msg.Registered) {
	r := &g.regions[n]
	if g.spec.RegistrationHook != "notice" || r.place != placeValid || m.Allocation <= r.allocation {
		return
	}
	r.stale = true
	if r.users == 0 {
		g.release(n)
	}
}

// remap has the process unmap the memory of a random region and map it afresh,
// when it is time.
func (g *registrar) remap(now clocked.Time) {
	if g.remapAt == 0 || now < g.remapAt {
		return
	}
	g.remapAt += g.spec.RemapInterval
	g.order(msg.RemapRegion, g.remaps[g.random.Below(uint64(len(g.remaps)))])
}
