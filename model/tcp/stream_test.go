package tcp

import (
	"testing"

	"pgregory.net/rapid"
)

// link carries segments one way with a delay and loses those that are drawn.
type link[T any] struct {
	delay int64
	queue []struct {
		at  int64
		msg T
	}
}

func (l *link[T]) send(now int64, m T) {
	l.queue = append(l.queue, struct {
		at  int64
		msg T
	}{now + l.delay, m})
}

func (l *link[T]) due() int64 {
	if len(l.queue) == 0 {
		return Never
	}
	return l.queue[0].at
}

func (l *link[T]) take() T {
	m := l.queue[0].msg
	l.queue = l.queue[1:]
	return m
}

type piece struct{ index int }
type answer struct{ ack uint32 }

// pair is a sender and a receiver with lossy links between.
type pair struct {
	t                *rapid.T
	s                *Sender
	r                Receiver
	a                Acker
	sizes            []uint32
	first            []uint32 // sequence number of each segment
	down             link[piece]
	up               link[answer]
	kept             map[int]bool
	room, lose       func() bool
	refuse           func() bool
	taken            int // segments, in order
	refused, replays int
	pending          int // the refused segment that has not come again, or -1
	dead             bool
}

func (p *pair) index(seq uint32) int {
	for i, f := range p.first {
		if f == seq {
			return i
		}
	}
	p.t.Fatalf("no segment begins at %d", seq)
	return 0
}

func (p *pair) send(now int64) {
	for p.s.Una() != p.first[len(p.sizes)] {
		if p.s.Next() == p.first[len(p.sizes)] {
			return
		}
		i := p.index(p.s.Next())
		if !p.s.MaySend(p.sizes[i]) {
			return
		}
		p.s.Sent(now, p.sizes[i])
		if !p.lose() {
			p.down.send(now, piece{i})
		}
	}
}

func (p *pair) answer(now int64) {
	p.a.Sent()
	if !p.lose() {
		p.up.send(now, answer{p.r.Next()})
	}
}

func (p *pair) arrive(now int64, i int) {
	switch p.r.Arrive(p.first[i], p.sizes[i], p.room()) {
	case InOrder:
		for i == p.taken { // and what was kept behind it
			if i == p.pending {
				p.replays++
				p.pending = -1
			}
			if p.refuse() {
				p.r.Refuse(p.sizes[i])
				p.refused++
				p.pending = i
				delete(p.kept, i)
				return
			}
			gap := p.r.Gap()
			p.r.Accept(p.sizes[i])
			delete(p.kept, i)
			p.taken++
			if p.a.Took(now, gap) {
				p.answer(now)
			}
			if p.kept[p.taken] {
				i = p.taken
			}
		}
	case Kept:
		if p.kept[i] {
			p.t.Fatalf("segment %d kept twice", i)
		}
		p.kept[i] = true
		p.answer(now)
	default:
		p.answer(now)
	}
}

// step goes to the next instant at which something is due.
func (p *pair) step() bool {
	now := min(p.down.due(), p.up.due(), p.s.Deadline(), p.a.Deadline())
	switch {
	case now == Never:
		return false
	case now == p.down.due():
		p.arrive(now, p.down.take().index)
	case now == p.up.due():
		p.s.Ack(now, p.up.take().ack, 1<<20, true, 0)
	case now == p.a.Deadline():
		p.answer(now)
	default:
		if !p.s.Timeout(now) {
			p.dead = true
			return false
		}
	}
	if p.s.InFlight() > p.s.limit-p.s.una {
		p.t.Fatalf("%d bytes in flight, %d offered", p.s.InFlight(), p.s.limit-p.s.una)
	}
	p.send(now)
	return true
}

// Whatever is lost or refused, every byte is taken exactly once and in order,
// unless the sender gives up; and each refused segment comes again.
func TestEveryByteOnceInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := config()
		c.FastRetransmit = rapid.Bool().Draw(rt, "fast retransmit")
		c.InitialWindow = rapid.IntRange(1, 20).Draw(rt, "initial window")
		c.Retries = 40
		first := rapid.Uint32().Draw(rt, "first")
		s, err := NewSender(c, first, 1<<20)
		if err != nil {
			rt.Fatal(err)
		}
		seed := rapid.Uint64().Draw(rt, "seed")
		chance := func(name string) func() bool {
			in1000 := rapid.SampledFrom([]uint64{0, 20, 200, 500}).Draw(rt, name)
			return func() bool {
				seed = seed*6364136223846793005 + 1442695040888963407
				return seed>>33%1000 < in1000
			}
		}
		p := &pair{t: rt, s: s, r: NewReceiver(first, 1<<20), kept: map[int]bool{}, pending: -1,
			a:    NewAcker(rapid.IntRange(1, 3).Draw(rt, "ack every"), 40*ms),
			down: link[piece]{delay: ms}, up: link[answer]{delay: ms},
			lose: chance("lose"), refuse: chance("refuse"), room: chance("room")}
		p.sizes = rapid.SliceOfN(rapid.Uint32Range(1, mss), 1, 60).Draw(rt, "sizes")
		at := first
		for _, n := range p.sizes {
			p.first = append(p.first, at)
			at += n
		}
		p.first = append(p.first, at)
		p.send(0)
		for p.step() {
		}
		if p.dead {
			return
		}
		if p.taken != len(p.sizes) || p.r.Next() != at || s.Una() != at || len(p.kept) != 0 || p.r.Gap() {
			rt.Fatalf("%d of %d segments, acknowledged %d of %d bytes, kept %v", p.taken, len(p.sizes), s.Una()-first, at-first, p.kept)
		}
		if p.refused != p.replays {
			rt.Fatalf("%d refused, %d came again", p.refused, p.replays)
		}
	})
}
