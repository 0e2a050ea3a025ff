package pcie

import (
	"rnicmmu/clocked"
	rules "rnicmmu/model/pcie"
)

// dllpKind orders the packets of the data link layer as the line does.
type dllpKind uint8

// Kinds, those that go first first.
const (
	dllpNak dllpKind = iota
	dllpAck
	dllpUpdate // and two more, for each class
	numDLLPs   = dllpUpdate + numClasses
	dllpTrain  = numDLLPs // not owed: ordered sets of a link that retrains
)

// dllp is a packet of the data link layer.
type dllp struct {
	at    clocked.Time // its arrival
	kind  dllpKind
	body  dllpBody
	until clocked.Time // training: its end
}

// dllpBody is what it says, by its kind.
type dllpBody struct {
	seq          uint16 // Ack, Nak
	header, data uint16 // UpdateFC: fields of both counters
}

// owed is a packet that its writer has to send.
type owed struct {
	at    clocked.Time // not before; Never: none
	count int          // TLPs that it is for
	body  dllpBody
}

// pace is when an Ack or UpdateFC is due: a time after the first TLP that it is
// for, or at the every-th one.
type pace struct {
	delay clocked.Time
	every int // 0: never by count
}

// settle works out which packets of the data link layer have left by the given
// time.
func (l *line) settle(until clocked.Time) {
	if l.due <= until {
		l.departures(until)
	}
}

func (l *line) departures(until clocked.Time) {
	for l.due <= until {
		start := l.from(l.due)
		if start > until {
			return
		}
		l.depart(start)
	}
}

// depart sends at start the first in order of the packets that are due.
func (l *line) depart(start clocked.Time) {
	for k := range l.owed {
		o := &l.owed[k]
		if o.at > start {
			continue
		}
		o.at = clocked.Never
		l.remind()
		end := start + 1 // in flit mode it is part of the flit that goes on from here
		if l.flit == 0 {
			_, end = l.serial.Send(start, rules.DLLPBytes)
		}
		end = l.whole(end)
		lost := l.fault != nil && l.fault.dllp(start, end)
		if l.watch != nil {
			l.watch.departed(start, end+l.latency, dllpKind(k), &o.body, lost)
		}
		if lost {
			l.again(dllpKind(k), end)
			return
		}
		*l.left.Push() = dllp{at: end + l.latency, kind: dllpKind(k), body: o.body}
		return
	}
}

// again owes an UpdateFC that was lost once more, with the next of those that
// come without news; those that are not lost matter to nobody.
func (l *line) again(k dllpKind, now clocked.Time) {
	if k >= dllpUpdate {
		l.owed[k].at, l.owed[k].count = now+rules.UpdatePeriod, 0
		l.remind()
	}
}

func (l *line) remind() {
	l.due = clocked.Never
	for k := range l.owed {
		l.due = min(l.due, l.owed[k].at)
	}
}

// owe makes the writer send a packet for one more TLP. One of its kind that has
// not left says what this one does.
func (l *line) owe(now clocked.Time, k dllpKind, p *pace, body dllpBody) {
	l.settle(now)
	o := &l.owed[k]
	o.body = body
	if o.at == clocked.Never {
		o.count = 0
	}
	o.count++
	at := now + p.delay
	if o.count == p.every {
		at = now
	}
	o.at = min(o.at, at)
	if at < l.due {
		l.due = at
		l.notify(now)
	}
}

// take is the next packet of the data link layer that has arrived; nil: none.
// The reader pops it from left.
func (l *line) take(now clocked.Time) *dllp {
	l.listening = false
	l.settle(now - l.latency)
	if l.left.Len() == 0 || l.left.Front().at > now {
		return nil
	}
	return l.left.Front()
}

// await wakes the reader for the next packet of the data link layer, at the
// earliest time at which it can come, until the reader looks again.
func (l *line) await(now clocked.Time) {
	l.listening = true
	l.notify(now)
}

// notify wakes a reader that waits, also when what comes next now comes earlier.
func (l *line) notify(now clocked.Time) {
	at := clocked.Never
	switch {
	case !l.listening:
	case l.left.Len() > 0 && l.left.Front().at > now:
		at = l.left.Front().at
	case l.due < clocked.Never:
		at = max(now+1, l.predict())
	}
	if at < clocked.Never && (at < l.woken || l.woken <= now) {
		l.woken = at
		l.engine.Wake(l.reader, at)
	}
}

// predict is when the packet that is due first arrives, if no TLP goes before it.
func (l *line) predict() clocked.Time {
	start := max(l.due, l.serial.Free())
	end := start + 1
	if l.flit == 0 {
		probe := l.serial
		_, end = probe.Send(start, rules.DLLPBytes)
	}
	return l.whole(end) + l.latency
}
