package scenario

import (
	"fmt"
	"slices"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/platform"
	"rnicmmu/verify/wires"
)

// watcher names what the links carry and does what the rules say to it.
type watcher struct {
	p         *player
	sightings map[string][]sighting // by name, on hosts' links, in order of time
	stores    map[uint32][]store    // by page, in the order in which memory took them
}

// sighting is a message that left.
type sighting struct {
	at      clocked.Time
	adapter int
}

// store is what memory takes for a page.
type store struct {
	event  int
	id     uint64
	offset uint32
}

// peerPrefix begins the names of messages on peers' links.
const peerPrefix = "peer:"

// linkWatch is the director of one link.
type linkWatch struct {
	w       *watcher
	adapter int
	peer    bool
	offered map[string]int
	left    map[string]int
}

// attach puts a watcher at a system's links.
func (p *player) attach(s *platform.System) {
	p.watch = &watcher{p: p, sightings: map[string][]sighting{}, stores: map[uint32][]store{}}
	for _, end := range wires.Of[msg.MemReq](s, "", "memory") {
		end.Wire.OnTaken(p.watch.store)
	}
	for i := range p.adapters {
		host := &linkWatch{w: p.watch, adapter: i, offered: map[string]int{}, left: map[string]int{}}
		peer := &linkWatch{w: p.watch, adapter: i, peer: true, offered: map[string]int{}, left: map[string]int{}}
		s.Link(i).Direct(host)
		s.PeerLink(i).Direct(peer)
		q, r := s.Transport(i)
		q.Lose, r.Lose = p.loser(i, "response"), p.loser(i, "request")
	}
}

// loser loses packets of an adapter as the rules say; nil: none.
func (p *player) loser(adapter int, packet string) func(clocked.Time, *msg.Packet) bool {
	var mine []int // rules
	for i, x := range p.s.rules {
		if x.what == "lose" && x.message == packet && (x.adapter < 0 || x.adapter == adapter) {
			mine = append(mine, i)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	seen := make([]int, len(mine))
	return func(now clocked.Time, m *msg.Packet) (lost bool) {
		for i, n := range mine {
			if x := p.s.rules[n]; x.qp < 0 || int(m.QP) == p.qp(adapter, x.qp) {
				if seen[i]++; x.hits(seen[i]) {
					lost = true
					p.used[n]++
				}
			}
		}
		if lost {
			p.log("messages", "adapter %d: the network loses a %s, PSN %d", adapter, packet, m.PSN)
		}
		return lost
	}
}

// hits tells whether a rule is for the n-th.
func (x *rule) hits(n int) bool { return x.nth == 0 || n >= x.nth && n < x.nth+x.count }

// applies tells whether a rule is for the n-th message of a name on this link.
func (l *linkWatch) applies(x *rule, name string, n int) bool {
	return x.what != "lose" && x.message == name && x.peer == l.peer && (x.adapter < 0 || x.adapter == l.adapter) && x.hits(n)
}

// Offered implements pcie.Director.
func (l *linkWatch) Offered(now clocked.Time, m pcie.Message) (until clocked.Time) {
	name := messageName(&m)
	l.offered[name]++
	for i, x := range l.w.p.s.rules {
		if x.what == "delay" && l.applies(x, name, l.offered[name]) {
			until = max(until, now+x.by)
			l.w.p.used[i]++
			l.w.p.log("messages", "%s: %s is held back", l, name)
		}
	}
	return until
}

// Sent implements pcie.Director.
func (l *linkWatch) Sent(now clocked.Time, m pcie.Message, last bool) (damage string) {
	name := messageName(&m)
	if !last {
		return ""
	}
	l.left[name]++
	for i, x := range l.w.p.s.rules {
		if x.what != "delay" && l.applies(x, name, l.left[name]) {
			damage = x.what
			l.w.p.used[i]++
		}
	}
	seen := name
	if l.peer {
		seen = peerPrefix + seen
	}
	l.w.sightings[seen] = append(l.w.sightings[seen], sighting{now, l.adapter})
	if damage != "" {
		l.w.p.log("messages", "%s: %s, %s", l, name, damage)
	} else {
		l.w.p.log("messages", "%s: %s", l, name)
	}
	return damage
}

// store notes data that memory takes for a page.
func (w *watcher) store(_ clocked.Time, m *msg.MemReq) {
	e, ours := w.p.counts[m.Counts]
	if ours && m.Write && m.Kind == msg.KindData && !m.Poisoned && m.Oracle.Page != msg.NoPage {
		within := uint32(uint64(m.PA) & (w.p.pageBytes - 1))
		w.stores[m.Oracle.Page] = append(w.stores[m.Oracle.Page], store{e, m.Oracle.Write, within})
	}
}

func (l *linkWatch) String() string {
	if l.peer {
		return fmt.Sprintf("peer %d", l.adapter)
	}
	return fmt.Sprintf("adapter %d", l.adapter)
}

// sent is when the message of a moment left, if it has.
func (w *watcher) sent(m *moment) (clocked.Time, bool) {
	n := 0
	for _, s := range w.sightings[m.message] {
		if m.adapter < 0 || m.adapter == s.adapter {
			if n++; n == m.nth {
				return s.at, true
			}
		}
	}
	return 0, false
}

// log notes a line of a kind.
func (p *player) log(kind, format string, args ...any) {
	if slices.Contains(p.s.logs, kind) {
		p.instant = append(p.instant, fmt.Sprintf(format, args...))
	}
}

// flush prints what was noted. Lines from within an instant are sorted, as units
// tick in any order.
func (p *player) flush(now clocked.Time) {
	for _, text := range p.instant {
		p.lines = append(p.lines, fmt.Sprintf("%15s  %s", strings.TrimSuffix(now.String(), "ns"), text))
	}
	p.instant = p.instant[:0]
}
