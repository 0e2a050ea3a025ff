package clocked

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"pgregory.net/rapid"
)

type note struct {
	sim.MsgMeta
	number int
}

func (n *note) Meta() *sim.MsgMeta { return &n.MsgMeta }

// echo is a unit of ours with an Akita port: it sends each message back a
// fixed time after it saw it, and holds up to four.
type echo struct {
	*Component
	e     *Engine
	port  *Port
	clock Domain
	delay Time
	held  []*note
	due   []Time
	log   []string
}

func newEcho(e *Engine, clock Domain, delay Time, capacity int) *echo {
	u := &echo{e: e, clock: clock, delay: delay}
	u.Component = NewComponent(e, "Echo", u, clock)
	u.port = NewPort(u.Component, capacity, "Echo.Port")
	u.AddPort("Port", u.port)
	return u
}

func (u *echo) Tick(now Time) {
	for len(u.held) > 0 && u.due[0] <= now {
		n := u.held[0]
		n.Src, n.Dst, n.SendTime = n.Dst, n.Src, now.Seconds()
		if u.port.Send(n) != nil {
			n.Src, n.Dst = n.Dst, n.Src
			return
		}
		u.log = append(u.log, fmt.Sprintf("send %d at %d", n.number, now))
		u.held, u.due = u.held[1:], u.due[1:]
	}
	for len(u.held) < 4 && u.port.Peek() != nil {
		n := u.port.Retrieve(now.Seconds()).(*note)
		u.log = append(u.log, fmt.Sprintf("take %d at %d", n.number, now))
		u.held, u.due = append(u.held, n), append(u.due, u.clock.Edge(now+u.delay))
	}
	if len(u.due) > 0 && u.due[0] > now {
		u.e.Wake(u.ID(), u.due[0])
	}
}

// client is an Akita ticking component that sends notes and takes them back.
type client struct {
	*sim.TickingComponent
	port sim.Port
	to   sim.Port
	left int
	log  []string
}

func (c *client) Tick(now sim.VTimeInSec) (progress bool) {
	if msg := c.port.Retrieve(now); msg != nil {
		c.log = append(c.log, fmt.Sprintf("%d: at %.17g from %.17g", msg.(*note).number, now, msg.Meta().RecvTime))
		progress = true
	}
	if c.left > 0 {
		n := &note{MsgMeta: sim.MsgMeta{Src: c.port, Dst: c.to, SendTime: now}, number: c.left}
		if c.port.Send(n) == nil {
			c.left--
			progress = true
		}
	}
	return progress
}

func newClient(e sim.Engine, i int, f sim.Freq, capacity, messages int, to sim.Port, ours bool) *client {
	c := &client{left: messages, to: to}
	c.TickingComponent = sim.NewTickingComponent(fmt.Sprintf("Client[%d]", i), e, f, c)
	if ours {
		c.port = NewPort(c, capacity, c.Name()+".Port")
	} else {
		c.port = sim.NewLimitNumMsgPort(c, capacity, c.Name()+".Port")
	}
	return c
}

var akitaClocks = []sim.Freq{1 * sim.GHz, 800 * sim.MHz, 1300 * sim.MHz, 333 * sim.MHz}

// meeting is two Akita clients and a unit of ours.
type meeting struct {
	clients                                 [2]sim.Freq
	wire, unit                              sim.Freq
	capacity, depth, messages, delay, cycle int
	ourPort, ourConnection                  bool
}

func drawMeeting(t *rapid.T) meeting {
	clock := rapid.SampledFrom(akitaClocks)
	return meeting{
		clients: [2]sim.Freq{clock.Draw(t, "client 0"), clock.Draw(t, "client 1")},
		wire:    clock.Draw(t, "wire"), unit: clock.Draw(t, "unit"),
		capacity: rapid.IntRange(1, 3).Draw(t, "capacity"), depth: rapid.IntRange(1, 3).Draw(t, "depth"),
		messages: rapid.IntRange(1, 20).Draw(t, "messages"), delay: rapid.IntRange(1, 5000).Draw(t, "delay"),
		cycle:   rapid.IntRange(1, 4).Draw(t, "cycles"),
		ourPort: rapid.Bool().Draw(t, "our port"), ourConnection: rapid.Bool().Draw(t, "our connection"),
	}
}

// run holds the meeting on an engine of ours, driven by runner, and returns
// what each participant saw.
func (m meeting) run(t *rapid.T, e *Engine, runner sim.Engine) [3][]string {
	u := newEcho(e, NewDomain(Freq(m.unit)), Time(m.delay), m.capacity)
	var conn sim.Connection = sim.NewDirectConnection("Conn", runner, m.wire)
	if m.ourConnection {
		conn = NewConnection(ConnectionSpec{Name: "Conn", Engine: runner, Domain: NewDomain(Freq(m.wire)), Cycles: m.cycle})
	}
	conn.PlugIn(u.port, m.depth)
	var clients [2]*client
	for i := range clients {
		clients[i] = newClient(runner, i, m.clients[i], m.capacity, m.messages, u.port, m.ourPort)
		conn.PlugIn(clients[i].port, m.depth)
		clients[i].TickLater(0)
	}
	if err := runner.Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range clients {
		if len(c.log) != m.messages {
			t.Fatalf("%d of %d messages came back", len(c.log), m.messages)
		}
	}
	return [3][]string{u.log, clients[0].log, clients[1].log}
}

// A unit with Akita ports among Akita's components: the same on our engine, in
// any order of equal times, and as a guest on Akita's.
func TestComponentOnBothEngines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMeeting(t)
		e := NewEngine()
		want := m.run(t, e, e)
		shuffled := NewEngine()
		shuffled.Shuffle(rapid.Uint64().Draw(t, "seed"))
		guest := NewEngine()
		for how, got := range map[string][3][]string{
			"shuffled":                m.run(t, shuffled, shuffled),
			"guest of Akita's engine": m.run(t, guest, onAkita(guest)),
		} {
			for i := range want {
				if !slices.Equal(want[i], got[i]) {
					t.Fatalf("%s: participant %d\n%q, natively\n%q", how, i, got[i], want[i])
				}
			}
		}
	})
}

func TestComponentHandlesAkitaTicks(t *testing.T) {
	e := NewEngine()
	m := &metronome{e: e}
	c := NewComponent(e, "Metronome", m, NewDomain(1e9))
	m.id = c.ID()
	e.Schedule(sim.MakeTickEvent(Time(2000).Seconds(), c)) // on an edge
	e.Schedule(sim.MakeTickEvent(Time(2300).Seconds(), c)) // between edges: the next one
	if err := e.Run(); err != nil || !slices.Equal(m.ticks, []Time{2000, 3000}) || c.Name() != "Metronome" {
		t.Fatalf("ticks %v, error %v", m.ticks, err)
	}
}
