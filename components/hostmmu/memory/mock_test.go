package memory

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

const (
	ns      = clocked.Nanosecond
	service = 400 * ns
)

// scripted sends requests of one kind at given times and collects answers.
type scripted[Q, A any] struct {
	engine  *clocked.Engine
	id      clocked.UnitID
	name    string
	out     *clocked.Wire[Q]
	in      *clocked.Wire[A]
	script  []sent[Q]
	got     []got[A]
	blocked bool // answers are left on the wire
	pushed  int
}

type sent[Q any] struct {
	at  clocked.Time
	msg Q
}

type got[A any] struct {
	at  clocked.Time
	msg A
}

func (s *scripted[Q, A]) Name() string { return s.name }

func (s *scripted[Q, A]) Tick(now clocked.Time) {
	for s.in != nil && !s.blocked {
		a := s.in.Peek(now)
		if a == nil {
			break
		}
		s.got = append(s.got, got[A]{now, *a})
		s.in.Pop(now)
	}
	for s.pushed < len(s.script) {
		next := s.script[s.pushed]
		if next.at > now {
			s.engine.Wake(s.id, next.at)
			return
		}
		if !s.out.Ready(now) {
			return
		}
		*s.out.Push(now) = next.msg
		s.pushed++
	}
}

// send adds a message that is visible to memory at the given time.
func (s *scripted[Q, A]) send(visible clocked.Time, m Q) {
	s.script = append(s.script, sent[Q]{visible - ns, m})
}

type bench struct {
	engine  *clocked.Engine
	memory  *Memory
	clients []*scripted[msg.MemReq, msg.MemDone]
	kernel  *scripted[msg.PageOp, msg.PageDone]
	inbox   *scripted[struct{}, msg.Inbox]
}

// quiet is a Spec without LLC and write-buffer bound: only DRAM queues.
func quiet() Spec {
	return Spec{NUMA: NUMA{Sockets: 1, Bandwidth: 166_400_000_000}, IIO: IIO{WriteLatency: 300 * ns}, DRAM: DRAM{Controller: controllerBanks, Channels: 1, Banks: 32, Row: 8192, RowMiss: 45 * ns, LineTime: 2730,
		CPURead: 70 * ns, CPUWrite: 10 * ns}}
}

func fourFrames(clients int) Config {
	return Config{Clients: clients, ReadService: service, Shift: model.Shift4K, Frames: 4, Pages: 8, Slots: 8}
}

func newBench(t testing.TB, spec Spec, config Config, shuffle uint64) *bench {
	t.Helper()
	return newDeepBench(t, spec, config, shuffle, 4)
}

// newDeepBench has wires that hold so many messages.
func newDeepBench(t testing.TB, spec Spec, config Config, shuffle uint64, depth int) *bench {
	t.Helper()
	e := clocked.NewEngine()
	if shuffle > 0 {
		e.Shuffle(shuffle)
	}
	m, err := New(e, "memory", spec, config)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{engine: e, memory: m}
	p := Ports{}
	for range config.Clients {
		c := &scripted[msg.MemReq, msg.MemDone]{engine: e, name: "client"}
		c.id = e.Register(c)
		c.out = clocked.NewWire[msg.MemReq](e, clocked.WireSpec{Name: "req", Writer: c.id, Reader: m.ID(), Depth: depth, Latency: ns})
		c.in = clocked.NewWire[msg.MemDone](e, clocked.WireSpec{Name: "done", Writer: m.ID(), Reader: c.id, Depth: depth, Latency: ns})
		b.clients = append(b.clients, c)
		p.Clients = append(p.Clients, Client{Req: c.out, Done: c.in})
	}
	b.kernel = &scripted[msg.PageOp, msg.PageDone]{engine: e, name: "kernel"}
	b.kernel.id = e.Register(b.kernel)
	b.kernel.out = clocked.NewWire[msg.PageOp](e, clocked.WireSpec{Name: "op", Writer: b.kernel.id, Reader: m.ID(), Depth: depth, Latency: ns})
	b.kernel.in = clocked.NewWire[msg.PageDone](e, clocked.WireSpec{Name: "opdone", Writer: m.ID(), Reader: b.kernel.id, Depth: depth, Latency: ns})
	b.inbox = &scripted[struct{}, msg.Inbox]{engine: e, name: "inbox"}
	b.inbox.id = e.Register(b.inbox)
	b.inbox.in = clocked.NewWire[msg.Inbox](e, clocked.WireSpec{Name: "inbox", Writer: m.ID(), Reader: b.inbox.id, Depth: depth, Latency: ns})
	p.PageOp, p.PageDone, p.Inbox = b.kernel.out, b.kernel.in, b.inbox.in
	m.Connect(p)
	return b
}

func (b *bench) run(t testing.TB) Stats {
	t.Helper()
	for _, c := range b.clients {
		b.engine.Wake(c.id, 0)
	}
	b.engine.Wake(b.kernel.id, 0)
	b.resume(t)
	return b.memory.Stats(clocked.Never)
}

func (b *bench) resume(t testing.TB) {
	t.Helper()
	if err := b.engine.Run(); err != nil {
		t.Fatal(err)
	}
}

func read(pa model.PA, length uint32) msg.MemReq {
	return msg.MemReq{PA: pa, Len: length, Oracle: msg.Oracle{Page: msg.NoPage}}
}

func store(pa model.PA, length uint32) msg.MemReq {
	return msg.MemReq{Write: true, PA: pa, Len: length, Oracle: msg.Oracle{Page: msg.NoPage}}
}
