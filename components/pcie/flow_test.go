package pcie

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// Memory takes nothing: what is accepted is what credits, queues and wires hold, the
// credits of drained TLPs included, and all of it arrives in order once memory goes
// on. Where credits are infinite nothing holds it.
func TestBlockedMemory(t *testing.T) {
	const n = 1000
	for _, c := range []struct {
		credits Credits
		held    int
	}{
		// Memory's wire, the receive buffer, the write queue, the client's wire.
		{Credits{PH: 20}, 8 + 20 + 32 + 4},
		{Credits{PD: 1024}, 8 + 64 + 32 + 4},
		{Credits{PH: 100, PD: 100 * 16}, 8 + 100 + 32 + 4},
		{Credits{}, n},
	} {
		r := newRig(t, func(s *rigSpec) { s.Credits = c.credits })
		r.memory.blocked = true
		r.clients[0].todo = repeat(write1(0, 256), n)
		r.run(t)
		if held := n - len(r.clients[0].todo); held != c.held {
			t.Errorf("%+v: %d accepted with memory blocked, want %d", c.credits, held, c.held)
		}
		if len(r.Root.Waits()) == 0 || c.held < n && len(r.Endpoint.Waits()) == 0 {
			t.Errorf("waits %q %q, want lines from both ends", r.Endpoint.Waits(), r.Root.Waits())
		}
		r.memory.blocked = false
		r.engine.Wake(r.memory.id, r.engine.Now()+1)
		r.run(t)
		for i, m := range r.memory.got {
			if m.msg.Cookie != uint64(i) {
				t.Fatalf("write %d came as number %d", m.msg.Cookie, i)
			}
		}
		if len(r.memory.got) != n {
			t.Errorf("%d of %d writes arrived", len(r.memory.got), n)
		}
		conserved(t, r)
	}
}

// A client that takes no answers is not served any more; another is, and
// nothing is lost.
func TestClientThatTakesNoAnswers(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.clients, s.doneLen = 2, 2 })
	r.clients[0].deaf = true
	d := write1(0, 64)
	d.Notify = true
	r.clients[0].todo = append(repeat(read1(0, 64), 200), repeat(d, 200)...)
	r.clients[1].todo = repeat(read1(0, 64), 300)
	r.run(t)
	if len(r.clients[0].todo) == 0 || len(r.clients[1].dones) != 300 {
		t.Fatalf("deaf client has %d DMAs left, the other %d of 300 answers", len(r.clients[0].todo), len(r.clients[1].dones))
	}
	r.clients[0].deaf = false
	r.engine.Wake(r.clients[0].id, r.engine.Now()+1)
	r.run(t)
	if n := len(r.clients[0].dones); n != 400 {
		t.Errorf("%d of 400 answers", n)
	}
	conserved(t, r)
}

// Two clients with the same load get the same share at every moment.
func TestClientsShareInRotation(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.clients = 2 })
	r.clients[0].todo = repeat(write1(0, 64), 500)
	r.clients[1].todo = repeat(write1(1<<40, 64), 500)
	r.run(t)
	balance := 0
	for i, m := range r.memory.got {
		if m.msg.PA < 1<<40 {
			balance++
		} else {
			balance--
		}
		if balance < -2 || balance > 2 {
			t.Fatalf("after %d writes one client is %d ahead", i+1, balance)
		}
	}
}

// nag wakes units again and again although nothing happened.
type nag struct {
	engine *clocked.Engine
	id     clocked.UnitID
	units  []clocked.UnitID
	random *rand.Rand
	until  clocked.Time
}

func (n *nag) Name() string { return "nag" }
func (n *nag) Tick(now clocked.Time) {
	if now > n.until {
		return
	}
	for _, u := range n.units {
		n.engine.Wake(u, now+1+clocked.Time(n.random.Int64N(5000)))
	}
	n.engine.Wake(n.id, now+1+clocked.Time(n.random.Int64N(5000)))
}

// nag wakes both ends of a link for nothing until an instant.
func (r *rig) nag(random *rand.Rand, until clocked.Time) {
	n := &nag{engine: r.engine, units: []clocked.UnitID{r.Endpoint.ID(), r.Root.ID()}, random: random, until: until}
	n.id = r.engine.Register(n)
	r.engine.Wake(n.id, 1)
}

// tight has little of everything.
func tight(s *rigSpec) {
	s.pace = 7777 * clocked.Picosecond
	s.Credits = Credits{PH: 3, PD: 20, NPH: 2, NPD: 1}
	s.AdapterCredits = Credits{PH: 1, PD: 16, CPLH: 3, CPLD: 24}
	s.TagBits, s.Tags, s.CompletionBuffer, s.ReadQueue, s.WriteQueue = 5, 5, 1024, 2, 2
	s.Ack.Every, s.Update.Every, s.ReplayBuffer = 3, 2, ReplayBuffer{TLPs: 5, Bytes: 1024}
	s.ECRC, s.SplitPolicy = true, "random"
}

