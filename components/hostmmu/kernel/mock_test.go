package kernel

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	content "rnicmmu/model/frame"
	"rnicmmu/model/key"
)

const (
	ns = clocked.Nanosecond
	us = clocked.Microsecond

	hop      = ns       // of every wire
	pageTime = 100 * ns // of a page operation
)

// world plays everything around the kernel: adapters with their tables, and
// memory with its content.
type world struct {
	t       testing.TB
	engine  *clocked.Engine
	id      clocked.UnitID
	kernel  *Kernel
	ports   Ports
	oracle  *content.Oracle
	nics    []*nic
	ops     []timedOp
	out     []msg.Inbox
	rng     uint64
	jitter  clocked.Time // commands take up to this much longer
	frames  int
	records []measure.Invalidation
	ticked  func(now clocked.Time)

	orphans map[uint32]uint32 // frames that an old registration keeps: the page that they held
	answers []msg.Registered
	asked   []msg.Registration // to be sent
	keys    []keyEvent         // that adapters executed

	deferred    int // stale by a registration that outlived its mapping
	stale, lost int
	zaps, fills int // commands seen
}

type timedOp struct {
	at clocked.Time
	op msg.PageOp
}

// nic is an adapter: a table, a serial command unit, and QPs in closed loops.
type nic struct {
	table   []entry
	queue   []*msg.Command
	until   clocked.Time
	busy    bool
	command clocked.Time    // time of a command
	regions [128]key.Region // by key index
	qps     []*qp
}

type entry struct {
	pa             model.PA
	present, write bool
}

// qp accesses pages one after another.
type qp struct {
	script   []access
	at       int
	faulting bool
	posted   bool // the event is out
	resumes  int
	failures int
	refused  int // by the key
	faults   int
	done     clocked.Time
	began    clocked.Time
	service  []clocked.Time // of each fault, from event to resume
}

type access struct {
	entry uint64
	page  uint32
	write bool
	span  uint32 // entries wanted; 0: one
	at    clocked.Time
	key   key.Key // 0: none is looked at
	va    model.VA
	op    model.Op // of an access with a key
}

func (w *world) Name() string { return "world" }

func (w *world) random() uint64 {
	w.rng = w.rng*6364136223846793005 + 1442695040888963407
	return w.rng >> 33
}

func (w *world) Tick(now clocked.Time) {
	w.memory(now)
	for i, n := range w.nics {
		w.commands(now, i, n)
		for q := range n.qps {
			w.access(now, i, n, q)
		}
	}
	w.software(now)
	for len(w.out) > 0 && w.ports.Inbox.Ready(now) {
		*w.ports.Inbox.Push(now) = w.out[0]
		w.out = w.out[1:]
	}
	free, resident, transit := w.kernel.Frames()
	if held := w.kernel.Held(); free+resident+transit+held != w.frames {
		w.t.Errorf("%v: %d free + %d resident + %d in transit + %d held, want %d frames", now, free, resident, transit, held, w.frames)
	}
	if w.ticked != nil {
		w.ticked(now)
	}
}

func (w *world) memory(now clocked.Time) {
	for op := w.ports.PageOp.Peek(now); op != nil; op = w.ports.PageOp.Peek(now) {
		w.ops = append(w.ops, timedOp{now + pageTime, *op})
		w.engine.Wake(w.id, now+pageTime)
		w.ports.PageOp.Pop(now)
	}
	for len(w.ops) > 0 && w.ops[0].at <= now && w.ports.PageDone.Ready(now) {
		op := w.ops[0].op
		w.ops = w.ops[1:]
		same := op.Kind == msg.PageOut && (w.oracle.CheckSlot(content.Slot(op.Slot), content.Page(op.Page)) == content.Good ||
			w.oracle.CheckUnwritten(content.Page(op.Page)) == content.Good)
		*w.ports.PageDone.Push(now) = msg.PageDone{Kind: op.Kind, Lost: w.apply(&op), Same: same, Cookie: op.Cookie}
	}
}

