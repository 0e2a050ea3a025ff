package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// collect takes what the data link layer has brought back: Ack and Nak free the
// replay buffer, UpdateFC brings credits.
func (t *transmitter) collect(now clocked.Time) {
	for d := t.in.take(now); d != nil; d = t.in.take(now) {
		if t.in.watch != nil {
			t.in.watch.collected(now, d)
		}
		switch k := d.kind; k {
		case dllpAck:
			freed, _ := t.sequence.Ack(d.body.seq)
			t.release(now, freed)
		case dllpNak:
			freed, do := t.sequence.Nak(d.body.seq)
			t.release(now, freed)
			t.stats.Naks++
			t.perform(now, do)
		case dllpTrain:
			t.out.hold(now, d.until)
			t.trained(d.until)
		default:
			class := msg.TLPType(k - dllpUpdate)
			t.credits[headers(class)].Update(d.body.header)
			t.credits[data(class)].Update(d.body.data)
		}
		t.in.left.Pop()
	}
}

// release frees so many acknowledged TLPs of the replay buffer.
func (t *transmitter) release(now clocked.Time, freed int) {
	if freed > 0 {
		t.held = int64(t.stats.WireBytes - *t.mark(t.sequence.Oldest() - 1))
	}
	t.again = min(t.again, t.sequence.Outstanding())
	switch {
	case t.sequence.Outstanding() == 0:
		t.deadline = clocked.Never
	case freed > 0 && t.deadline != clocked.Never:
		t.restart(now)
	}
}

// heed is what a link that loses things needs beyond collect: the replay timer, to
// be awake for a Nak, and to send again what is due, before new TLPs.
func (t *transmitter) heed(now clocked.Time) {
	t.collect(now)
	if t.out.isDown(now) {
		t.again, t.deadline = 0, clocked.Never
		return
	}
	if now >= t.deadline {
		t.stats.ReplayTimeouts++
		t.restart(now)
		t.perform(now, t.sequence.Timeout())
	}
	t.arm(now)
	t.in.await(now)
	for t.again > 0 && t.isFree(now) && t.out.flight.Ready(now) {
		t.repeat(now)
	}
}

// perform sends again, after training where that is due.
func (t *transmitter) perform(now clocked.Time, do rules.Action) {
	switch do {
	case rules.Nothing:
		return
	case rules.Retrain:
		t.stats.Rollovers++
		t.retrain(now)
	}
	t.again = t.sequence.Outstanding()
}

// retrain stops both directions of the link for the time of a recovery.
func (t *transmitter) retrain(now clocked.Time) {
	t.stats.Recoveries++
	until := now + t.recovery
	t.out.train(now, until)
	t.trained(until)
}

// trained is when this end can receive again; the replay timer stands still
// meanwhile.
func (t *transmitter) trained(until clocked.Time) {
	t.deaf = max(t.deaf, until)
	if t.deadline != clocked.Never {
		t.restart(until)
	}
}

// restart starts the replay timer at the given time, or when training ends.
func (t *transmitter) restart(from clocked.Time) { t.deadline = max(from, t.deaf) + t.timeout }

// arm sees to it that the unit ticks at the end of the replay timer. A timer that
// has moved is armed again when the earlier one ends.
func (t *transmitter) arm(now clocked.Time) {
	if t.deadline != clocked.Never && t.armed <= now {
		t.armed = t.deadline
		t.engine.Wake(t.unit, t.armed)
	}
}

// repeat sends the oldest TLP that has to be sent again; the line is free and
// has room.
func (t *transmitter) repeat(now clocked.Time) {
	p := t.out.at(t.sequence.Oldest() + uint16(t.sequence.Outstanding()-t.again))
	t.again--
	t.out.send(now, p, false)
	t.stats.Replayed++
	t.stats.ReplayedBytes += uint64(p.bytes)
	t.stats.Busy += t.out.serial.Free() - now
}
