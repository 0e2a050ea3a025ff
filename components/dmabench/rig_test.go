package dmabench

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/configs"
)

const ns = clocked.Nanosecond

// mockEndpoint takes requests as they come and answers after a fixed time, all of
// it from when it sees a request until the device sees the answer.
type mockEndpoint struct {
	id          clocked.UnitID
	ports       [2]Client
	read, write clocked.Time
	deafUntil   clocked.Time // takes nothing before
	engine      *clocked.Engine
	got         [2][]msg.DMA
	at          [2][]clocked.Time
}

func (m *mockEndpoint) Name() string { return "endpoint" }

func (m *mockEndpoint) Tick(now clocked.Time) {
	if now < m.deafUntil {
		m.engine.Wake(m.id, m.deafUntil)
		return
	}
	for i := range m.ports {
		for d := m.ports[i].Req.Peek(now); d != nil; d = m.ports[i].Req.Peek(now) {
			m.got[i], m.at[i] = append(m.got[i], *d), append(m.at[i], now)
			done := msg.DMADone{Write: d.Write, Cookie: d.Cookie}
			switch {
			case !d.Write:
				*m.ports[i].Done.PushAt(now, now+m.read) = done
			case d.Notify:
				*m.ports[i].Done.PushAt(now, now+m.write) = done
			}
			m.ports[i].Req.Pop(now)
		}
	}
}

// round is a Spec of whole nanoseconds, so that nothing waits for an edge of the
// clock of 1 GHz, and a byte is stored or fetched in 1 ns.
func round(t testing.TB) Spec {
	var s Spec
	if err := configs.Defaults(&s); err != nil {
		t.Fatal(err)
	}
	s.Clock, s.StoreRate, s.FetchRate, s.OddRead = 1_000_000_000, 8_000_000_000, 8_000_000_000, 24*ns
	return s
}

type rig struct {
	*Bench
	mock *mockEndpoint
}

// run runs a program between mocks that answer reads after 400 ns and writes
// after 10 ns. shuffle 0: first-in first-out.
func run(t testing.TB, spec Spec, p Program, shuffle uint64, change func(*mockEndpoint)) *rig {
	t.Helper()
	e := clocked.NewEngine()
	if shuffle > 0 {
		e.Shuffle(shuffle)
	}
	u, err := New(e, "device", spec, p)
	if err != nil {
		t.Fatal(err)
	}
	m := &mockEndpoint{engine: e, read: 400 * ns, write: 10 * ns}
	if change != nil {
		change(m)
	}
	m.id = e.Register(m)
	clock := clocked.NewDomain(spec.Clock)
	var ports Ports
	for i := range ports.Clients {
		ports.Clients[i] = Client{
			Req: clocked.NewWire[msg.DMA](e, clocked.WireSpec{Name: "req", Writer: u.ID(), Reader: m.id, Domain: clock,
				Depth: 4, Latency: clock.Period()}),
			Done: clocked.NewWire[msg.DMADone](e, clocked.WireSpec{Name: "done", Writer: m.id, Reader: u.ID(), Domain: clock,
				Depth: 128, Latency: clock.Period()}),
		}
	}
	m.ports = ports.Clients
	u.Connect(ports)
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	if !u.Idle() || u.Waits() != nil {
		t.Fatalf("not idle: %v", u.Waits())
	}
	return &rig{u, m}
}

// program is a short one of a test.
func program(test Test, n uint32) Program {
	p := Program{Test: test, Bytes: n, Window: 8192, Base: 1 << 32, Seed: 1, Warmup: 190, Transfers: 1140} // 9 × 95 count: whole rounds of all contexts
	if test.Latency() {
		p.Warmup, p.Transfers = 4, 20
	}
	return p
}
