package pcie

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Chances of what a channel does to a packet, in thousandths.
type chances struct{ lose, damage, twice int }

// pipe carries packets in order, each after at least delay ticks.
type pipe[T any] struct {
	delay   int
	packets []T
	due     []int
}

func (p *pipe[T]) push(now int, packet T) {
	p.packets, p.due = append(p.packets, packet), append(p.due, now+p.delay)
}

func (p *pipe[T]) pop(now int) (packet T, ok bool) {
	if len(p.due) == 0 || p.due[0] > now {
		return packet, false
	}
	packet = p.packets[0]
	p.packets, p.due = p.packets[1:], p.due[1:]
	return packet, true
}

type sentTLP struct {
	id      int // number of the TLP since the start
	seq     uint16
	damaged bool
}

type sentDLLP struct {
	nak bool
	seq uint16
}

// link is both machines and the channel between them; a tick is the time of a TLP.
type link struct {
	Sender
	Receiver
	forth                 pipe[sentTLP]
	back                  pipe[sentDLLP]
	odds                  chances
	fault                 int // damages the first sending of each TLP that is a multiple; 0: none
	draw                  *rand.Rand
	sent, acked, accepted int
	resend                int // the next TLP of a replay; sent: none
	quiet                 int // ticks since progress or replay
	ackIn                 int // ticks until an Ack is due; 0: none is
	most                  int // outstanding
	retrained, replayed   int
}

func (l *link) chance(thousandths int) bool { return l.draw.IntN(1000) < thousandths }

func (l *link) do(a Action) {
	if a == Nothing {
		return
	}
	l.replayed++
	l.resend, l.quiet = l.acked, 0
	if a == Retrain {
		l.retrained++
		l.forth.packets, l.forth.due, l.back.packets, l.back.due = nil, nil, nil, nil
	}
}

func (l *link) transmit(now, target int) {
	id, faulty := l.resend, false
	switch {
	case id < l.sent:
		l.resend++
	case l.sent < target && !l.Full():
		l.Next()
		l.sent++
		l.resend++
		faulty = l.fault > 0 && l.sent%l.fault == 0
	default:
		return
	}
	copies := 1
	if l.chance(l.odds.twice) {
		copies = 2
	}
	for range copies {
		if !l.chance(l.odds.lose) {
			l.forth.push(now, sentTLP{id, uint16(id % 4096), faulty || l.chance(l.odds.damage)})
		}
	}
}

func (l *link) receive(t rapid.TB, now, patience int) {
	reply := func(nak bool) {
		if l.ackIn = 0; l.chance(l.odds.lose + l.odds.damage) {
			return
		}
		l.back.push(now, sentDLLP{nak, l.Last()})
		if l.chance(l.odds.twice) {
			l.back.push(now, sentDLLP{nak, l.Last()})
		}
	}
	if l.ackIn == 1 {
		reply(false)
	}
	l.ackIn = max(0, l.ackIn-1)
	for p, ok := l.forth.pop(now); ok; p, ok = l.forth.pop(now) {
		seq := p.seq
		if p.damaged {
			seq = uint16(l.draw.IntN(4096))
		}
		switch l.Take(seq, p.damaged) {
		case Accept:
			if p.id != l.accepted || p.damaged {
				t.Fatalf("TLP %d is accepted where %d is due", p.id, l.accepted)
			}
			if l.accepted++; l.ackIn == 0 {
				l.ackIn = 1 + l.draw.IntN(patience)
			}
		case Duplicate:
			reply(false)
		case Bad:
			reply(true)
		}
	}
}

func (l *link) listen(t rapid.TB, now, timeout int) {
	for d, ok := l.back.pop(now); ok; d, ok = l.back.pop(now) {
		var freed int
		do := Nothing
		if d.nak {
			freed, do = l.Nak(d.seq)
		} else if freed, ok = l.Ack(d.seq); !ok {
			t.Fatalf("Ack %d with %d outstanding from %d", d.seq, l.Outstanding(), l.Oldest())
		}
		if l.acked += freed; freed > 0 {
			l.quiet = 0
		}
		l.resend = max(l.resend, l.acked)
		l.do(do)
	}
	if l.acked > l.accepted || l.Outstanding() != l.sent-l.acked || int(l.Oldest()) != l.acked%4096 {
		t.Fatalf("%d acknowledged, %d accepted, %d sent; outstanding %d from %d",
			l.acked, l.accepted, l.sent, l.Outstanding(), l.Oldest())
	}
	if l.resend < l.sent || l.acked == l.sent {
		l.quiet = 0 // the timer rests during a replay
	} else if l.quiet++; l.quiet > timeout {
		l.do(l.Timeout())
	}
}