// lossy loses and damages TLPs, by lot and on purpose.
func lossy(s *rigSpec) {
	s.Inject.BER = 1e-5
	for _, way := range []string{"up", "down"} {
		s.Inject.Events += way + " 3 drop," + way + " 20 corrupt," + way + " 40 frame," + way + " 60 duplicate," +
			way + " 80 nak," + way + " 81 poison," + way + " 100 delay 150ns,"
	}
}

// passes makes TLPs overtake others.
func passes(policy string) option {
	return func(s *rigSpec) { s.Pass, s.Relaxed, s.IDOrdered = policy, true, true }
}

// traffic is a run of mixed random traffic behind an IOMMU, in text.
func traffic(t tb, shuffle uint64, nagged bool, change ...option) string {
	r := newRig(t, append(change, func(s *rigSpec) {
		s.clients, s.shuffle, s.doneLen, s.loud, s.iommu = 2, shuffle, 2, shuffle%2 == 1, true
	})...)
	random := rand.New(rand.NewPCG(1, 2))
	for c := range r.clients {
		for i := range 300 {
			d := msg.DMA{Write: random.IntN(2) == 0, Notify: random.IntN(2) == 0,
				PA: model.PA(random.Uint64N(1 << 30)), Len: 1 + random.Uint32N(1500), Cookie: uint64(i)}
			d.Address.PASID = random.Uint32N(2)
			switch {
			case random.IntN(4) > 0:
			case d.Write:
				d.Kind = msg.KindMessage
			default:
				d.Kind, d.Len = msg.KindATS, 8
			}
			r.clients[c].todo = append(r.clients[c].todo, d)
		}
	}
	for i := range 100 {
		r.mmio.todo = append(r.mmio.todo, msg.Doorbell{Client: uint8(i % 2), Len: 8 + random.Uint32N(100), Cookie: uint64(i)})
		r.iommu.todo = append(r.iommu.todo, msg.Doorbell{Message: true, Client: uint8(i % 2), Cookie: uint64(i)})
	}
	r.memory.status = func(q *msg.MemReq) msg.Status { return msg.Status(q.PA >> 6 & q.PA >> 8 & 3) }
	if nagged {
		r.nag(random, 200*clocked.Microsecond)
	}
	r.run(t)
	conserved(t, r)
	return fmt.Sprint(r.memory.got, r.clients[0].dones, r.clients[1].dones, r.clients[0].bells, r.clients[1].bells, r.mmio.rung, r.iommu.rung,
		r.Endpoint.Stats(), r.Root.Stats())
}

// The order of ticks within an instant and needless ticks change nothing.
func TestShuffleAndNeedlessTicks(t *testing.T) {
	flits := func(s *rigSpec) { s.Gen = 6 }
	for _, c := range []struct {
		what   string
		change []option
	}{
		{"plain", nil},
		{"random", []option{passes(PassRandom)}},
		{"tight", []option{tight}},
		{"tight, random", []option{tight, passes(PassRandom)}},
		{"tight, always", []option{tight, passes(PassAlways)}},
		{"lossy", []option{lossy}},
		{"tight, lossy", []option{tight, lossy, passes(PassRandom)}},
		{"tight, lossy, flits", []option{tight, lossy, flits, passes(PassAlways)}},
	} {
		want := traffic(t, 0, false, c.change...)
		for seed := range uint64(5) {
			for _, nagged := range []bool{false, true} {
				if got := traffic(t, seed, nagged, c.change...); got != want {
					t.Errorf("%s, shuffle %d, nagged %v: differs", c.what, seed, nagged)
				}
			}
		}
	}
}

// A line has room for all that is on its way at once, whatever its latency is to the
// time of the shortest TLPs: requests back to back.
func TestRoomOnTheLine(t *testing.T) {
	for _, gen := range []int{4, 5, 6} {
		for latency := range clocked.Time(330) {
			r := newRig(t, ample, func(s *rigSpec) { s.Gen, s.Lanes, s.MRRS, s.LinkLatency = gen, 32, 128, 1+latency })
			r.clients[0].todo = []msg.DMA{read1(0, 4096)}
			r.run(t)
			if len(r.clients[0].dones) != 1 || r.Endpoint.Stats().TLPs[msg.NonPosted] != 32 {
				t.Fatalf("gen %d, latency %v: %d answers to 32 requests", gen, 1+latency, len(r.clients[0].dones))
			}
		}
	}
}
