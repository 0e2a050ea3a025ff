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

// later is a message that a mock answers after a delay.
type delayed[T any] struct {
	at  clocked.Time
	msg T
}

// mockTPT answers each look-up after a fixed delay, as decide says.
type mockTPT struct {
	engine   *clocked.Engine
	id       clocked.UnitID
	in       *clocked.Wire[msg.Translate]
	out      *clocked.Wire[msg.Translation]
	release  *clocked.Wire[msg.Release]
	delay    clocked.Time
	decide   func(now clocked.Time, t *msg.Translate) msg.Outcome
	revokeAt int // every n-th answer is revoked at once; 0: never

	queue   ring[delayed[msg.Translation]]
	live    []bool
	granted int
	asked   []msg.Translate // recorded when record is set
	record  bool
	lookups int
	bad     string
}

func (m *mockTPT) Name() string { return "tpt" }

func (m *mockTPT) Tick(now clocked.Time) {
	for r := m.release.Peek(now); r != nil; r = m.release.Peek(now) {
		if int(r.Handle) >= len(m.live) || !m.live[r.Handle] {
			m.bad = "release of a translation not given out"
		} else {
			m.live[r.Handle] = false
			m.granted--
		}
		m.release.Pop(now)
	}
	for t := m.in.Peek(now); t != nil; t = m.in.Peek(now) {
		m.take(now, t)
		m.in.Pop(now)
	}
	for m.queue.len() > 0 && m.queue.at(m.queue.head).at <= now && m.out.Ready(now) {
		*m.out.Push(now) = m.queue.pop().msg
	}
	if m.queue.len() > 0 && m.queue.at(m.queue.head).at > now {
		m.engine.Wake(m.id, m.queue.at(m.queue.head).at)
	}
}

func (m *mockTPT) take(now clocked.Time, t *msg.Translate) {
	m.lookups++
	if m.record {
		m.asked = append(m.asked, *t)
	}
	o := msg.OutcomeOK
	if m.decide != nil {
		o = m.decide(now, t)
	}
	answer := msg.Translation{Outcome: o, Cookie: t.Cookie, Write: true, PA: model.PA(t.VA) + 1<<40}
	if o == msg.OutcomeOK {
		answer.Handle = m.handle()
	}
	*m.queue.push() = delayed[msg.Translation]{at: now + m.delay, msg: answer}
	if o == msg.OutcomeOK && m.revokeAt > 0 && m.lookups%m.revokeAt == 0 {
		*m.queue.push() = delayed[msg.Translation]{at: now + m.delay, msg: msg.Translation{Outcome: msg.OutcomeRevoke, Handle: answer.Handle}}
	}
}

func (m *mockTPT) handle() uint32 {
	m.granted++
	for i, used := range m.live {
		if !used {
			m.live[i] = true
			return uint32(i)
		}
	}
	m.live = append(m.live, true)
	return uint32(len(m.live) - 1)
}

// mockEndpoint answers reads after readDelay and notifications after
// issueDelay; done sees what it was given.
type mockEndpoint struct {
	engine     *clocked.Engine
	id         clocked.UnitID
	name       string
	in         *clocked.Wire[msg.DMA]
	out        *clocked.Wire[msg.DMADone]
	readDelay  clocked.Time
	issueDelay clocked.Time
	seen       func(now clocked.Time, d *msg.DMA)

	reads, writes ring[delayed[msg.DMA]]
	count         [msg.NumKinds]int
}

func (m *mockEndpoint) Name() string { return m.name }

func (m *mockEndpoint) Tick(now clocked.Time) {
	for d := m.in.Peek(now); d != nil; d = m.in.Peek(now) {
		m.count[d.Kind]++
		if m.seen != nil {
			m.seen(now, d)
		}
		if !d.Write {
			*m.reads.push() = delayed[msg.DMA]{at: now + m.readDelay, msg: *d}
		} else if d.Notify {
			*m.writes.push() = delayed[msg.DMA]{at: now + m.issueDelay, msg: *d}
		}
		m.in.Pop(now)
	}
	m.answer(now, &m.writes)
	m.answer(now, &m.reads)
}

