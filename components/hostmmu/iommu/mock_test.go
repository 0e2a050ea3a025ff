package iommu

import (
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/configs"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

const (
	ns  = clocked.Nanosecond
	hop = ns // of every wire

	contextRead = hop + 70*ns + hop // walk_read 70 ns between two registers
	entryRead   = contextRead
	overhead    = 208 * ns
	hit         = 2 * ns
	memRead     = 400 * ns // of the mock memory, for adapters
	memWrite    = 300 * ns
)

// tb is what testing.T, testing.B and rapid.T share.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func defaultSpec(t tb) Spec {
	t.Helper()
	var s Spec
	if err := configs.Defaults(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// timed is something at an instant.
type timed[T any] struct {
	at  clocked.Time
	msg T
}

// source pushes messages at given times, as the wire takes them.
type source[T any] struct {
	script []timed[T]
	pushed int
}

// send adds a message that the unit sees at the given time, behind those of the
// same time.
func (s *source[T]) send(seen clocked.Time, m T) {
	at := seen - hop
	i := len(s.script)
	for i > s.pushed && s.script[i-1].at > at {
		i--
	}
	s.script = slices.Insert(s.script, i, timed[T]{at, m})
}

func (s *source[T]) push(now clocked.Time, e *clocked.Engine, id clocked.UnitID, w *clocked.Wire[T]) {
	for s.pushed < len(s.script) {
		next := s.script[s.pushed]
		if next.at > now {
			e.Wake(id, next.at)
			return
		}
		if !w.Ready(now) {
			return
		}
		*w.Push(now) = next.msg
		s.pushed++
	}
}

// root is an adapter and its root port.
type root struct {
	source[msg.MemReq]
	done   []timed[msg.MemDone]
	bells  []timed[msg.Doorbell]
	deaf   bool // takes no answers
	onBell func(now clocked.Time, d msg.Doorbell)
	onDone func(now clocked.Time, d msg.MemDone)
}

// access is what memory saw of an adapter.
type access struct {
	client int
	seen   clocked.Time // arrival
	ended  clocked.Time // placed, or answered
	req    msg.MemReq
}

type bench struct {
	t       tb
	engine  *clocked.Engine
	unit    *Unit
	ids     [3]clocked.UnitID // root ports, memory, kernel
	roots   []*root           // by adapter
	shared  bool              // they are one root port
	arrived []msg.MemReq      // what root ports sent, in order
	kernel  source[*msg.IOMMUCommand]
	events  []timed[msg.IOMMUEvent]
	deaf    bool // the kernel takes no events

	started           bool
	onKernel          func(now clocked.Time) // what the kernel does first
	onRoots, onMemory func(now clocked.Time) // instead of these mocks
	onFlow            func(now clocked.Time, e msg.IOMMUEvent)

	placed  []clocked.Time // of the last write of each client
	due     []timed[int]   // answers of memory, by time: index in log
	log     []*access
	owed    [][]msg.MemDone // answers that the wire has not taken, by client
	walks   []model.PA      // reads of the walk client
	latency func(client int, write bool) clocked.Time
	onEnd   func(now clocked.Time, a *access)

	store  *pagetable.Store
	tables [2]*pagetable.Table
}

const tablesAt model.PA = 1 << 40 // page tables of the processes

// side is one of the mocks as a unit.
type side struct {
	name string
	tick func(clocked.Time)
}

func (s side) Name() string          { return s.name }
func (s side) Tick(now clocked.Time) { s.tick(now) }

func newBench(t tb, spec Spec, adapters int, shuffle uint64) *bench {
	t.Helper()
	return newBenchOf(t, spec, adapters, shuffle, false)
}

// newBenchOf is newBench with all adapters behind one root port, or each behind
// its own.
func newBenchOf(t tb, spec Spec, adapters int, shuffle uint64, shared bool) *bench {
	t.Helper()
	b := &bench{t: t, shared: shared, engine: clocked.NewEngine(), placed: make([]clocked.Time, adapters+1), owed: make([][]msg.MemDone, adapters+1)}
	if shuffle > 0 {
		b.engine.Shuffle(shuffle)
	}
	var err error
	if b.unit, err = New(b.engine, "iommu", spec, Config{Adapters: adapters, Tables: 1 << 50, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	b.latency = func(client int, write bool) clocked.Time {
		switch {
		case client == adapters:
			return spec.WalkRead
		case write:
			return memWrite
		}
		return memRead
	}
	for i, s := range []side{{"roots", b.tickRoots}, {"memory", b.tickMemory}, {"kernel", b.tickKernel}} {
		b.ids[i] = b.engine.Register(s)
	}
	b.connect(adapters)
	if b.store, err = pagetable.NewStore(tablesAt, 4096); err != nil {
		t.Fatal(err)
	}
	for i := range b.tables {
		if b.tables[i], err = pagetable.New(b.store); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *bench) connect(adapters int) {
	u, e := b.unit, b.engine
	wire := func(w, r clocked.UnitID) clocked.WireSpec {
		return clocked.WireSpec{Writer: w, Reader: r, Depth: 16, Latency: hop}
	}
	p := Ports{
		WalkReq:  clocked.NewWire[msg.MemReq](e, wire(u.ID(), b.ids[1])),
		WalkDone: clocked.NewWire[msg.MemDone](e, wire(b.ids[1], u.ID())),
		Commands: clocked.NewWire[*msg.IOMMUCommand](e, wire(b.ids[2], u.ID())),
		Events:   clocked.NewWire[msg.IOMMUEvent](e, wire(u.ID(), b.ids[2])),
	}
	for i := range adapters {
		b.roots = append(b.roots, &root{})
		if b.shared && i > 0 {
			p.Adapters = append(p.Adapters, p.Adapters[0])
			continue
		}
		p.Adapters = append(p.Adapters, AdapterPorts{
			Req:     clocked.NewWire[msg.MemReq](e, wire(b.ids[0], u.ID())),
			Done:    clocked.NewWire[msg.MemDone](e, wire(u.ID(), b.ids[0])),
			Message: clocked.NewWire[msg.Doorbell](e, wire(u.ID(), b.ids[0])),
			Out:     clocked.NewWire[msg.MemReq](e, wire(u.ID(), b.ids[1])),
			MemDone: clocked.NewWire[msg.MemDone](e, wire(b.ids[1], u.ID())),
		})
	}
	u.Connect(p)
}

func (b *bench) tickRoots(now clocked.Time) {
	if b.onRoots != nil {
		b.onRoots(now)
		return
	}
	for i, r := range b.roots {
		p := &b.unit.ports.Adapters[i]
		for d := p.Done.Peek(now); d != nil && !b.roots[d.Adapter].deaf; d = p.Done.Peek(now) {
			r := b.roots[d.Adapter]
			r.done = append(r.done, timed[msg.MemDone]{now, *d})
			if r.onDone != nil {
				r.onDone(now, *d)
			}
			p.Done.Pop(now)
		}
		for d := p.Message.Peek(now); d != nil; d = p.Message.Peek(now) {
			r := b.roots[d.Adapter]
			r.bells = append(r.bells, timed[msg.Doorbell]{now, *d})
			if r.onBell != nil {
				r.onBell(now, *d)
			}
			p.Message.Pop(now)
		}
		for k := r.pushed; k < len(r.script); k++ {
			r.script[k].msg.Adapter = uint16(i)
		}
		first := r.pushed
		r.push(now, b.engine, b.ids[0], p.Req)
		for _, m := range r.script[first:r.pushed] {
			b.arrived = append(b.arrived, m.msg)
		}
	}
}

func (b *bench) tickKernel(now clocked.Time) {
	if b.onKernel != nil {
		b.onKernel(now)
	}
	for e := b.unit.ports.Events.Peek(now); e != nil && !b.deaf; e = b.unit.ports.Events.Peek(now) {
		b.events = append(b.events, timed[msg.IOMMUEvent]{now, *e})
		if b.onFlow != nil {
			b.onFlow(now, *e)
		}
		b.unit.ports.Events.Pop(now)
	}
	b.kernel.push(now, b.engine, b.ids[2], b.unit.ports.Commands)
}

// tickMemory takes requests, and answers reads in the order of their ends, never
// before the writes of their client that came before.
func (b *bench) tickMemory(now clocked.Time) {
	if b.onMemory != nil {
		b.onMemory(now)
		return
	}
	walker := len(b.roots)
	for client := range b.placed {
		in := b.unit.ports.WalkReq
		if client < walker {
			in = b.unit.ports.Adapters[client].Out // shared: the first takes all
		}
		for m := in.Peek(now); m != nil; m = in.Peek(now) {
			b.take(now, client, *m)
			in.Pop(now)
		}
	}
	for len(b.due) > 0 && b.due[0].at <= now {
		a := b.log[b.due[0].msg]
		b.due = b.due[1:]
		if b.onEnd != nil {
			b.onEnd(now, a)
		}
		if !a.req.Write {
			m := a.req
			out := b.wireOf(a)
			b.owed[out] = append(b.owed[out], msg.MemDone{Kind: m.Kind, Tag: m.Tag, Adapter: m.Adapter, Len: m.Len, PA: m.PA, Ledger: m.Ledger})
		}
	}
	for client := range b.placed {
		out := b.unit.ports.WalkDone
		if client < walker {
			out = b.unit.ports.Adapters[client].MemDone
		}
		for len(b.owed[client]) > 0 && out.Ready(now) {
			*out.Push(now) = b.owed[client][0]
			b.owed[client] = b.owed[client][1:]
		}
	}
}

func (b *bench) take(now clocked.Time, client int, m msg.MemReq) {
	at := now + b.latency(client, m.Write)
	at = max(at, b.placed[client])
	if m.Write {
		b.placed[client] = at
	}
	if client == len(b.roots) {
		b.walks = append(b.walks, m.PA)
	}
	if b.shared && client < len(b.roots) {
		client = int(m.Adapter)
	}
	b.log = append(b.log, &access{client, now, at, m})
	i := len(b.due)
	for i > 0 && b.due[i-1].at > at {
		i--
	}
	b.due = slices.Insert(b.due, i, timed[int]{at, len(b.log) - 1})
	b.engine.Wake(b.ids[1], at)
}

func (b *bench) run() {
	b.t.Helper()
	b.start()
	if err := b.engine.Run(); err != nil {
		b.t.Fatal(err)
	}
	if !b.unit.Idle() || len(b.unit.Waits()) > 0 {
		b.t.Errorf("not idle at the end: %q", b.unit.Waits())
	}
	b.checkCounters()
}

func (b *bench) start() {
	at := b.engine.Now()
	if b.started {
		at++ // another part of the script
	}
	b.started = true
	b.engine.Wake(b.ids[0], at)
	b.engine.Wake(b.ids[2], at)
}

func (b *bench) checkCounters() {
	b.t.Helper()
	if s := b.unit.Stats(); s.Lookups != s.Hits+s.Misses || s.Misses != s.Walks+s.Merged {
		b.t.Errorf("counters do not add up: %+v", s)
	}
}

// seen is when memory saw the request of an adapter with a cookie, or -1.
func (b *bench) seen(cookie uint64) clocked.Time {
	for _, a := range b.log {
		if a.client < len(b.roots) && a.req.Cookie == cookie && a.req.Tag < ownTag {
			return a.seen
		}
	}
	return -1
}

// setContext sets a context of adapter 0 as the tests want it.
func (b *bench) setContext(adapter uint16, pasid uint32, c Context) {
	b.t.Helper()
	if err := b.unit.SetContext(adapter, pasid, c); err != nil {
		b.t.Fatal(err)
	}
}

// mapPages maps n pages of 4 KiB from va to frames from pa.
func (b *bench) mapPages(table int, va model.VA, pa model.PA, n int, flags pagetable.PTE) {
	b.t.Helper()
	for i := range n {
		step := uint64(i) << 12
		if err := b.tables[table].Map(va+model.VA(step), pa+model.PA(step), model.Shift4K, flags); err != nil {
			b.t.Fatal(err)
		}
	}
}

// read and store make a request with the cookie as its name.
func read(va model.VA, pasid uint32, cookie uint64) msg.MemReq {
	return msg.MemReq{Kind: msg.KindData, Tag: uint16(cookie), Len: 64, PA: model.PA(va), Cookie: cookie, Address: msg.Address{PASID: pasid}}
}

func store(va model.VA, pasid uint32, cookie uint64) msg.MemReq {
	m := read(va, pasid, cookie)
	m.Write, m.Tag = true, 0
	return m
}

func translate(va model.VA, pasid uint32, tag uint16, stores bool) msg.MemReq {
	return msg.MemReq{Kind: msg.KindATS, Tag: tag, Len: 8, PA: model.PA(va), Cookie: uint64(tag), Address: msg.Address{PASID: pasid, Store: stores}}
}
