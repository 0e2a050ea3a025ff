package rc

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
	"rnicmmu/model/key"
)

// message is one work request of the stream; its PSNs are first … first+span-1.
type message struct {
	op     model.Op
	length uint64
	first  PSN
	span   uint32
}

// answer is a packet on its way back.
type answer struct {
	response bool
	syndrome Syndrome
	psn      PSN
}

// stream joins a requester and a responder by two lossy wires that keep order.
type stream struct {
	t        *rapid.T
	messages []message
	q        *Requester
	r        *Responder
	up       []Packet
	down     []answer
	executed []PSN // packets, in order of execution
	placed   []PSN // response packets, in order of placement
	random   *rand.Rand
}

func (s *stream) find(p PSN) message {
	for _, m := range s.messages {
		if at := p.Sub(m.first); at >= 0 && at < int32(m.span) {
			return m
		}
	}
	s.t.Fatalf("PSN %d belongs to no message", p)
	return message{}
}

func (s *stream) chance(percent int) bool {
	return s.random.IntN(100) < percent
}

func (s *stream) send() {
	m := s.find(s.q.Next)
	i := uint32(s.q.Next.Sub(m.first))
	p := Packet{PSN: s.q.Next, VA: 0x10_0000, Length: uint32(m.length), AckRequest: true}
	if m.op.Responds() {
		p.Opcode = RequestOpcode(m.op, NoExtra, 0, 1)
		p.VA += model.VA(i * mtu)
		p.Length -= i * mtu
		s.q.Issue(m.span-i, true)
	} else {
		p.Opcode, p.Payload = RequestOpcode(m.op, NoExtra, i, m.span), Payload(i, m.length, mtu)
		s.q.Issue(1, false)
	}
	if !s.chance(15) {
		s.up = append(s.up, p)
	}
}

func (s *stream) reply(a answer) {
	if !s.chance(15) {
		s.down = append(s.down, a)
	}
}

func (s *stream) arriveUp() {
	p := s.up[0]
	s.up = s.up[1:]
	in := Inputs{ReceiveReady: !s.chance(10), Key: key.OK, Present: !s.chance(10)}
	before := s.r.Expected
	a := s.r.Receive(p, in)
	if s.r.Expected != before {
		s.executed = append(s.executed, p.PSN)
	}
	switch a.Kind {
	case SendResponse, ReplayRead, ReplayAtomic:
		for i := range Span(p.Opcode.Op(), uint64(p.Length), mtu) {
			s.reply(answer{response: true, psn: p.PSN.Add(i)})
		}
	case SendAck, SendRNR, SendNAK:
		if a.Syndrome.Fatal() {
			s.t.Fatalf("%v refused: %v", p, a.Syndrome)
		}
		s.reply(answer{syndrome: a.Syndrome, psn: a.PSN})
	}
}

func (s *stream) arriveDown() {
	a := s.down[0]
	s.down = s.down[1:]
	if !a.response {
		s.q.Acknowledge(a.syndrome, a.psn)
	} else if _, ok := s.q.Respond(a.psn); ok {
		s.placed = append(s.placed, a.psn)
	}
}

// step does one thing that can happen now.
func (s *stream) step(end PSN) {
	maySend := s.q.Next != end && s.q.MaySend(8) && (s.q.Next != s.q.Highest || len(s.q.reads) < 4)
	switch what := s.random.IntN(3); {
	case what == 0 && maySend:
		s.send()
	case what <= 1 && len(s.up) > 0:
		s.arriveUp()
	case len(s.down) > 0:
		s.arriveDown()
	case len(s.up) > 0:
		s.arriveUp()
	case s.q.Waiting():
		s.q.RNRTimer()
	case maySend:
		s.send()
	default:
		s.q.Timeout()
	}
}

// RC-1, KEY-5: over lossy wires, with absent pages and missing buffers, every
// request packet is executed once and in order, every response is placed once
// and in order, and everything is acknowledged.
func TestExactlyOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := PSN(rapid.SampledFrom([]uint32{0, 0xFFFFF0}).Draw(t, "start"))
		s := &stream{t: t, random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
		var err error
		if s.q, err = NewRequester(RequesterConfig{Retry: Infinite, RNRRetry: Infinite}, start); err != nil {
			t.Fatal(err)
		}
		mode := rapid.Bool().Draw(t, "NAK after RNR")
		if s.r, err = NewResponder(ResponderConfig{MTU: mtu, Rights: allRights, Resources: 8, NAKAfterRNR: mode}, start); err != nil {
			t.Fatal(err)
		}
		end := start
		var wantExecuted, wantPlaced []PSN
		for range rapid.IntRange(1, 12).Draw(t, "messages") {
			m := message{op: rapid.SampledFrom([]model.Op{model.OpWrite, model.OpRead, model.OpSend, model.OpFetchAdd}).Draw(t, "op"),
				length: rapid.Uint64Range(1, 4*mtu).Draw(t, "length"), first: end}
			m.span = Span(m.op, m.length, mtu)
			for i := range m.span {
				if m.op.Responds() {
					wantPlaced = append(wantPlaced, end.Add(i))
				}
				if i == 0 || !m.op.Responds() {
					wantExecuted = append(wantExecuted, end.Add(i))
				}
			}
			end = end.Add(m.span)
			s.messages = append(s.messages, m)
		}
		for steps := 0; s.q.Oldest != end; steps++ {
			if steps > 100_000 {
				t.Fatalf("no end: %+v, %+v", s.q, s.r.Cursor)
			}
			s.step(end)
		}
		same(t, "executed", s.executed, wantExecuted)
		same(t, "placed", s.placed, wantPlaced)
	})
}

func same(t *rapid.T, what string, got, want []PSN) {
	if len(got) != len(want) {
		t.Fatalf("%s %d, want %d", what, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s %d, want %d", what, got, want)
		}
	}
}

// A stream without loss needs no timer and no second sending.
func TestStreamWithoutLoss(t *testing.T) {
	q := newRequester(t, 0, 0)
	r, err := NewResponder(ResponderConfig{MTU: mtu, Rights: allRights, Resources: 1}, q.Next)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		p := write(q.Issue(1, false), 8)
		a := r.Receive(p, good)
		if o := q.Acknowledge(a.Syndrome, a.PSN); a.Kind != SendAck || o != (Outcome{Advanced: true}) {
			t.Fatalf("%+v, %+v", a, o)
		}
	}
	if q.Outstanding() != 0 || r.MSN != 1000 {
		t.Errorf("%d outstanding, MSN %d", q.Outstanding(), r.MSN)
	}
}