func (m *mockEndpoint) answer(now clocked.Time, q *ring[delayed[msg.DMA]]) {
	for q.len() > 0 {
		h := q.at(q.head)
		if h.at > now {
			m.engine.Wake(m.id, h.at)
			return
		}
		if !m.out.Ready(now) {
			return
		}
		if h.msg.Ledger != nil {
			h.msg.Ledger.Charge(now, measure.CauseHostMemory)
		}
		*m.out.Push(now) = msg.DMADone{Kind: h.msg.Kind, Write: h.msg.Write, Cookie: h.msg.Cookie}
		q.pop()
	}
}

// mockWire carries packets and loses those that drop names.
type mockWire struct {
	name    string
	in, out *clocked.Wire[*msg.Packet]
	drop    func(p *msg.Packet) bool
	seen    func(now clocked.Time, p *msg.Packet)
	pool    *msg.Pool[msg.Packet]
}

func (m *mockWire) Name() string { return m.name }

func (m *mockWire) Tick(now clocked.Time) {
	for h := m.in.Peek(now); h != nil && m.out.Ready(now); h = m.in.Peek(now) {
		p := *h
		m.in.Pop(now)
		if m.seen != nil {
			m.seen(now, p)
		}
		if m.drop != nil && m.drop(p) {
			m.pool.Put(p)
			continue
		}
		*m.out.Push(now) = p
	}
}

// mockDriver rings doorbells: keeps outstanding requests of a list posted.
type mockDriver struct {
	engine      *clocked.Engine
	id          clocked.UnitID
	out         *clocked.Wire[msg.Doorbell]
	work        []msg.WQE
	next        int
	posted      int // in flight
	outstanding int
	fetch       bool // plain doorbells
	finished    []*measure.Access
	keep        bool
	completions int
}

func (m *mockDriver) Name() string { return "driver" }

func (m *mockDriver) Tick(now clocked.Time) {
	for m.next < len(m.work) && m.posted < m.outstanding && m.out.Ready(now) {
		w := &m.work[m.next]
		m.next++
		m.posted++
		w.Access.Issue = now
		w.Access.Ledger.Open(now)
		n := uint32(64)
		if m.fetch {
			n = 8
		}
		*m.out.Push(now) = msg.Doorbell{Len: n, Body: w}
	}
}

// complete is called by the endpoint mock of the same side, at the instant at
// which software sees the entry; the driver posts more a nanosecond later.
func (m *mockDriver) complete(now clocked.Time, a *measure.Access) {
	a.Ledger.Charge(now, measure.CauseCompletion)
	a.Complete = now
	m.completions++
	m.posted--
	if m.keep {
		m.finished = append(m.finished, a)
	}
	m.engine.Wake(m.id, now+ns)
}

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
	s.driver = &mockDriver{engine: e, outstanding: 1, keep: true}
	s.driver.id = e.Register(s.driver)
	s.peer = &mockEndpoint{engine: e, name: "peer", readDelay: 300 * ns, issueDelay: 10 * ns}
	s.peer.id = e.Register(s.peer)
	s.host = &mockEndpoint{engine: e, name: "host", readDelay: 400 * ns, issueDelay: 20 * ns}
	s.host.id = e.Register(s.host)
	s.tpt = &mockTPT{engine: e, delay: 15 * ns}
	s.tpt.id = e.Register(s.tpt)
	s.up = &mockWire{name: "up", pool: &s.pool}
	up := e.Register(s.up)
	s.down = &mockWire{name: "down", pool: &s.pool}
	down := e.Register(s.down)
	var err error
	s.req, err = NewRequester(e, "requester", spec, LocalMemory{CQ: 1 << 20, Data: 1 << 30, Entries: 256, Bytes: 1 << 20}, firstPSN, &s.pool)
	if err != nil {
		t.Fatal(err)
	}
	buffers := make([]RecvBuffers, spec.QPs)
	for i := range buffers {
		buffers[i] = RecvBuffers{Key: 0x77, VA: model.VA(i+1) << 32, Len: 16384, Count: 16, Page: uint32(i) << 20}
	}
	s.resp, err = NewResponder(e, "responder", spec, HostMemory{RQ: 1 << 24, CQ: 1 << 25, Entries: 16}, buffers, firstPSN, &s.pool)
	if err != nil {
		t.Fatal(err)
	}
	s.connect(up, down)
	s.peer.seen = func(now clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindCQE {
			s.driver.complete(now, d.Body.(*measure.Access))
		}
	}
	return s
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
