package kernel

import (
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

// tester is a test, also of package rapid.
type tester interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// world plays everything around the kernel: adapters with their tables, and
// memory with its content.
type world struct {
	t       tester
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
	limit   clocked.Time // of a run
	iommu   iommuMock
	log     []string // of commands, in the order of their effects, when logging
	logging bool

	orphans map[uint32]uint32 // frames that an old registration keeps: the page that they held
	answers []msg.Registered
	asked   []msg.Registration // to be sent
	keys    []keyEvent         // that adapters executed

	deferred    int // stale by a registration that outlived its mapping
	stale, lost int
	forbidden   int // stores to pages that the process may not store to
	blocked     int // by the IOMMU: no mapping
	moving      int // accesses that met a suspension
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
	keys    *key.Table      // in their place where there is an implicit region
	qps     []*qp

	config    AdapterConfig
	silent    bool // answers nothing any more
	ignored   []*msg.Command
	cut       bool                                   // its root port takes nothing
	zapped    func(now clocked.Time, c *msg.Command) // called before a command's effect
	atc       map[model.VA]entry
	suspended map[uint64]int // entries' suspensions
}

type entry struct {
	pa             model.PA
	present, write bool
	clean          bool // in an IOTLB: the dirty bit was not set
}

// qp accesses pages one after another.
type qp struct {
	script   []access
	at       int
	faulting bool
	again    clocked.Time // not before
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
	w.runIOMMU(now)
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
		if err = w.oracle.Assign(f, p); err == nil {
			err = w.oracle.Zero(f)
		}
	case msg.PageIn:
		if err = w.oracle.Assign(f, p); err == nil {
			err = w.oracle.CopyIn(slot, f)
		}
	case msg.PageOut:
		err = w.oracle.CopyOut(f, slot)
	case msg.PageCopy:
		if err = w.oracle.Assign(f, p); err == nil {
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
		if d.Disable {
			n.cut = true
			w.note(now, "disable %d", i)
		} else if c := d.Body.(*msg.Command); n.silent {
			n.ignored = append(n.ignored, c)
		} else {
			n.queue = append(n.queue, c)
		}
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

var opNames = [...]string{"fill", "invalidate", "resume", "suspend", "unsuspend", "protect", "key"}

func (w *world) execute(now clocked.Time, n *nic, c *msg.Command) {
	w.note(now, "%s %d: %d+%d", opNames[c.Op], c.Adapter, c.Entry, c.Count)
	if n.zapped != nil {
		n.zapped(now, c)
	}
	switch c.Op {
	case msg.CmdSuspend, msg.CmdUnsuspend:
		w.suspend(n, c)
	case msg.CmdFill:
		w.fills++
		for i, pa := range c.PA {
			if pa == msg.KeepEntry {
				continue
			}
			n.table[c.Entry+uint64(i)] = entry{pa: pa, present: true, write: c.Write}
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
		w.keys = append(w.keys, keyEvent{now, c.Change.Op, c.Change.Key, c.Change.Region, c.Change.Under})
		c.Change.Err = n.change(&c.Change)
	case msg.CmdResume:
		q := n.qps[c.Token.Place]
		q.resumes++
		q.service = append(q.service, now-q.began)
		q.faulting = false
		if c.Failed {
			q.failures++
			q.at++
		}
	}
}

func (w *world) access(now clocked.Time, i int, n *nic, number int) {
	q := n.qps[number]
	if q.at >= len(q.script) || q.faulting || now < q.again {
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
	if n.config.Scheme == SVA || n.config.Process {
		w.walkAccess(now, i, n, number)
		return
	}
	e := n.table[a.entry]
	missing := !n.leads(&a)
	for _, e := range n.table[a.entry : a.entry+uint64(max(a.span, 1))] {
		missing = missing || !e.present || a.write && !e.write
	}
	if n.suspended[a.entry] > 0 {
		w.moving++
		q.again = now + us // as after an RNR NAK
		w.engine.Wake(w.id, q.again)
		return
	}
	if missing {
		q.faulting, q.began = true, now
		q.faults++
		w.out = append(w.out, msg.Inbox{Kind: msg.KindEQE, Adapter: uint16(i), Body: &msg.Event{Token: msg.FaultToken{Place: uint32(number)},
			QP: uint32(number), Write: a.write, Entry: a.entry, VA: a.va, Count: max(a.span, 1), Page: a.page, Raised: now}},
			msg.Inbox{Kind: msg.KindMSI, Adapter: uint16(i)})
		return
	}
	pa := e.pa
	if n.config.IOMMU || n.config.Scheme == IOMMU {
		d, ok := w.iommu.translate(w, 0, model.VA(e.pa), a.write)
		if !ok {
			w.blocked++
			q.at++
			return
		}
		pa = d.pa
	}
	w.transfer(now, q, a, pa)
}

// transfer is the DMA of an access.
func (w *world) transfer(now clocked.Time, q *qp, a access, pa model.PA) {
	f := content.ID(uint64(pa) >> w.kernel.shift)
	if old, kept := w.orphans[uint32(f)]; kept && old == a.page {
		w.deferred++
	} else if a.write {
		if w.kernel.pages[a.page].steady() && !w.kernel.storable(a.page) {
			w.forbidden++
		}
		id := w.random()
		w.oracle.Store(f, id, 0)
		w.oracle.Expect(content.Page(a.page), id, 0)
		if w.oracle.Owner(f) != content.Page(a.page) {
			w.stale++
		}
	} else if v := w.oracle.Check(f, content.Page(a.page)); v == content.Corrupt {
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
	configs  []AdapterConfig // instead of scheme and adapters
	config   Config          // the rest
	shuffle  uint64
	jitter   clocked.Time
}

// oneRegion is a writable region of so many pages on adapter 0.
func oneRegion(pages int) []Region {
	return []Region{{VA: 0x10000, Length: uint64(pages) * 4096, Writable: true}}
}

func newWorld(t tester, s setting) *world {
	t.Helper()
	e := clocked.NewEngine()
	if s.shuffle > 0 {
		e.Shuffle(s.shuffle)
	}
	w := &world{t: t, engine: e, rng: 99, jitter: s.jitter, limit: 10 * clocked.Second, orphans: map[uint32]uint32{}}
	w.id = e.Register(w)
	e.Last(w.id) // it walks tables that the kernel writes
	s.adapters = max(s.adapters, 1)
	config := s.config
	config.Seed, config.OnInvalidation = 5, func(r *measure.Invalidation) { w.records = append(w.records, *r) }
	if s.scheme == "" {
		s.scheme = ODP
	}
	config.Adapters = s.configs
	if s.configs == nil {
		for range s.adapters {
			config.Adapters = append(config.Adapters, AdapterConfig{Shift: model.Shift4K, Scheme: s.scheme})
		}
	}
	k, err := New(e, "kernel", s.spec, config)
	if err != nil {
		t.Fatal(err)
	}
	w.kernel, w.frames = k, s.spec.Frames()
	setup, err := k.Register(s.regions)
	if err != nil {
		t.Fatal(err)
	}
	w.connect(config.Adapters)
	w.prepare(setup)
	return w
}

func (w *world) connect(adapters []AdapterConfig) {
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
	w.ports.IOMMU = clocked.NewWire[*msg.IOMMUCommand](e, spec(k.ID(), w.id))
	w.ports.IOMMUEvents = clocked.NewWire[msg.IOMMUEvent](e, spec(w.id, k.ID()))
	w.iommu = iommuMock{tlb: map[iotlbKey]entry{}, command: 300 * ns, timeout: clocked.Second}
	for _, c := range adapters {
		w.ports.Adapters = append(w.ports.Adapters, AdapterPort{MMIO: clocked.NewWire[msg.Doorbell](e, spec(k.ID(), w.id))})
		w.nics = append(w.nics, &nic{table: make([]entry, k.entries()<<(k.shift-12)+16), command: us,
			config: c, keys: implicitKeys(c.Root), atc: map[model.VA]entry{}, suspended: map[uint64]int{}})
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
			w.nics[f.Adapter].table[f.Entry+i] = entry{pa: f.PA + model.PA(i*4096), present: true, write: f.Write}
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
	if err := w.engine.RunUntil(w.engine.Now() + w.limit); err != nil {
		w.t.Fatal(err)
	}
	s := w.kernel.Stats
	if w.engine.Pending() > 0 {
		w.t.Fatalf("not at rest after %v: %+v; %v", w.limit, s, w.kernel.Waits())
	}
	for _, n := range w.nics {
		for i, q := range n.qps {
			if !n.silent && (q.at != len(q.script) || q.resumes != q.faults) {
				w.t.Errorf("QP %d: %d of %d accesses, %d faults, %d resumes; %v", i, q.at, len(q.script), q.faults, q.resumes, w.kernel.Waits())
			}
		}
	}
	if !w.kernel.Idle() {
		w.t.Errorf("not idle: %v", w.kernel.Waits())
	}
	if w.blocked > 0 {
		w.t.Errorf("%d accesses found nothing in the DMA domain", w.blocked)
	}
	if w.stale > 0 || w.lost > 0 || w.forbidden > 0 || s.LostPages > 0 || s.TableErrors > 0 {
		w.t.Errorf("%d stale, %d + %d lost, %d forbidden, %d page-table errors", w.stale, w.lost, s.LostPages, w.forbidden, s.TableErrors)
	}
	if in, out := s.FilledPages+s.Initial, s.Evictions+s.Unmapped+uint64(w.kernel.ResidentPages()); in != out {
		w.t.Errorf("%d pages in, %d evicted, unmapped or resident", in, out)
	}
	w.audit()
	if s.InvalidationsIssued != s.InvalidationsAcknowledged+s.InvalidationsTimedOut || s.Events != s.Resumed+s.Failed+s.Gone {
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
