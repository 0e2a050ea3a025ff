package pcie

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
)

// replayTimer is that of Gen4.
const replayTimer = 24_000 * 8125 * clocked.Picosecond / 16

// Nothing comes behind a dropped TLP that would tell of it: the sender's replay
// timer does, which runs from the end of the first TLP or from the last progress.
func TestDroppedLastTLP(t *testing.T) {
	for _, w := range ways {
		for _, total := range []int{1, 12} {
			spec := injected(t, fmt.Sprintf("%s %d drop", w.name, total))
			r := newRig(t, of(spec))
			w.load(r, 0, total)
			r.run(t)
			c := schedule{&w, &spec}
			timer := c.end(1)
			if total > 1 { // the Ack of those before it
				timer = c.nak(c.end(1) + spec.LinkLatency + spec.Ack.Delay)
			}
			want := w.shown(timer + replayTimer + serial(&spec, w.bytes) + spec.LinkLatency)
			if got := w.seen(r); len(got) != total || got[total-1] != want {
				t.Errorf("%s: %d of %d came, the last at %v, want %v", w.name, len(got), total, got[len(got)-1], want)
			}
			if s, _ := w.stats(r.Link); s.ReplayTimeouts != 1 || s.Replayed != 1 || s.Naks+s.Rollovers+s.Recoveries != 0 {
				t.Errorf("%s: %+v, want one time-out and one TLP sent again", w.name, s)
			}
			conserved(t, r)
		}
	}
}

// Acks that take longer than the replay timer: all is sent again until the Ack comes
// with which the receiver answers the first duplicate; the rest is not.
func TestAckEndsAReplay(t *testing.T) {
	for _, w := range ways {
		const total = 40
		spec := injected(t, w.name+" 1000 drop") // a link that might lose something
		spec.Ack.Delay = 20 * clocked.Microsecond
		r := newRig(t, of(spec))
		w.load(r, 0, total)
		r.run(t)
		c := schedule{&w, &spec}
		from := c.end(1) + replayTimer
		ack := c.nak(from + serial(&spec, w.bytes) + spec.LinkLatency)
		again := 0
		for from+serial(&spec, int64(again)*w.bytes) < ack {
			again++
		}
		if s, _ := w.stats(r.Link); again >= total || s.Replayed != uint64(again) || s.ReplayTimeouts != 1 {
			t.Errorf("%s: %d TLPs sent again by %d time-outs, want %d of %d by 1", w.name, s.Replayed, s.ReplayTimeouts, again, total)
		}
		if got := w.seen(r); len(got) != total || got[total-1] > from {
			t.Errorf("%s: %d of %d came, the last at %v", w.name, len(got), total, got[len(got)-1])
		}
		conserved(t, r)
	}
}

// A TLP whose framing is wrong takes both directions through a recovery: what
// arrives meanwhile is lost, and nothing is sent. The TLP that comes next brings
// the Nak; if none does, the replay timer runs from the end of the recovery.
func TestFramingError(t *testing.T) {
	for _, w := range ways {
		for _, total := range []int{10, 40} {
			const n = 10
			spec := injected(t, fmt.Sprintf("%s %d frame", w.name, n))
			r := newRig(t, of(spec))
			w.load(r, 0, total)
			r.run(t)
			c := schedule{&w, &spec}
			seen := c.end(n) + spec.LinkLatency
			until := seen + spec.Inject.Recovery
			sent := min(total, c.before(seen+spec.LinkLatency))
			// What is sent again follows from an instant, behind so many others: a
			// time-out, which counts from the Ack of those before, or the Nak of
			// the first of more TLPs, be they out until then or not.
			from, behind, replayed := c.nak(c.end(1)+spec.LinkLatency+spec.Ack.Delay)+replayTimer, 0, 1
			if sent < total {
				from = c.nak(until + serial(&spec, w.bytes) + spec.LinkLatency)
				for ; behind < total-sent && until+serial(&spec, int64(behind)*w.bytes) < from; behind++ {
				}
				replayed = sent + behind - n + 1
				if until+serial(&spec, int64(behind)*w.bytes) < from {
					behind = 0
				} else {
					from = until
				}
			}
			got := w.seen(r)
			for i := n; i <= total; i++ {
				want := w.shown(from + serial(&spec, int64(behind+i-n+1)*w.bytes) + spec.LinkLatency)
				if got[i-1] != want {
					t.Errorf("%s: TLP %d of %d seen at %v, want %v", w.name, i, total, got[i-1], want)
				}
			}
			sender, receiver := w.stats(r.Link)
			if sender.Recoveries != 0 || receiver.Recoveries != 1 || sender.Replayed != uint64(replayed) {
				t.Errorf("%s: %+v at the sender, want %d replayed; %d recoveries at the receiver, want 1", w.name, sender, replayed, receiver.Recoveries)
			}
			conserved(t, r)
		}
	}
}

