package transport

import (
	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/model"
)

const ns = clocked.Nanosecond

// sandwich is requester and responder between mocks.
type sandwich struct {
	engine   *clocked.Engine
	pool     msg.Pool[msg.Packet]
	driver   *mockDriver
	peer     *mockEndpoint
	req      *Requester
	up, down *mockWire
	resp     *Responder
	tpt      *mockTPT
	host     *mockEndpoint
}

func testSpec(t rapid.TB) Spec {
	t.Helper()
	var groups struct {
		QP      QPSpec      `key:"qp" doc:"queue pairs"`
		Adapter AdapterSpec `key:"adapter" doc:"adapter"`
		Network NetworkSpec `key:"network" doc:"network"`
	}
	if err := configs.Defaults(&groups); err != nil {
		t.Fatal(err)
	}
	return Spec{QP: groups.QP, Adapter: groups.Adapter, Network: groups.Network, QPs: 4,
		HostPage: model.Shift4K, AdapterPage: model.Shift4K, MPS: 256, MRRS: 512, TranslatePer: "request"}
}

const firstPSN = 1<<24 - 5 // so that every test wraps

func build(t rapid.TB, spec Spec, shuffle uint64) *sandwich {
	t.Helper()
	e := clocked.NewEngine()
	if shuffle != 0 {
		e.Shuffle(shuffle)
	}
	s := &sandwich{engine: e}
	s.mocks()
	s.units(t, spec)
	s.connect(s.up.id, s.down.id)
	s.peer.seen = func(now clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindCQE {
			s.driver.complete(now, d.Body.(*measure.Access))
		}
	}
	return s
}

func (s *sandwich) mocks() {
	e := s.engine
	s.driver = &mockDriver{engine: e, outstanding: 1, keep: true}
	s.driver.id = e.Register(s.driver)
	s.peer = &mockEndpoint{engine: e, name: "peer", readDelay: 300 * ns, issueDelay: 10 * ns}
	s.peer.id = e.Register(s.peer)
	s.host = &mockEndpoint{engine: e, name: "host", readDelay: 400 * ns, issueDelay: 20 * ns}
	s.host.id = e.Register(s.host)
	s.tpt = &mockTPT{engine: e, delay: 15 * ns}
	s.tpt.id = e.Register(s.tpt)
	s.host.uses = map[uint32]int{}
	s.tpt.busy = func(h uint32) bool { return s.host.uses[h] > 0 }
	s.host.check = func(h uint32) {
		if !s.tpt.live[h] {
			s.tpt.bad = "transfer by a translation that was given back"
		}
	}
	s.up = &mockWire{name: "up", pool: &s.pool}
	s.up.id = e.Register(s.up)
	s.down = &mockWire{name: "down", pool: &s.pool}
	s.down.id = e.Register(s.down)
}

func (s *sandwich) units(t rapid.TB, spec Spec) {
	e := s.engine
	var err error
	s.req, err = NewRequester(e, "requester", spec, LocalMemory{CQ: 1 << 20, Data: 1 << 30, Entries: 256, Bytes: 1 << 20}, firstPSN, &s.pool)
	if err != nil {
		t.Fatal(err)
	}
	buffers := make([]RecvBuffers, spec.QPs)
	for i := range buffers {
		buffers[i] = RecvBuffers{Key: 0x77, VA: model.VA(i+1) << 32, Len: 16384, Count: 16, Page: uint32(i) << 20}
	}
	s.resp, err = NewResponder(e, "responder", spec, HostMemory{RQ: 1 << 24, CQ: 1 << 25, Backup: 1 << 26, Entries: 16}, buffers, firstPSN, &s.pool)
	if err != nil {
		t.Fatal(err)
	}
}

func wire[T any](e *clocked.Engine, name string, from, to clocked.UnitID, depth int) *clocked.Wire[T] {
	return clocked.NewWire[T](e, clocked.WireSpec{Name: name, Writer: from, Reader: to, Depth: depth, Latency: ns})
}

func (s *sandwich) connect(up, down clocked.UnitID) {
	e := s.engine
	s.driver.out = wire[msg.Doorbell](e, "doorbell", s.driver.id, s.req.ID(), 4)
	s.peer.in = wire[msg.DMA](e, "peer dma", s.req.ID(), s.peer.id, 4)
	s.peer.out = wire[msg.DMADone](e, "peer done", s.peer.id, s.req.ID(), 4)
	s.up.in = wire[*msg.Packet](e, "up in", s.req.ID(), up, 256)
	s.up.out = wire[*msg.Packet](e, "up out", up, s.resp.ID(), 256)
	s.down.in = wire[*msg.Packet](e, "down in", s.resp.ID(), down, 256)
	s.down.out = wire[*msg.Packet](e, "down out", down, s.req.ID(), 256)
	s.tpt.in = wire[msg.Translate](e, "translate", s.resp.ID(), s.tpt.id, 4)
	s.tpt.out = wire[msg.Translation](e, "translation", s.tpt.id, s.resp.ID(), 4)
	s.tpt.release = wire[msg.Release](e, "release", s.resp.ID(), s.tpt.id, 4)
	s.host.in = wire[msg.DMA](e, "host dma", s.resp.ID(), s.host.id, 4)
	s.host.out = wire[msg.DMADone](e, "host done", s.host.id, s.resp.ID(), 4)
	s.req.Connect(RequesterPorts{Doorbell: s.driver.out, DMA: s.peer.in, DMADone: s.peer.out, Tx: s.up.in, Rx: s.down.out})
	s.resp.Connect(ResponderPorts{Rx: s.up.out, Tx: s.down.in, Translate: s.tpt.in, Translation: s.tpt.out,
		Release: s.tpt.release, DMA: s.host.in, DMADone: s.host.out})
}

// post adds a request to the driver's list.
func (s *sandwich) post(op model.Op, qp uint32, va model.VA, n uint32) *measure.Access {
	a := &measure.Access{ID: uint64(len(s.driver.work)), Op: op, QP: qp, VA: va, Len: n}
	page := uint32(va >> 12)
	if op == model.OpSend {
		page = msg.NoPage
	}
	s.driver.work = append(s.driver.work, msg.WQE{Op: op, QP: qp, Key: 0x500, Len: n, VA: va, Page: page, Access: a})
	return a
}

// run lets everything happen and checks what must hold after every run.
func (s *sandwich) run(t rapid.TB) {
	t.Helper()
	s.engine.Wake(s.driver.id, s.engine.Now()+ns)
	if err := s.engine.Run(); err != nil {
		t.Fatal(err)
	}
	if s.driver.completions != len(s.driver.work) {
		t.Fatalf("%d of %d requests completed\n%v\n%v", s.driver.completions, len(s.driver.work), s.req.Waits(), s.resp.Waits())
	}
	for _, a := range s.driver.finished {
		if a.Ledger.Sum() != a.Complete-a.Issue {
			t.Errorf("access %d: causes add up to %v, latency %v: %v", a.ID, a.Ledger.Sum(), a.Complete-a.Issue, a.Ledger.Causes)
		}
	}
	if s.tpt.bad != "" {
		t.Error(s.tpt.bad)
	}
}