func (w *world) apply(op *msg.PageOp) (lost bool) {
	f, p, slot := content.ID(op.Frame), content.Page(op.Page), content.Slot(op.Slot)
	var err error
	switch op.Kind {
	case msg.PageDiscard, msg.PageOrphan:
		w.discard(op)
		return false
	case msg.PageFree:
		if _, kept := w.orphans[op.Frame]; kept {
			delete(w.orphans, op.Frame)
			return false
		}
		err = w.oracle.Free(f)
		if err != nil {
			w.t.Errorf("free of frame %d: %v", f, err)
		}
		return false
	case msg.PageZero:
		if _, err = w.oracle.Assign(f, p); err == nil {
			err = w.oracle.Zero(f)
		}
	case msg.PageIn:
		if _, err = w.oracle.Assign(f, p); err == nil {
			err = w.oracle.CopyIn(slot, f)
		}
	case msg.PageOut:
		err = w.oracle.CopyOut(f, slot)
	case msg.PageCopy:
		if _, err = w.oracle.Assign(f, p); err == nil {
			err = w.oracle.CopyFrame(content.ID(op.Slot), f)
		}
	case msg.PageCPUWrite:
		w.oracle.Store(f, op.Write, 0)
		w.oracle.Expect(p, op.Write, 0)
	}
	if err != nil {
		w.t.Errorf("page operation %+v: %v", *op, err)
	}
	if w.oracle.Check(f, p) != content.Good {
		w.lost++
		return true
	}
	return false
}

// discard forgets a page, its frame and its slot.
func (w *world) discard(op *msg.PageOp) {
	f, p := content.ID(op.Frame), content.Page(op.Page)
	if op.Frame != msg.NoPage {
		if w.oracle.Check(f, p) == content.Stale || w.oracle.Free(f) != nil {
			w.t.Errorf("discard of page %d: frame %d is not its own", op.Page, op.Frame)
		}
	}
	if op.Kind == msg.PageOrphan {
		w.orphans[op.Frame] = op.Page
	}
	if w.oracle.FreeSlot(content.Slot(op.Slot)) != nil || w.oracle.Forget(p) != nil {
		w.t.Errorf("discard of page %d, slot %d is refused", op.Page, op.Slot)
	}
}

func (w *world) commands(now clocked.Time, i int, n *nic) {
	mmio := w.ports.Adapters[i].MMIO
	for d := mmio.Peek(now); d != nil; d = mmio.Peek(now) {
		n.queue = append(n.queue, d.Body.(*msg.Command))
		mmio.Pop(now)
	}
	if n.busy && n.until <= now {
		n.busy = false
		w.execute(now, n, n.queue[0])
		w.out = append(w.out, msg.Inbox{Kind: msg.KindCQE, Adapter: uint16(i), Body: n.queue[0]})
		n.queue = n.queue[1:]
	}
	if !n.busy && len(n.queue) > 0 {
		n.busy, n.until = true, now+n.command
		if w.jitter > 0 {
			n.until += clocked.Time(w.random() % uint64(w.jitter))
		}
		w.engine.Wake(w.id, n.until)
	}
}

func (w *world) execute(now clocked.Time, n *nic, c *msg.Command) {
	switch c.Op {
	case msg.CmdFill:
		w.fills++
		for i, pa := range c.PA {
			n.table[c.Entry+uint64(i)] = entry{pa, true, c.Write}
		}
	case msg.CmdInvalidate:
		w.zaps++
		clear(n.table[c.Entry : c.Entry+uint64(c.Count)])
	case msg.CmdProtect:
		w.zaps++
		for i := range c.Count {
			n.table[c.Entry+uint64(i)].write = false
		}
	case msg.CmdKey:
		w.keys = append(w.keys, keyEvent{now, c.Change.Op, c.Change.Key, c.Change.Region})
		c.Change.Err = n.change(&c.Change)
	case msg.CmdResume:
		q := n.qps[c.Token]
		q.resumes++
		q.service = append(q.service, now-q.began)
		q.faulting, q.posted = false, false
		if c.Failed {
			q.failures++
			q.at++
		}
	}
}

