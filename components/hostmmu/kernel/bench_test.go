package kernel

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// mirror answers commands and page operations at once, and faults on two pages
// in turn for ever: the least that surrounds a thrashing kernel.
type mirror struct {
	engine *clocked.Engine
	id     clocked.UnitID
	ports  Ports
	events [2]msg.Event
	sva    bool
	turn   int
	left   int
}

func (m *mirror) Name() string { return "mirror" }

func (m *mirror) Tick(now clocked.Time) {
	for op := m.ports.PageOp.Peek(now); op != nil && m.ports.PageDone.Ready(now); op = m.ports.PageOp.Peek(now) {
		*m.ports.PageDone.Push(now) = msg.PageDone{Kind: op.Kind, Cookie: op.Cookie}
		m.ports.PageOp.Pop(now)
	}
	m.iommu(now)
	mmio := m.ports.Adapters[0].MMIO
	for d := mmio.Peek(now); d != nil && m.ports.Inbox.Ready(now); d = mmio.Peek(now) {
		c := d.Body.(*msg.Command)
		*m.ports.Inbox.Push(now) = msg.Inbox{Kind: msg.KindCQE, Body: c}
		mmio.Pop(now)
		if c.Op == msg.CmdResume && m.left > 0 {
			m.raise(now)
		}
	}
}

// iommu answers the commands to the IOMMU.
func (m *mirror) iommu(now clocked.Time) {
	for c := m.ports.IOMMU.Peek(now); c != nil && m.ports.IOMMUEvents.Ready(now); c = m.ports.IOMMU.Peek(now) {
		switch (*c).Op {
		case msg.Fence:
			*m.ports.IOMMUEvents.Push(now) = msg.IOMMUEvent{Kind: msg.EventFence, Command: *c}
		case msg.RespondPage:
			if m.left > 0 {
				m.raise(now)
			}
		}
		m.ports.IOMMU.Pop(now)
	}
}

func (m *mirror) raise(now clocked.Time) {
	m.left--
	if m.sva {
		e := msg.IOMMUEvent{Kind: msg.EventPage, Request: msg.PageRequest{PageRequest: want(m.turn%16, true, true)}}
		m.turn++
		*m.ports.IOMMUEvents.Push(now) = e
		return
	}
	e := &m.events[m.turn&1]
	e.Entry = uint64(m.turn % 16)
	m.turn++
	*m.ports.Inbox.Push(now) = msg.Inbox{Kind: msg.KindEQE, Body: e}
	*m.ports.Inbox.Push(now) = msg.Inbox{Kind: msg.KindMSI}
}

func newMirror(tb testing.TB, c AdapterConfig) (*mirror, *Kernel) {
	e := clocked.NewEngine()
	k, err := New(e, "kernel", steps(quick(8)), Config{Adapters: []AdapterConfig{c}})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err = k.Register(oneRegion(16)); err != nil {
		tb.Fatal(err)
	}
	m := &mirror{engine: e, sva: c.Scheme == SVA, events: [2]msg.Event{{Count: 1, Write: true}, {Count: 1, Write: true}}}
	m.id = e.Register(m)
	spec := func(from, to clocked.UnitID) clocked.WireSpec {
		return clocked.WireSpec{Name: "wire", Writer: from, Reader: to, Depth: 8, Latency: ns}
	}
	m.ports = Ports{
		Adapters: []AdapterPort{{clocked.NewWire[msg.Doorbell](e, spec(k.ID(), m.id))}},
		Inbox:    clocked.NewWire[msg.Inbox](e, spec(m.id, k.ID())),
		PageOp:   clocked.NewWire[msg.PageOp](e, spec(k.ID(), m.id)),
		PageDone: clocked.NewWire[msg.PageDone](e, spec(m.id, k.ID())),

		IOMMU:       clocked.NewWire[*msg.IOMMUCommand](e, spec(k.ID(), m.id)),
		IOMMUEvents: clocked.NewWire[msg.IOMMUEvent](e, spec(m.id, k.ID())),
	}
	k.Connect(m.ports)
	return m, k
}

func (m *mirror) run(tb testing.TB, n int) {
	m.left = n
	m.raise(m.engine.Now())
	if err := m.engine.Run(); err != nil || m.left > 0 {
		tb.Fatal(err, m.left)
	}
}

func TestNoAllocationInSteadyState(t *testing.T) {
	for _, c := range []AdapterConfig{scheme(ODP), behind(ODP), scheme(Suspend), scheme(SVA)} {
		m, k := newMirror(t, c)
		m.run(t, 2000)
		if n := testing.AllocsPerRun(5, func() { m.run(t, 500) }); n > 0 {
			t.Errorf("%s: %v allocations in 500 faults with evictions", label(c), n)
		}
		if k.Stats.Evictions == 0 || !k.Idle() {
			t.Errorf("%s: evictions %d, idle %v", label(c), k.Stats.Evictions, k.Idle())
		}
	}
}

// A fault with the eviction that makes room for it.
func BenchmarkFaultAndEviction(b *testing.B) {
	m, _ := newMirror(b, scheme(ODP))
	m.run(b, 2000)
	b.ReportAllocs()
	b.ResetTimer()
	m.run(b, b.N)
}
