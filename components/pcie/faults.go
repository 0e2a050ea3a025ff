package pcie

import (
	"math"
	"math/rand/v2"

	"rnicmmu/clocked"
	rules "rnicmmu/model/pcie"
)

// damage is what happens to a TLP on the line.
type damage uint8

// Damages; those after damageFraming are done on purpose only.
const (
	damageNone      damage = iota
	damageCorrupt          // it does not pass its check
	damageFraming          // with it the receiver loses the boundaries of what follows
	damageDrop             // it does not arrive
	damageDuplicate        // it is sent twice
	damageDelay            // it arrives late, and so does what is behind it
	damageNak              // it arrives, and the receiver sends a Nak although nothing is wrong
	damagePoison           // its data are marked as bad
)

// faults is what a line does to what is on it.
type faults struct {
	random  *rand.Rand
	rate    float64      // errors a bit
	gap     int64        // bits until the next one
	framing int64        // first bits of a TLP, in which an error is one of framing
	flit    clocked.Time // 0: no flits
	drawn   clocked.Time // end of the last flit whose fate is known
	bad     bool         // it
	down    clocked.Time // from here on nothing arrives; Never: it stays up
	events  []event      // of this direction, in order
	sent    uint64       // TLPs, each once
}

// tokenBytes is the token that starts a TLP with 128b/130b coding ([pcie-model]).
const tokenBytes = 4

// newFaults are those of a line; nil where nothing ever happens on the link: what
// happens to one direction may retrain both.
func newFaults(s *Spec, name string, up bool, flit clocked.Time) *faults {
	if s.Inject.BER == 0 && s.Inject.Down == 0 && s.Inject.Events == "" {
		return nil
	}
	f := &faults{random: clocked.NewStream(s.Seed, name+".errors"), rate: s.Inject.BER, flit: flit, drawn: -1,
		down: clocked.Never, events: s.Inject.events(up)}
	if s.Gen >= 3 { // and no flits, which are damaged as a whole
		f.framing = 8 * tokenBytes
	}
	if s.Inject.Down > 0 {
		f.down = s.Inject.Down
	}
	f.draw()
	return f
}

// draw takes the number of good bits before the next bad one: geometric.
func (f *faults) draw() {
	f.gap = math.MaxInt64
	if f.rate > 0 {
		if g := math.Log(1-f.random.Float64()) / math.Log1p(-f.rate); g < 1<<62 {
			f.gap = int64(g)
		}
	}
}

// pass moves so many bits over the line and returns the place of the first that
// is wrong; -1: none.
func (f *faults) pass(bits int64) (first int64) {
	first = -1
	at := int64(0)
	for f.gap < bits-at {
		at += f.gap
		if first < 0 {
			first = at
		}
		at++
		f.draw()
	}
	f.gap -= bits - at
	return first
}

// flits tells whether one of the flits from start to end, the end of the last, is
// bad.
func (f *faults) flits(start, end clocked.Time) (bad bool) {
	first := (start/f.flit + 1) * f.flit
	if first <= f.drawn {
		bad, first = f.bad, f.drawn+f.flit
	}
	for ; first <= end; first += f.flit {
		f.drawn, f.bad = first, f.pass(8*rules.FlitBytes) >= 0
		bad = bad || f.bad
	}
	return bad
}

// dllp tells whether a packet of the data link layer is lost; end is that of its
// flit.
func (f *faults) dllp(start, end clocked.Time) bool {
	if end > f.down {
		return true
	}
	if f.flit > 0 {
		return f.flits(start, end)
	}
	return f.pass(8*rules.DLLPBytes) >= 0
}

// tlp is what happens to a TLP that leaves from start to end; it is new, or sent
// again.
func (f *faults) tlp(start, end clocked.Time, bytes int64, fresh bool) (d damage, delay clocked.Time) {
	if f.flit > 0 {
		if f.flits(start, end) {
			d = damageCorrupt
		}
	} else if at := f.pass(8 * bytes); at >= 0 {
		d = damageCorrupt
		if at < f.framing {
			d = damageFraming
		}
	}
	if fresh {
		f.sent++
		if len(f.events) > 0 && f.events[0].tlp == f.sent {
			d, delay = f.events[0].what, f.events[0].delay
			f.events = f.events[1:]
		}
	}
	return d, delay
}