func (w *world) access(now clocked.Time, i int, n *nic, number int) {
	q := n.qps[number]
	if q.at >= len(q.script) || q.faulting {
		return
	}
	a := q.script[q.at]
	if now < a.at {
		w.engine.Wake(w.id, a.at)
		return
	}
	if a.key != 0 && !n.grants(&a) {
		q.refused++
		q.at++
		w.engine.Wake(w.id, now+ns)
		return
	}
	e := n.table[a.entry]
	missing := false
	for _, e := range n.table[a.entry : a.entry+uint64(max(a.span, 1))] {
		missing = missing || !e.present || a.write && !e.write
	}
	if missing {
		q.faulting, q.began = true, now
		q.faults++
		w.out = append(w.out, msg.Inbox{Kind: msg.KindEQE, Adapter: uint16(i), Body: &msg.Event{Token: uint32(number),
			QP: uint32(number), Write: a.write, Entry: a.entry, Count: max(a.span, 1), Page: a.page, Raised: now}},
			msg.Inbox{Kind: msg.KindMSI, Adapter: uint16(i)})
		return
	}
	f := content.ID(uint64(e.pa) >> w.kernel.shift)
	_, generation := w.oracle.Owner(f)
	if old, kept := w.orphans[uint32(f)]; kept && old == a.page {
		w.deferred++
	} else if a.write {
		if w.oracle.WriteDMA(f, content.Page(a.page), generation, w.random(), 0) != content.Good {
			w.stale++
		}
	} else if _, v := w.oracle.ReadDMA(f, content.Page(a.page), generation); v == content.Corrupt {
		w.lost++
	} else if v != content.Good {
		w.stale++
	}
	q.at++
	q.done = now
	// One access an instant: others get their turn in between.
	w.engine.Wake(w.id, now+ns)
}

// quick is a Spec in which only what a test sets takes time.
func quick(frames int) Spec {
	return Spec{Memory: model.Bytes(frames * 4096), Page: "4KiB",
		Pager: Pager{Policy: "clock", Initial: "zero", Parallel: 16, Batch: 1, ReadFaultsWrite: true, Snapshot: true,
			Swap: Swap{ReadLatency: 60 * us, WriteLatency: 20 * us, Bandwidth: 32e9, QueueDepth: 64}},
		Fault:        Fault{Contexts: 64, Workers: 32, Deadline: clocked.Second},
		Notifier:     Notifier{Order: "parallel"},
		Command:      Commands{Outstanding: 1, Chunk: 131064},
		Registration: Registration{Base: 10 * us, Page: 460 * ns},
	}
}

type setting struct {
	spec     Spec
	regions  []Region
	scheme   string
	adapters int
	shuffle  uint64
	jitter   clocked.Time
}

// oneRegion is a writable region of so many pages on adapter 0.
func oneRegion(pages int) []Region {
	return []Region{{VA: 0x10000, Length: uint64(pages) * 4096, Writable: true}}
}

func newWorld(t testing.TB, s setting) *world {
	t.Helper()
	e := clocked.NewEngine()
	if s.shuffle > 0 {
		e.Shuffle(s.shuffle)
	}
	w := &world{t: t, engine: e, rng: 99, jitter: s.jitter, orphans: map[uint32]uint32{}}
	w.id = e.Register(w)
	s.adapters = max(s.adapters, 1)
	config := Config{Seed: 5, OnInvalidation: func(r *measure.Invalidation) { w.records = append(w.records, *r) }}
	for range s.adapters {
		config.Adapters = append(config.Adapters, model.Shift4K)
	}
	k, err := New(e, "kernel", s.spec, config)
	if err != nil {
		t.Fatal(err)
	}
	w.kernel, w.frames = k, s.spec.Frames()
	if s.scheme == "" {
		s.scheme = ODP
	}
	setup, err := k.Register(s.regions, s.scheme)
	if err != nil {
		t.Fatal(err)
	}
	w.connect(s.adapters)
	w.prepare(setup)
	return w
}

