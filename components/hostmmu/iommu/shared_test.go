package iommu

import (
	"slices"

	"rnicmmu/components/msg"
)

// wireOf is the wire that an access came by.
func (b *bench) wireOf(a *access) int {
	if b.shared && a.client < len(b.roots) {
		return 0
	}
	return a.client
}

// checkRootPorts holds what reached memory by a root port, from whatever adapter,
// against the order in which the root port sent it: no store and no read passes a
// store.
func (r *rig) checkRootPorts() {
	type name struct {
		adapter uint16
		cookie  uint64
	}
	order := map[name]int{}
	for i, m := range r.arrived {
		if m.Kind != msg.KindMessage {
			order[name{m.Adapter, m.Cookie}] = i
		}
	}
	last := make([]int, len(r.roots)) // store by each wire, from the end
	for w := range last {
		last[w] = len(r.arrived)
	}
	for _, l := range slices.Backward(r.log) {
		if l.client == rigAdapters || l.req.Tag >= ownTag {
			continue
		}
		w, at := r.wireOf(l), order[name{l.req.Adapter, l.req.Cookie}]
		if at > last[w] {
			r.fail(r.engine.Now(), "adapter %d: request %d before a store that came earlier", l.req.Adapter, l.req.Cookie)
		}
		if l.req.Write {
			last[w] = at
		}
	}
}
