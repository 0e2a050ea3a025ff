package memory

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// pump offers one write and one read of 64 B each tick and drains the answers.
type pump struct {
	engine *clocked.Engine
	id     clocked.UnitID
	req    *clocked.Wire[msg.MemReq]
	done   *clocked.Wire[msg.MemDone]
	left   int
}

func (p *pump) Name() string { return "pump" }

func (p *pump) Tick(now clocked.Time) {
	for p.done.Peek(now) != nil {
		p.done.Pop(now)
	}
	for p.left > 0 && p.req.Ready(now) {
		line := model.PA(p.left*64) & 0xFFFFF
		*p.req.Push(now) = msg.MemReq{Write: p.left&1 == 0, Kind: msg.KindData, PA: line, Len: 64,
			Oracle: msg.Oracle{Page: uint32(line >> 12), Write: uint64(p.left)}}
		p.left--
	}
}

func newPump(tb testing.TB) *pump {
	spec := quiet()
	spec.LLC = LLC{Saving: 67 * ns, DDIOLines: 32768, DDIOWays: 2}
	spec.IIO.WriteBuffer = 92
	e := clocked.NewEngine()
	m, err := New(e, "memory", spec, Config{Clients: 1, ReadService: service, Shift: 12, Frames: 256, Pages: 256})
	if err != nil {
		tb.Fatal(err)
	}
	for page := range uint32(256) {
		if !m.Preload(page, page) {
			tb.Fatal("frame taken")
		}
	}
	p := &pump{engine: e}
	p.id = e.Register(p)
	p.req = clocked.NewWire[msg.MemReq](e, clocked.WireSpec{Name: "req", Writer: p.id, Reader: m.ID(), Depth: 8, Latency: ns})
	p.done = clocked.NewWire[msg.MemDone](e, clocked.WireSpec{Name: "done", Writer: m.ID(), Reader: p.id, Depth: 8, Latency: ns})
	m.Connect(Ports{Clients: []Client{{Req: p.req, Done: p.done}}})
	return p
}

func (p *pump) run(tb testing.TB, n int) {
	p.left = n
	p.engine.Wake(p.id, p.engine.Now()+ns)
	if err := p.engine.Run(); err != nil || p.left > 0 {
		tb.Fatal(err, p.left)
	}
}

func TestNoAllocationInSteadyState(t *testing.T) {
	p := newPump(t)
	p.run(t, 20000)
	if n := testing.AllocsPerRun(5, func() { p.run(t, 2000) }); n > 0 {
		t.Errorf("%v allocations in 2000 requests", n)
	}
}

func BenchmarkRequest(b *testing.B) {
	p := newPump(b)
	p.run(b, 20000)
	b.ReportAllocs()
	b.ResetTimer()
	p.run(b, b.N)
}
