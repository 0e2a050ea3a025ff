package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// numPools counts credit pools: header and data of each ordering class. The
// header pool of a class is 2·class, its data pool the next.
const numPools = 2 * numClasses

// offer is the oldest TLP of a class that a unit wants to send.
type offer struct {
	ready   bool
	prefix  uint8  // bytes of its prefix
	payload uint32 // bytes of data that it carries
	since   uint64 // number of its acceptance: older TLPs have lower ones
}

// transmitter sends one direction's TLPs: it keeps the offers of the three
// classes in order, takes credits and serializes.
type transmitter struct {
	engine  *clocked.Engine
	unit    clocked.UnitID
	line    clocked.Serializer
	latency clocked.Time
	out     [numClasses]*clocked.Wire[packet]
	credits *clocked.Wire[credit]

	limit [numPools]int32 // advertised; 0 is infinite
	have  [numPools]int32 // not yet used, of the finite ones

	offers   [numClasses]offer
	hold     Stall  // what the unit itself lacks for its non-posted offer; stallNone: nothing
	accepted uint64 // numbers given to offers
	sent     uint64 // TLPs
	alarm    clocked.Time
	starved  bool // the last choice failed for want of credits

	stall   Stall
	stalled clocked.Time // since when, unless stall is stallNone
	stats   Stats
}

// credit gives back what a drained TLP had taken.
type credit struct {
	class msg.TLPType
	data  int32
}

// next numbers an accepted TLP or DMA for the order of its transmission.
func (t *transmitter) next() uint64 {
	t.accepted++
	return t.accepted
}

// grant chooses what to send at now: ok is false while the link is busy, then
// with a timer set, or while nothing may go.
func (t *transmitter) grant(now clocked.Time) (class msg.TLPType, ok bool) {
	if !t.offers[0].ready && !t.offers[1].ready && !t.offers[2].ready {
		return 0, false
	}
	if free := t.line.Free(); free > now {
		if t.alarm != free {
			t.alarm = free
			t.engine.Wake(t.unit, free)
		}
		return 0, false
	}
	t.collect(now)
	class, lack := t.pick(now)
	t.book(now, lack)
	if lack != stallNone && t.starved {
		t.credits.Await(now)
	}
	return class, lack == stallNone
}

// collect takes the credits that have come back.
func (t *transmitter) collect(now clocked.Time) {
	for c := t.credits.Peek(now); c != nil; c = t.credits.Peek(now) {
		t.have[2*c.class]++
		t.have[2*c.class+1] += c.data
		t.credits.Pop(now)
	}
}

// pick finds the oldest offer that may go: it lacks nothing and may pass every
// older one, each of which does lack something. If there is none, lack is what
// the oldest misses.
func (t *transmitter) pick(now clocked.Time) (class msg.TLPType, lack Stall) {
	lack = stallNone
	t.starved = false
	var behind [numClasses]bool // classes whose offer is older and stays
	for range numClasses {
		c, found := t.oldest(&behind)
		if !found {
			break
		}
		blocked := !t.passes(c, &behind)
		if !blocked {
			missing := t.missing(now, c)
			if missing == stallNone {
				return c, stallNone
			}
			if lack == stallNone {
				lack = missing
			}
		}
		behind[c] = true
	}
	return 0, lack
}

func (t *transmitter) oldest(behind *[numClasses]bool) (class msg.TLPType, found bool) {
	for c := range t.offers {
		o := &t.offers[c]
		if o.ready && !behind[c] && (!found || o.since < t.offers[class].since) {
			class, found = msg.TLPType(c), true
		}
	}
	return class, found
}

func (t *transmitter) passes(class msg.TLPType, behind *[numClasses]bool) bool {
	for c, stays := range behind {
		if stays && !mayPass[class][c] {
			return false
		}
	}
	return true
}

// missing is what the offer of a class lacks; stallNone: nothing.
func (t *transmitter) missing(now clocked.Time, class msg.TLPType) Stall {
	if class == msg.NonPosted && t.hold != stallNone {
		return t.hold
	}
	head, data := 2*class, 2*class+1
	if t.limit[head] > 0 && t.have[head] < 1 {
		t.starved = true
		return Stall(head)
	}
	if t.limit[data] > 0 && t.have[data] < dataCredits(t.offers[class].payload) {
		t.starved = true
		return Stall(data)
	}
	if !t.out[class].Ready(now) {
		return StallReceiver
	}
	return stallNone
}

// book charges the idle time of the link to what it has been waiting for.
func (t *transmitter) book(now clocked.Time, lack Stall) {
	if t.stall == lack {
		return
	}
	if t.stall != stallNone {
		t.stats.Stalls[t.stall] += now - t.stalled
	}
	t.stall, t.stalled = lack, now
}

// launch sends the granted offer. It returns the TLP for the unit to fill in,
// its bytes on the wire, and the time at which the last of them has left.
func (t *transmitter) launch(now clocked.Time, class msg.TLPType, kind msg.Kind) (p *packet, bytes int64, end clocked.Time) {
	payload := t.offers[class].payload
	bytes = WireBytes(class, payload) + int64(t.offers[class].prefix)
	start, end := t.line.Send(now, bytes)
	t.have[2*class]--
	t.have[2*class+1] -= dataCredits(payload)
	t.offers[class].ready = false
	t.sent++

	s := &t.stats
	s.TLPs[class]++
	s.Kinds[kind]++
	s.WireBytes += uint64(bytes)
	s.PayloadBytes += uint64(payload)
	s.Busy += t.line.Free() - start

	arrival := end + t.latency
	p = t.out[class].PushAt(now, arrival)
	p.order, p.arrival = t.sent, arrival
	return p, bytes, end
}

// flying tells whether a TLP is on its way or waits in a receive buffer.
func (t *transmitter) flying() bool {
	for _, w := range t.out {
		if w.Len() > 0 {
			return true
		}
	}
	return false
}