// In a recovery the direction without the error stands still too: from when its
// receiver knows, a flight after the error was seen, until the first TLP after the
// recovery can be there. What it had sent is sent again.
func TestRecoveryStopsBothWays(t *testing.T) {
	for i, w := range ways {
		const n = 10
		other := ways[1-i]
		spec := injected(t, fmt.Sprintf("%s %d frame", w.name, n))
		r := newRig(t, of(spec))
		w.load(r, 0, 40)
		other.load(r, 0, 1000)
		r.run(t)
		c := schedule{&w, &spec}
		seen := c.end(n) + spec.LinkLatency
		from, until := seen+spec.LinkLatency, seen+spec.Inject.Recovery
		first, last := other.shown(from), other.shown(until+serial(&spec, other.bytes)+spec.LinkLatency)
		before, after := 0, 0
		for _, at := range other.seen(r) {
			switch {
			case at <= first+2*cycle: // a doorbell may have waited for its client
				before++
			case at >= last:
				after++
			default:
				t.Errorf("%s: a TLP at %v, none is due from %v until %v", other.name, at, first, last)
			}
		}
		if before == 0 || after == 0 || before+after != 1000 {
			t.Errorf("%s: %d TLPs before and %d after the recovery, want some of each and 1000 in all", other.name, before, after)
		}
		if s, _ := other.stats(r.Link); s.Replayed == 0 {
			t.Errorf("%s: nothing was sent again", other.name)
		}
		conserved(t, r)
	}
}

// A TLP that does not come for long is sent again when the replay timer ends; the
// fourth time REPLAY_NUM rolls over and the link retrains before it is sent. What
// comes after all is taken once, and each copy is acknowledged.
func TestReplayNumRollsOver(t *testing.T) {
	for _, w := range ways {
		for _, lost := range []bool{false, true} {
			c := schedule{w: &w}
			spec := injected(t, "")
			c.s = &spec
			retrain := c.end(1) + 4*replayTimer
			until := retrain + spec.Inject.Recovery
			arrival := until + 100*ns
			if lost { // the TLP and the copies behind it come while the receiver is deaf
				arrival = until - 100*ns
			}
			spec.Inject.Events = fmt.Sprintf("%s 1 delay %dns", w.name, (arrival-c.end(1)-spec.LinkLatency)/ns)
			r := newRig(t, of(spec))
			w.load(r, 0, 1)
			r.run(t)
			want := w.shown(c.end(1) + (arrival-c.end(1))/ns*ns)
			if lost {
				want = w.shown(until + serial(&spec, w.bytes) + spec.LinkLatency)
			}
			if got := w.seen(r); len(got) != 1 || got[0] != want {
				t.Errorf("%s, lost %v: seen at %v, want %v", w.name, lost, got, want)
			}
			sender, receiver := w.stats(r.Link)
			if sender.ReplayTimeouts != 4 || sender.Rollovers != 1 || sender.Recoveries != 1 || sender.Replayed != 4 ||
				sender.Naks != 0 || receiver.Recoveries != 0 {
				t.Errorf("%s, lost %v: %+v and %d recoveries at the receiver, want 4 time-outs, 4 replays, 1 rollover, 1 recovery and 0",
					w.name, lost, sender, receiver.Recoveries)
			}
			conserved(t, r)
		}
	}
}

// The replay timer stands still in a recovery, also if an Ack comes meanwhile: the
// first TLP arrives just before the link retrains, and the second is late for long.
func TestReplayTimerInARecovery(t *testing.T) {
	w := &ways[0]
	spec := injected(t, "")
	spec.Ack.Every = 1
	c := schedule{w, &spec}
	retrain := c.end(1) + 4*replayTimer
	spec.Inject.Events = fmt.Sprintf("up 1 delay %dns, up 2 delay 100us", (4*replayTimer-10*ns-spec.LinkLatency)/ns)
	r := newRig(t, of(spec))
	w.load(r, 0, 1)
	r.runUntil(t, retrain-20*ns)
	w.load(r, 1, 1) // on the line when the link retrains
	r.runUntil(t, retrain)
	if s := r.Endpoint.Stats(); s.Rollovers != 1 || s.TLPs[0] != 2 {
		t.Fatalf("%+v, want a rollover and two TLPs", s)
	}
	end := retrain + spec.Inject.Recovery + replayTimer
	r.engine.Wake(r.Endpoint.ID(), end-1) // for nothing
	r.runUntil(t, end-1)
	if s := r.Endpoint.Stats(); s.ReplayTimeouts != 4 || r.Endpoint.tx.sequence.Outstanding() != 1 {
		t.Errorf("%d time-outs, %d TLPs not acknowledged, want 4 and 1", s.ReplayTimeouts, r.Endpoint.tx.sequence.Outstanding())
	}
	r.runUntil(t, end)
	if s := r.Endpoint.Stats(); s.ReplayTimeouts != 5 {
		t.Errorf("%d time-outs, want 5", s.ReplayTimeouts)
	}
	r.run(t)
	conserved(t, r)
}

// A TLP is late by so much that copies of it fill the line: they wait, and so do
// new TLPs, and a duplicate for which there is no place is lost.
func TestLineFullOfCopies(t *testing.T) {
	for _, w := range ways {
		for late := 1; late < 10; late++ { // at one of them one place is left
			spec := injected(t, w.name+" 1 delay 1ms, "+w.name+" 2 duplicate")
			spec.LinkLatency, spec.ReplayBuffer.TLPs = ns, 2
			r := newRig(t, of(spec))
			w.load(r, 0, 1)
			r.runUntil(t, clocked.Time(late)*replayTimer)
			w.load(r, 1, 1)
			r.run(t)
			if got := w.seen(r); len(got) != 2 || got[0] < clocked.Millisecond {
				t.Errorf("%s: seen at %v, want 2 TLPs in order after 1 ms", w.name, got)
			}
			room := spec.ReplayBuffer.TLPs + 5 // one of 20 bytes within a nanosecond, and 4
			if s, _ := w.stats(r.Link); s.Replayed > uint64(2*room) {
				t.Errorf("%s: %d TLPs sent again, more than the %d that there are places for, before and after", w.name, s.Replayed, room)
			}
			conserved(t, r)
		}
	}
}
