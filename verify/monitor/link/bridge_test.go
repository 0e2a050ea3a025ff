package link

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
)

// switched is a switch with its root port's link, on which TLPs come by hand, and
// those of adapters 3 and 4.
type switched struct {
	*rig
	sw            bridge
	other         *rig
	toRoot, three *direction // what the switch sends to the root port, and to adapter 3
}

func newSwitched(t *testing.T) *switched {
	s := &switched{rig: newRig(t, nothing), other: newRig(t, func(s *pcie.Spec) { s.Adapter = 4 }), sw: bridge{latency: 100 * ns}}
	low := newRig(t, nothing)
	s.sw.join(s.down, s.up, host)
	s.sw.join(low.up, low.down, adapter)
	s.sw.join(s.other.up, s.other.down, 4)
	for _, d := range []*direction{low.up, low.down, s.other.up, s.other.down} {
		d.log = &s.log
	}
	s.toRoot, s.three = s.up, low.down
	return s
}

// A switch sends what came, by its port, when its latency is over.
func TestSwitch(t *testing.T) {
	for _, x := range []struct {
		name   string
		broken []string
		run    func(s *switched)
	}{
		{"a completion to its adapter", nil, func(s *switched) {
			s.comes(s.cpl(0, 5, 0x1000, 64, true))
			s.send(s.three, s.cpl(0, 5, 0x1000, 64, true))
		}},
		{"a completion to another one", []string{Routed.ID}, func(s *switched) {
			s.comes(s.cpl(0, 5, 0x1000, 64, true))
			s.send(s.other.down, s.cpl(0, 5, 0x1000, 64, true))
		}},
		{"a completion too early", []string{Routed.ID}, func(s *switched) {
			s.comes(s.cpl(0, 5, 0x1000, 64, true))
			s.now -= 50 * ns
			s.send(s.three, s.cpl(0, 5, 0x1000, 64, true))
		}},
		{"a completion that did not come", []string{Asked.ID}, func(s *switched) {
			s.comes(s.cpl(0, 5, 0x1000, 64, true))
			s.send(s.three, s.cpl(0, 6, 0x1000, 64, true))
		}},
		{"a completion before a doorbell for the same adapter", []string{PassedPosted.ID}, func(s *switched) {
			s.comes(s.bell(0), s.cpl(1, 5, 0x1000, 64, true))
			s.send(s.three, s.cpl(0, 5, 0x1000, 64, true))
		}},
		{"a completion before a doorbell for another adapter", nil, func(s *switched) {
			b := s.bell(0)
			b.PA = pcie.Window(4, 0)
			s.comes(b, s.cpl(1, 5, 0x1000, 64, true))
			s.send(s.three, s.cpl(0, 5, 0x1000, 64, true))
		}},
		{"the second completion of a tag before the first", []string{PassedOwn.ID}, func(s *switched) {
			s.comes(s.cpl(0, 5, 0x1000, 64, false), s.cpl(1, 5, 0x1040, 64, true))
			s.send(s.three, s.cpl(0, 5, 0x1040, 64, true))
		}},
		{"a doorbell stands", []string{HeldUp.ID}, func(s *switched) {
			s.comes(s.bell(0))
			s.now += 10 * clocked.Microsecond
			s.send(s.three, s.bell(0))
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newSwitched(t)
			x.run(s)
			if got := s.broken(); !slices.Equal(got, x.broken) {
				t.Errorf("broken: %v, want %v\n%v", got, x.broken, s.log.Violations())
			}
		})
	}
}

// comes brings TLPs from the root port, which the switch may send on from now.
func (s *switched) comes(all ...*pcie.Shown) {
	s.down.writer = &anybody{}
	s.send(s.down, all...)
	s.arrive(s.down, all...)
	s.take(s.down, all...)
	s.now += s.sw.latency
}

// anybody sends what it likes.
type anybody struct{ bridge }

func (*anybody) sent(clocked.Time, *direction, *pcie.Shown) {}
func (*anybody) waiting(*direction) (clocked.Time, msg.TLPType, bool) {
	return 0, 0, false
}

// What comes by a switch holds its place until it has been sent on.
func TestSwitchHoldsPlace(t *testing.T) {
	s := newSwitched(t)
	p := s.bell(0)
	s.comes(p)
	if freed := s.down.pools[0].freed; freed != 0 {
		t.Errorf("%d headers are free before the doorbell has left", freed)
	}
	s.send(s.three, s.bell(0))
	if freed := s.down.pools[0].freed; freed != 1 {
		t.Errorf("%d headers are free when it has left", freed)
	}
}

// Every rule has a sequence that breaks it.
func TestEveryRuleIsSeenToFire(t *testing.T) {
	seen := map[string]bool{Routed.ID: true} // by TestSwitch
	for _, x := range slices.Concat(transactions, numbering) {
		if x.broken != nil {
			seen[x.broken.ID] = true
		}
	}
	for _, r := range Rules() {
		if !seen[r.ID] {
			t.Errorf("no sequence breaks %s (%s)", r.ID, r.Title)
		}
	}
}
