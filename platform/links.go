package platform

import "rnicmmu/components/pcie"

// LinkInfo describes a link between two units.
type LinkInfo struct {
	Name     string
	Adapter  int  // whose it is; of one between a root port and a switch: the first that is behind it
	Peer     bool // it is at the adapter's peer
	Upstream bool // it is between a root port and a switch
	Link     *pcie.Link
	Up, Down pcie.Line
}

// Links are the system's links: each adapter's, before it that of its root port
// with its switch, if they have one and it was not named, and its peer's.
func (s *System) Links() (all []LinkInfo) {
	add := func(l LinkInfo) {
		l.Name = l.Up.Name[:len(l.Up.Name)-len(".up")]
		all = append(all, l)
	}
	for i, n := range s.nodes {
		if n.link.Switch != nil && !s.spec.sharesRoot(i) {
			up, down := n.link.Switch.Lines()
			add(LinkInfo{Adapter: i, Upstream: true, Link: n.link, Up: up, Down: down})
		}
		up, down := n.link.Lines()
		add(LinkInfo{Adapter: i, Link: n.link, Up: up, Down: down})
		up, down = n.peerLink.Lines()
		add(LinkInfo{Adapter: i, Peer: true, Link: n.peerLink, Up: up, Down: down})
	}
	return all
}
