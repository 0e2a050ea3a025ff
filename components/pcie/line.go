package pcie

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// line is one direction of a link: its byte time, the TLPs that its writer has
// not seen acknowledged, and the packets of the data link layer. The latter cost
// no event. A packet that its writer owes leaves when it is due and the line is
// free, and what has left by an instant is worked out when the writer uses the
// line or the reader looks. Both ends find the same, as whatever could change
// what left before an instant works out first what has left by then.
type line struct {
	engine         *clocked.Engine
	writer, reader clocked.UnitID
	serial         clocked.Serializer
	latency        clocked.Time
	flit           clocked.Time // time of a flit; 0: no flits
	skp            cadence

	flight *clocked.Wire[flying]
	replay []packet           // by sequence number, modulo its length, a power of two: sent and not acknowledged; not where nothing is lost
	held   [numClasses]buffer // of the reader

	owed  [numDLLPs]owed
	due   clocked.Time // of the first of owed; Never: none
	left  clocked.FIFO[dllp]
	waits bool         // the reader wants to be woken for the next DLLP
	woken clocked.Time // it will be, at this time, if that is later than now
	taken uint64       // TLPs that the reader has accepted
	fault *faults      // nil: nothing is ever lost
}

// buffer holds TLPs of a class in order: those that are there, and behind them,
// where nothing is lost, those on their way.
type buffer struct {
	clocked.FIFO[packet]
	there int
}

// flying is a TLP on its way. The packet itself stays in the replay buffer or is
// in the reader's.
type flying struct {
	seq    uint16
	class  msg.TLPType
	damage damage
}

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

func newLine(e *clocked.Engine, s *Spec, name string, up bool, writer, reader clocked.UnitID) *line {
	l := &line{engine: e, writer: writer, reader: reader, latency: s.LinkLatency, due: clocked.Never}
	num, den := rules.ByteTime(s.Gen, s.Lanes)
	if rules.Flits(s.Gen) {
		l.flit = clocked.Time(rules.FlitBytes * num / den)
		num, den = num*rules.FlitBytes, den*rules.FlitTLPBytes
	}
	l.serial = clocked.NewSerializer(num, den)
	l.skp = newCadence(s.Gen, s.SKP)
	for k := range l.owed {
		l.owed[k].at = clocked.Never
	}
	l.fault = newFaults(s, name, up, l.flit)
	l.waits = l.fault != nil // a reader that has nothing to do yet has to hear of training
	if s.Inject.Down > 0 {
		e.Wake(writer, s.Inject.Down) // what waits for credits is given up
	}
	if l.fault != nil {
		l.replay = make([]packet, powerOfTwo(s.ReplayBuffer.TLPs))
	}
	l.flight = clocked.NewWire[flying](e, clocked.WireSpec{Name: name, Writer: writer, Reader: reader,
		Depth: l.capacity(rules.TLPBytes(s.Gen, rules.Shape{Header: rules.Header3DW})), Latency: s.LinkLatency, Back: clocked.Picosecond})
	return l
}

// capacity is the number of TLPs on the way at once, of which the shortest has so
// many bytes: those of the replay buffer, and what was sent in vain within the
// latency.
func (l *line) capacity(shortest int64) int {
	vain := int64(l.latency+2*l.flit) * l.serial.Den / (shortest * l.serial.Num)
	return len(l.replay) + int(vain) + 4 // times are rounded
}

// powerOfTwo is the least that is not less than n.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

// from is when a packet that wants the line at the given time gets it. SKP
// ordered sets that are due go first.
func (l *line) from(at clocked.Time) clocked.Time {
	start := max(at, l.serial.Free())
	if l.skp.next <= start {
		return l.stop(at)
	}
	return start
}

// stop sends the SKP ordered sets that go before a packet.
func (l *line) stop(at clocked.Time) clocked.Time {
	for l.skp.next <= max(at, l.serial.Free()) {
		l.skp.skip(at)
		l.serial.Hold(max(l.skp.next, l.serial.Free()) + l.skp.length)
		l.skp.next += l.skp.interval
	}
	return max(at, l.serial.Free())
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
		if l.fault != nil && l.fault.dllp(start, end) {
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

// whole is the end of the flit in which a byte ends.
func (l *line) whole(end clocked.Time) clocked.Time {
	if l.flit == 0 {
		return end
	}
	return (end + l.flit - 1) / l.flit * l.flit
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
	l.waits = false
	l.settle(now - l.latency)
	if l.left.Len() == 0 || l.left.Front().at > now {
		return nil
	}
	return l.left.Front()
}

// await wakes the reader for the next packet of the data link layer, at the
// earliest time at which it can come, until the reader looks again.
func (l *line) await(now clocked.Time) {
	l.waits = true
	l.notify(now)
}

// notify wakes a reader that waits, also when what comes next now comes earlier.
func (l *line) notify(now clocked.Time) {
	at := clocked.Never
	switch {
	case !l.waits:
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

// hasRoom tells whether one more TLP may be on its way; a line that loses nothing
// has room for all that fit into the latency.
func (l *line) hasRoom(now clocked.Time) bool { return l.fault == nil || l.flight.Ready(now) }

// send puts a TLP on the line, which is free at now, and
// returns when its last byte has left. fresh: it is sent for the first time.
func (l *line) send(now clocked.Time, p *packet, fresh bool) (end clocked.Time) {
	if l.flit > 0 && now > l.serial.Free() {
		l.serial.Hold(l.whole(now)) // the flit under way has begun without it
	}
	_, end = l.serial.Send(now, int64(p.bytes))
	whole := l.whole(end)
	arrival := whole + l.latency
	if l.fault == nil {
		p.arrival = arrival
		*l.flight.PushAt(now, arrival) = flying{p.seq, p.Type, damageNone}
		return end
	}
	d, delay := l.fault.tlp(now, whole, int64(p.bytes), fresh)
	arrival += delay
	switch d {
	case damagePoison:
		p.Poisoned = p.Payload
	case damageDuplicate:
		*l.flight.PushAt(now, arrival) = flying{p.seq, p.Type, damageNone}
		_, again := l.serial.Send(now, int64(p.bytes))
		if !l.flight.Ready(now) { // too many are on their way
			return end
		}
		arrival = l.whole(again) + l.latency
	case damageDrop:
		return end
	}
	*l.flight.PushAt(now, arrival) = flying{p.seq, p.Type, d}
	return end
}

// hold keeps the line from sending before the given time. SKP ordered sets that
// are due meanwhile are part of why.
func (l *line) hold(now, until clocked.Time) {
	l.settle(now)
	l.serial.Hold(until)
	l.skp.pass(until)
}

// train tells the reader that both directions stand still until the given time.
func (l *line) train(now, until clocked.Time) {
	l.hold(now, until)
	at := now + l.latency
	if n := l.left.Len(); n > 0 {
		at = max(at, l.left.At(l.left.Tail()-1).at)
	}
	*l.left.Push() = dllp{at: at, kind: dllpTrain, until: until}
	l.notify(now)
}

// isDown tells whether the link is down at now.
func (l *line) isDown(now clocked.Time) bool { return l.fault != nil && now >= l.fault.down }

// place is where the writer puts the next TLP, whose number is given: with the
// reader, or in the replay buffer.
func (l *line) place(class msg.TLPType, seq uint16) *packet {
	if l.fault == nil {
		return l.held[class].Push()
	}
	return l.at(seq)
}

// at is the replay buffer's place of a sequence number.
func (l *line) at(seq uint16) *packet { return &l.replay[int(seq)&(len(l.replay)-1)] }
