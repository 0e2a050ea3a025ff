package pcie

import (
	"math/rand/v2"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// Policies of passing: what is done where the ordering table leaves it open.
const (
	PassBlocked = "blocked" // pass only what cannot go
	PassAlways  = "always"  // the youngest that may pass goes, unless one has waited long
	PassRandom  = "random"  // any that may go
)

// passing is a policy; random is nil but for PassRandom.
type passing struct {
	always bool
	random *rand.Rand
}

// open tells whether more than the first that can go is looked for.
func (p *passing) open() bool { return p.always || p.random != nil }

// window is how many offers of a class are looked at where one may pass another
// of its class: as many as a root port holds.
const window = rootQueue

// patience is how often an offer that could go may stay behind under an open
// policy: beyond it, requests would time out on a link without a fault.
const patience = window

// scan goes through the offers of all classes from the oldest on.
type scan struct {
	next  [numClasses]uint32
	stay  [numClasses * window]*rules.Packet // offers seen, all of which would stay behind
	stays int
}

// pick finds the offer to go: it lacks nothing and may pass every older one that
// stays. If there is none, lack is what the oldest misses.
func (t *transmitter) pick(now clocked.Time) (c choice, lack Stall) {
	if o, at := t.oldest(); !t.pass.open() && t.missing(now, at.class, o) == stallNone {
		return at, stallNone
	}
	return t.search(now)
}

// oldest is the oldest offer; there must be one.
func (t *transmitter) oldest() (o *offer, at choice) {
	if t.front[msg.NonPosted] < t.front[at.class] {
		at.class = msg.NonPosted
	}
	if t.front[msg.Completion] < t.front[at.class] {
		at.class = msg.Completion
	}
	f := &t.offers[at.class]
	at.at = f.Head()
	return f.Front(), at
}

// search is pick where the oldest offer may not be the one.
func (t *transmitter) search(now clocked.Time) (c choice, lack Stall) {
	lack = stallNone
	found := 0
	var s scan
	for k := range t.offers {
		s.next[k] = t.offers[k].Head()
	}
	for o, at := t.older(&s); o != nil; o, at = t.older(&s) {
		if !s.blocks(o) {
			missing := t.missing(now, at.class, o)
			switch {
			case missing != stallNone:
				if lack == stallNone {
					lack = missing
				}
			case !t.pass.open() || o.stayed == patience:
				o.stayed = 0
				return at, stallNone
			default:
				o.stayed++
				found++
				if t.pass.always || t.pass.random.IntN(found) == 0 {
					c = at
				}
			}
		}
		s.stay[s.stays] = &o.packet
		s.stays++
	}
	if found > 0 {
		t.chosen(c).stayed = 0
		return c, stallNone
	}
	return c, lack
}

// older is the oldest offer that the scan has not seen; nil: none within the
// window.
func (t *transmitter) older(s *scan) (o *offer, at choice) {
	for k := range t.offers {
		f := &t.offers[k]
		if n := s.next[k]; f.Holds(n) && int(n-f.Head()) < t.window {
			if p := f.At(n); o == nil || p.since < o.since {
				o, at = p, choice{class: msg.TLPType(k), at: n}
			}
		}
	}
	if o != nil {
		s.next[at.class]++
	}
	return o, at
}

// blocks tells whether an offer may not pass one that stays.
func (s *scan) blocks(o *offer) bool {
	for _, earlier := range s.stay[:s.stays] {
		if rules.MayPass(&o.packet, earlier) == rules.No {
			return true
		}
	}
	return false
}

// missing is what an offer lacks; stallNone: nothing.
func (t *transmitter) missing(now clocked.Time, class msg.TLPType, o *offer) Stall {
	if t.direct != nil && t.direct.holds(now, o) {
		return stallHeld
	}
	if class == msg.NonPosted {
		switch {
		case t.tags == 0:
			return StallTag
		case t.space < o.bytes:
			return StallBuffer
		}
	}
	switch {
	case t.out.isDown(now):
		return stallNone
	case t.credits[headers(class)].Lacks(1):
		t.starved = true
		return Stall(headers(class))
	case t.credits[data(class)].Lacks(o.credits):
		t.starved = true
		return Stall(data(class))
	case t.sequence.Outstanding() >= t.maxTLPs || t.held+int64(o.wire) > t.maxHeld || !t.out.hasRoom(now):
		t.starved = true
		return StallReplay
	}
	return stallNone
}

// chosen is the offer of a choice.
func (t *transmitter) chosen(c choice) *offer { return t.offers[c.class].At(c.at) }

// done takes the chosen offer away.
func (t *transmitter) done(c choice) {
	f := &t.offers[c.class]
	for n := c.at; n != f.Head(); n-- {
		*f.At(n) = *f.At(n - 1)
	}
	f.Pop()
	t.front[c.class] = nobody
	if f.Len() > 0 {
		t.front[c.class] = f.Front().since
	}
}