func (w *world) connect(adapters int) {
	k, e := w.kernel, w.engine
	spec := func(from, to clocked.UnitID) clocked.WireSpec {
		return clocked.WireSpec{Name: "wire", Writer: from, Reader: to, Depth: 4, Latency: hop}
	}
	w.ports = Ports{
		Inbox:    clocked.NewWire[msg.Inbox](e, spec(w.id, k.ID())),
		PageOp:   clocked.NewWire[msg.PageOp](e, spec(k.ID(), w.id)),
		PageDone: clocked.NewWire[msg.PageDone](e, spec(w.id, k.ID())),

		Registration: clocked.NewWire[msg.Registration](e, spec(w.id, k.ID())),
		Registered:   clocked.NewWire[msg.Registered](e, spec(k.ID(), w.id)),
	}
	for range adapters {
		w.ports.Adapters = append(w.ports.Adapters, AdapterPort{clocked.NewWire[msg.Doorbell](e, spec(k.ID(), w.id))})
		w.nics = append(w.nics, &nic{table: make([]entry, k.entries()+16), command: us})
	}
	k.Connect(w.ports)
}

func (w *world) prepare(setup Setup) {
	k := w.kernel
	var err error
	if w.oracle, err = content.New(w.frames, k.Pages(), k.Pages()); err != nil {
		w.t.Fatal(err)
	}
	for _, r := range setup.Swapped {
		for i := range r.Count {
			w.apply(&msg.PageOp{Kind: msg.PageZero, Page: r.First + i})
			w.apply(&msg.PageOp{Kind: msg.PageOut, Page: r.First + i, Slot: r.First + i})
			w.apply(&msg.PageOp{Kind: msg.PageFree})
		}
	}
	for _, r := range setup.Resident {
		for i := range r.Count {
			w.apply(&msg.PageOp{Kind: msg.PageZero, Page: r.First + i, Frame: r.Frame + i})
		}
	}
	for _, f := range setup.Fills {
		for i := range f.Count {
			w.nics[f.Adapter].table[f.Entry+i] = entry{f.PA + model.PA(i*4096), true, f.Write}
		}
	}
}

// touch adds a QP to adapter 0 that touches pages of the first region in order.
func (w *world) touch(write bool, pages ...uint32) *qp {
	q := &qp{}
	for _, p := range pages {
		q.script = append(q.script, access{entry: uint64(p), page: p, write: write})
	}
	w.nics[0].qps = append(w.nics[0].qps, q)
	return q
}

// run runs until nothing is left to do and checks what must hold then.
func (w *world) run() Stats {
	w.t.Helper()
	w.engine.Wake(w.id, max(w.engine.Now()+1, ns))
	if err := w.engine.Run(); err != nil {
		w.t.Fatal(err)
	}
	s := w.kernel.Stats
	for _, n := range w.nics {
		for i, q := range n.qps {
			if q.at != len(q.script) || q.resumes != q.faults {
				w.t.Errorf("QP %d: %d of %d accesses, %d faults, %d resumes; %v", i, q.at, len(q.script), q.faults, q.resumes, w.kernel.Waits())
			}
		}
	}
	if !w.kernel.Idle() {
		w.t.Errorf("not idle: %v", w.kernel.Waits())
	}
	if w.stale > 0 || w.lost > 0 || s.LostPages > 0 || s.TableErrors > 0 {
		w.t.Errorf("%d stale, %d + %d lost, %d page-table errors", w.stale, w.lost, s.LostPages, s.TableErrors)
	}
	if in, out := s.FilledPages+s.Initial, s.Evictions+s.Unmapped+uint64(w.kernel.ResidentPages()); in != out {
		w.t.Errorf("%d pages in, %d evicted, unmapped or resident", in, out)
	}
	w.audit()
	if s.InvalidationsIssued != s.InvalidationsAcknowledged || s.Events != s.Resumed+s.Failed {
		w.t.Errorf("%d invalidations, %d acknowledged; %d events, %d + %d resumed", s.InvalidationsIssued, s.InvalidationsAcknowledged, s.Events, s.Resumed, s.Failed)
	}
	return s
}

func pages(from, to uint32) (list []uint32) {
	for p := from; p < to; p++ {
		list = append(list, p)
	}
	return list
}