func (l *link) tick(t rapid.TB, now, target, patience, timeout int) {
	l.listen(t, now, timeout)
	l.receive(t, now, patience)
	l.transmit(now, target)
	if l.most = max(l.most, l.Outstanding()); l.most > 2047 {
		t.Fatalf("%d outstanding", l.most)
	}
}

// Over a channel that loses, damages and doubles packets of both kinds, every TLP
// is accepted once and in order, no more than 2047 are outstanding, and all are
// through soon after the channel has healed.
func TestEveryTLPOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		odd := func(name string) int {
			return rapid.SampledFrom([]int{0, 1, 10, 100, 300, 1000}).Draw(t, name)
		}
		l := link{draw: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
		l.odds = chances{odd("lose"), odd("damage"), odd("twice")}
		l.forth.delay, l.back.delay = rapid.IntRange(1, 1500).Draw(t, "forth"), rapid.IntRange(1, 1500).Draw(t, "back")
		patience := rapid.IntRange(1, 50).Draw(t, "patience")
		round := l.forth.delay + l.back.delay + patience
		timeout := rapid.IntRange(round, 3*round).Draw(t, "timeout")
		now := 0
		for ill := rapid.IntRange(0, 12_000).Draw(t, "ill"); now < ill; now++ {
			l.tick(t, now, 1<<30, patience, timeout)
		}
		l.odds = chances{}
		healthy, target := now, l.sent+500
		// At worst a replay of nothing, the time-out behind it, a replay of all, and a
		// round for the rest.
		for bound := now + 2*(MaxOutstanding+timeout+round) + 500 + round; l.acked < target; now++ {
			if now > bound {
				t.Fatalf("%d of %d are acknowledged %d ticks after the channel healed", l.acked, target, now-healthy)
			}
			l.tick(t, now, target, patience, timeout)
		}
		if l.accepted != target || l.Outstanding() != 0 {
			t.Fatalf("%d accepted, want %d; %d outstanding", l.accepted, target, l.Outstanding())
		}
	})
}

// A channel without a fault carries a TLP each tick as long as its round trip has
// no more than 2047 of them, and nothing is sent again; a longer one is held up
// with 2047 outstanding.
func TestFaultlessChannel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := link{draw: rand.New(rand.NewPCG(1, 0))}
		l.forth.delay, l.back.delay = rapid.IntRange(1, 2000).Draw(t, "forth"), rapid.IntRange(1, 2000).Draw(t, "back")
		const ticks = 10_000
		for now := range ticks {
			l.tick(t, now, 1<<30, 1, 1<<30)
		}
		round := l.forth.delay + l.back.delay + 1 // an Ack leaves a tick after its TLP came
		if l.replayed > 0 {
			t.Fatalf("%d replays", l.replayed)
		}
		if want := min(round, MaxOutstanding); l.most != want {
			t.Fatalf("%d outstanding, want %d", l.most, want)
		}
		if round <= MaxOutstanding && l.sent != ticks {
			t.Fatalf("%d sent in %d ticks", l.sent, ticks)
		}
	})
}

// Damage costs one replay by way of one Nak and never the timer, whatever else is
// under way, as long as faults are more than a replay apart.
func TestOneReplayEachFault(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := link{draw: rand.New(rand.NewPCG(1, 0))}
		l.forth.delay, l.back.delay = rapid.IntRange(1, 200).Draw(t, "forth"), rapid.IntRange(1, 200).Draw(t, "back")
		l.fault = rapid.IntRange(500, 2000).Draw(t, "fault")
		now := 0
		for target := 10*l.fault + 1; l.acked < target; now++ {
			if l.tick(t, now, target, 1, 1<<30); now > 20*l.fault+10_000 {
				t.Fatalf("%d of %d acknowledged", l.acked, target)
			}
		}
		if l.replayed != 10 || l.retrained != 0 {
			t.Fatalf("%d replays, %d retrains; want 10, 0", l.replayed, l.retrained)
		}
	})
}

// A dead channel replays for ever, retrains every fourth time and accepts nothing.
func TestDeadChannel(t *testing.T) {
	l := link{draw: rand.New(rand.NewPCG(1, 0)), odds: chances{lose: 1000}}
	l.forth.delay, l.back.delay = 1, 1
	// The first time-out is at tick 91; then ten ticks send again, the first of them
	// that of the time-out, and 91 are quiet, the last of them that of the next.
	for now := range 1000 * 100 {
		l.tick(t, now, 10, 1, 90)
	}
	if l.accepted != 0 || l.replayed != 1000 || l.retrained != 250 {
		t.Fatalf("%d accepted, %d replays, %d retrains", l.accepted, l.replayed, l.retrained)
	}
}
