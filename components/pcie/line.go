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

	owed      [numDLLPs]owed
	due       clocked.Time // of the first of owed; Never: none
	left      clocked.FIFO[dllp]
	directed  bool         // a director may keep the writer's TLPs back
	listening bool         // the reader wants to be woken for the next DLLP
	woken     clocked.Time // it will be, at this time, if that is later than now
	taken     uint64       // TLPs that the reader has accepted
	fault     *faults      // nil: nothing is ever lost

	name  string
	ends  [2]string // names of the units at the ends: writer, reader
	spec  *Spec
	watch *watching // nil: nobody looks
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

func newLine(e *clocked.Engine, s *Spec, name string, up bool, writer, reader *end) *line {
	l := &line{engine: e, writer: writer.unit, reader: reader.unit, name: name, ends: [2]string{writer.name, reader.name}, spec: s, latency: s.LinkLatency, due: clocked.Never}
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
	l.listening = l.fault != nil // a reader that has nothing to do yet has to hear of training
	if s.Inject.Down > 0 {
		e.Wake(l.writer, s.Inject.Down) // what waits for credits is given up
	}
	if l.fault != nil {
		l.replay = make([]packet, powerOfTwo(s.ReplayBuffer.TLPs))
	}
	shortest := rules.TLPBytes(s.Gen, rules.Shape{Header: rules.Header3DW})
	l.flight = clocked.NewWire[flying](e, clocked.WireSpec{Name: name, Writer: l.writer, Reader: l.reader,
		Depth: l.capacity(shortest, s.ReplayBuffer.TLPs), Latency: s.LinkLatency, Back: clocked.Picosecond})
	return l
}

// capacity is the number of TLPs on the way at once, of which the shortest has so
// many bytes and so many are unacknowledged: as many of them as fit into the
// latency; where things are lost, all of them and what was sent in vain.
func (l *line) capacity(shortest int64, tlps int) int {
	fit := int(int64(l.latency+2*l.flit)*l.serial.Den/(shortest*l.serial.Num)) + 4 // times are rounded
	if l.fault == nil {
		return min(fit, tlps+2)
	}
	return fit + tlps
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

// whole is the end of the flit in which a byte ends.
func (l *line) whole(end clocked.Time) clocked.Time {
	if l.flit == 0 {
		return end
	}
	return (end + l.flit - 1) / l.flit * l.flit
}

// hasRoom tells whether one more TLP may be on its way; a line that loses nothing
// has room for all that fit into the latency.
func (l *line) hasRoom(now clocked.Time) bool { return l.fault == nil || l.flight.Ready(now) }

// send puts a TLP on the line, which is free at now, and returns when its last byte
// has left. fresh: it is sent for the first time.
func (l *line) send(now clocked.Time, p *packet, fresh bool) (end clocked.Time) {
	end = l.put(now, p, fresh)
	if l.watch != nil {
		l.watch.sent(now, end, p, !fresh)
	}
	return end
}

func (l *line) put(now clocked.Time, p *packet, fresh bool) (end clocked.Time) {
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
	if l.watch != nil {
		l.watch.held(now, until)
	}
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
