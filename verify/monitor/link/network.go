package link

import (
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/model"
)

// host is the Requester and Completer ID of a root port.
const host = ^uint16(0)

// network is a root port and what is below it.
type network struct {
	root      *pcie.Spec
	endpoints []*endpoint // by Requester ID; nil: there is none
}

func newNetwork(root *pcie.Spec) *network { return &network{root: root} }

func (n *network) add(u *endpoint) {
	for int(u.id) >= len(n.endpoints) {
		n.endpoints = append(n.endpoints, nil)
	}
	n.endpoints[u.id] = u
}

// endpoint is the one with an ID; nil: there is none.
func (n *network) endpoint(id uint16) *endpoint {
	if int(id) < len(n.endpoints) {
		return n.endpoints[id]
	}
	return nil
}

// origin is the link on which TLPs of a sender begin, which decides of their size.
func (n *network) origin(sender uint16) *pcie.Spec {
	if e := n.endpoint(sender); e != nil {
		return e.up.spec
	}
	return n.root
}

// windowOf is the adapter in whose window an address is; false: in none.
func windowOf(pa model.PA) (adapter uint16, ok bool) {
	first, size := pcie.Window(0, 0), pcie.Window(1, 0)-pcie.Window(0, 0)
	if pa < first || pa >= first+1024*size {
		return 0, false
	}
	return uint16((pa - first) / size), true
}

// answered tells whether a completion is the next one of an answer.
func answered(a *asked, p *pcie.Shown) bool {
	return a.rule.Requester == p.Rule.Requester && a.rule.Tag == p.Tag && a.kind == p.Kind && a.status == p.Status &&
		a.pa+model.PA(a.offset) == p.PA && (p.Status != msg.StatusSuccess || p.Len > 0 && p.Len <= a.len-a.offset)
}

// ends tells whether a completion is the last one of its answer.
func ends(a *asked, p *pcie.Shown) bool {
	return p.Status != msg.StatusSuccess || a.offset+p.Len == a.len
}
