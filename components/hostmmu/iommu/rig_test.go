package iommu

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/pagetable"
)

// rig is a bench whose adapters and kernel act at random. The kernel changes
// pages as it must: entry, IOTLB, devTLBs, fence. Every mapping is to a frame of
// its own, so that the frame at memory tells which mapping was used, and the
// rig knows from when to when it was the right one.
//
// The kernel changes tables one picosecond after whole nanoseconds, and all else
// happens at whole ones: what a walk reads does not depend on who ticks first.
type rig struct {
	*bench
	seed     uint64
	pages    []*page
	versions []*version // by frame: PA >> 30
	changes  []timed[int]
	requests [][]*asked
	fences   map[*msg.IOMMUCommand]*version
	broken   []string
}

// page is a page that comes and goes.
type page struct {
	table   int
	va      model.VA
	shift   model.PageShift
	current *version // nil: absent
	pending bool     // a fence is due
	absent  []clocked.Time
	present []clocked.Time // absent[i] … present[i]
}

// version is one mapping of a page.
type version struct {
	page    *page
	write   bool
	mapped  clocked.Time
	dropped *msg.IOMMUCommand // its invalidation from the IOTLB
	fenced  clocked.Time      // 0: not yet
	stored  bool
	gone    bool
	dirty   bool // in its last entry
}

// asked is a request and what became of it.
type asked struct {
	page    *page
	req     msg.MemReq
	seen    clocked.Time // at memory
	sent    clocked.Time
	answers int
}

const rigAdapters = 2

func newRig(t tb, spec Spec, seed, shuffle uint64, spurious, shared bool) *rig {
	r := &rig{bench: newBenchOf(t, spec, rigAdapters, shuffle, shared), seed: seed, versions: []*version{nil},
		requests: make([][]*asked, rigAdapters), fences: map[*msg.IOMMUCommand]*version{}}
	for a := range rigAdapters {
		for i := range r.tables {
			r.setContext(uint16(a), uint32(i+1), Context{Table: r.tables[i], Domain: uint32(i + 1), ATS: true, Trusted: true})
		}
	}
	for i := range r.tables {
		for _, p := range []page{{i, 0x1000, 12, nil, false, nil, nil}, {va: 0x2000, shift: 12}, {va: 0x3000, shift: 12}, {va: 5 << 21, shift: 21},
			{va: 3 << 30, shift: 30}, {va: 1<<39 + 0x1000, shift: 12}, {va: 0xFFFF_FFFF_FFFF_F000, shift: 12}} {
			p.table = i
			p.absent = []clocked.Time{0}
			r.pages = append(r.pages, &p)
		}
	}
	r.latency = r.randomLatency
	r.onEnd = r.check
	r.onFlow = r.event
	for a := range r.roots {
		r.roots[a].onDone = func(now clocked.Time, d msg.MemDone) { r.answered(now, a, d) }
		r.roots[a].onBell = func(now clocked.Time, d msg.Doorbell) { r.invalidated(now, a, d) }
	}
	r.schedule()
	if spurious {
		g := rand.New(rand.NewPCG(seed, 5))
		for at := clocked.Time(0); at < 60_000*ns; at += clocked.Time(1+g.IntN(40)) * ns {
			r.engine.Wake(r.unit.ID(), at)
		}
	}
	return r
}

// randomLatency draws by what is asked, never by the order of questions.
func (r *rig) randomLatency(client int, write bool) clocked.Time {
	g := rand.New(rand.NewPCG(r.seed+uint64(client), uint64(len(r.log))))
	n := 100
	if client < rigAdapters {
		n = 1000
	}
	return clocked.Time(1+g.IntN(n)) * ns
}

// schedule draws requests in bursts and changes of pages.
func (r *rig) schedule() {
	g := rand.New(rand.NewPCG(r.seed, 9))
	for a := range r.roots {
		at := 10 * ns
		for i := range 80 {
			at += clocked.Time([]int{0, 0, 1, 5, 200, 2000}[g.IntN(6)]) * ns
			p := r.pages[g.IntN(len(r.pages))]
			va := p.va + model.VA(g.Uint64N(p.shift.Bytes())&^63)
			m := read(va, uint32(p.table+1), uint64(i))
			switch g.IntN(5) {
			case 0, 1:
				m = store(va, uint32(p.table+1), uint64(i))
			case 2:
				m = translate(va, uint32(p.table+1), uint16(i), g.IntN(2) == 0)
			}
			r.requests[a] = append(r.requests[a], &asked{page: p, req: m, sent: at})
			r.roots[a].send(at, m)
		}
	}
	at := clocked.Time(0)
	for range 120 {
		at += clocked.Time(g.IntN(300)) * ns
		r.changes = append(r.changes, timed[int]{at + 1, g.IntN(len(r.pages))})
	}
	r.engine.Wake(r.ids[2], r.changes[0].at)
	r.onKernel = r.change
}

func (r *rig) fail(now clocked.Time, format string, args ...any) {
	r.broken = append(r.broken, now.String()+": "+fmt.Sprintf(format, args...))
}

// change is the kernel's work on page tables.
func (r *rig) change(now clocked.Time) {
	for len(r.changes) > 0 && r.changes[0].at <= now {
		c := r.changes[0]
		r.changes = r.changes[1:]
		p := r.pages[c.msg]
		g := rand.New(rand.NewPCG(r.seed, uint64(c.at)))
		switch {
		case p.pending:
		case p.current == nil:
			r.mapPage(now, p, g.IntN(3) > 0)
		default:
			r.unmapPage(now, p)
			if g.IntN(2) == 0 {
				r.mapPage(now, p, g.IntN(3) > 0)
			}
		}
	}
	if len(r.changes) > 0 {
		r.engine.Wake(r.ids[2], r.changes[0].at)
	}
}

func (r *rig) mapPage(now clocked.Time, p *page, write bool) {
	v := &version{page: p, write: write, mapped: now}
	flags := pagetable.PTE(0)
	if write {
		flags = pagetable.Write
	}
	if err := r.tables[p.table].Map(p.va, model.PA(len(r.versions))<<30, p.shift, flags); err != nil {
		r.t.Fatal(err)
	}
	r.versions = append(r.versions, v)
	p.current = v
	p.present = append(p.present, now)
}

// unmapPage clears the entry and sends the invalidations, at the next whole
// nanosecond.
func (r *rig) unmapPage(now clocked.Time, p *page) {
	e, _, err := r.tables[p.table].Unmap(p.va)
	if err != nil {
		r.t.Fatal(err)
	}
	v := p.current
	v.gone, v.dirty = true, e.Has(pagetable.Dirty)
	p.current, p.pending = nil, true
	p.absent = append(p.absent, now)
	seen := now - 1 + 2*hop
	pasid := uint32(p.table + 1)
	v.dropped = &msg.IOMMUCommand{Op: msg.IOTLBInvalidate, PASID: pasid, First: p.va, Len: p.shift.Bytes(), Record: &measure.Invalidation{}}
	r.kernel.send(seen, v.dropped)
	for a := range r.roots[:rand.New(rand.NewPCG(r.seed, uint64(now))).IntN(rigAdapters+1)] { // their copies are not used here
		r.kernel.send(seen, &msg.IOMMUCommand{Op: msg.DevTLBInvalidate, Adapter: uint16(a), PASID: pasid, First: p.va, Len: p.shift.Bytes()})
	}
	f := &msg.IOMMUCommand{Op: msg.Fence}
	r.fences[f] = v
	r.kernel.send(seen, f)
	r.engine.Wake(r.ids[2], now-1+hop)
}

func (r *rig) event(now clocked.Time, e msg.IOMMUEvent) {
	if e.Kind == msg.EventFence {
		v := r.fences[e.Command]
		v.fenced, v.page.pending = now, false
	}
}

// invalidated is an adapter that completes an Invalidate Request some time later,
// with one or two completions.
func (r *rig) invalidated(now clocked.Time, a int, d msg.Doorbell) {
	inv, ok := d.Body.(*msg.Invalidate)
	if !ok {
		r.fail(now, "unexpected message %+v", d)
		return
	}
	g := rand.New(rand.NewPCG(r.seed+uint64(a), uint64(now)))
	count := 1 + g.IntN(2)
	for range count {
		at := now + clocked.Time(1+g.IntN(1500))*ns
		r.roots[a].send(at+hop, completion(1<<inv.ITag, uint8(count)))
		r.engine.Wake(r.ids[0], at)
	}
}

// at is whether the page was absent, or could not be stored to, at some time of
// an interval.
func (p *page) missing(from, to clocked.Time) bool {
	for i, gone := range p.absent {
		back := clocked.Never
		if i < len(p.present) {
			back = p.present[i]
		}
		if gone <= to && back >= from {
			return true
		}
	}
	return false
}

// check holds what reaches memory against the pages' history: when a transfer
// ends, its frame must not be the kernel's to use again.
func (r *rig) check(now clocked.Time, a *access) {
	m := &a.req
	if a.client == rigAdapters || m.Tag >= ownTag {
		return
	}
	q := r.requests[a.client][m.Cookie]
	q.seen = a.seen
	v := r.versions[m.PA>>30]
	offset := uint64(q.req.PA) & (q.page.shift.Bytes() - 1)
	switch {
	case v == nil || v.page != q.page || uint64(m.PA)&(1<<30-1) != offset:
		r.fail(now, "adapter %d, request %d for %#x goes to %#x", a.client, m.Cookie, q.req.PA, m.PA)
	case v.mapped > a.seen:
		r.fail(now, "request %d uses what was mapped later", m.Cookie)
	case v.fenced > 0 && v.fenced <= now:
		r.fail(now, "adapter %d, request %d, seen by memory at %v, uses what was fenced at %v", a.client, m.Cookie, a.seen, v.fenced)
	case m.Write && !v.write:
		r.fail(now, "request %d stores to a page that forbids it", m.Cookie)
	}
	if m.Write {
		v.stored = true
	}
}

// answered holds answers against the history.
func (r *rig) answered(now clocked.Time, a int, d msg.MemDone) {
	q := r.requests[a][d.Tag]
	q.answers++
	switch {
	case d.Kind == msg.KindATS && d.Entry == 0, d.Status == msg.StatusAbort:
		if !q.page.missing(q.sent, now) {
			r.fail(now, "adapter %d, request %d: absent, but it was there all the time", a, d.Tag)
		}
	case d.Kind == msg.KindATS:
		r.checkTranslation(now, q, ats.Decode(d.Entry))
	case q.seen == 0:
		r.fail(now, "request %d answered without memory", d.Tag)
	}
}

func (r *rig) checkTranslation(now clocked.Time, q *asked, e ats.Translation) {
	v := r.versions[e.PA>>30]
	switch {
	case v == nil || v.page != q.page || e.Shift != q.page.shift:
		r.fail(now, "translation of %#x is %+v", q.req.PA, e)
	case e.Write && (!v.write || !q.req.Address.Store):
		r.fail(now, "translation of %#x allows stores", q.req.PA)
	case v.gone && v.dropped.Record.IOTLB > 0 && v.dropped.Record.IOTLB <= q.sent:
		r.fail(now, "translation of %#x asked for at %v was invalidated at %v", q.req.PA, q.sent, v.dropped.Record.IOTLB)
	}
	if e.Write {
		v.stored = true // may be
	}
}

// finish looks at what must hold in the end.
func (r *rig) finish() {
	r.run()
	now := r.engine.Now()
	var stores, dropped uint64
	for a := range r.roots {
		last := uint64(0)
		early := map[uint64]bool{} // stores by cookie
		for _, l := range r.log {
			if l.client != a || l.req.Tag >= ownTag {
				continue
			}
			if l.req.Write && l.req.Cookie < last {
				r.fail(now, "adapter %d: store %d behind %d", a, l.req.Cookie, last)
			}
			if l.req.Write {
				last = l.req.Cookie
				early[last] = true
			}
			for c := range l.req.Cookie { // a read passes no store
				if q := r.requests[a][c]; !l.req.Write && q.req.Write && q.seen > 0 && !early[c] {
					r.fail(now, "adapter %d: read %d before store %d", a, l.req.Cookie, c)
				}
			}
		}
		for i, q := range r.requests[a] {
			switch {
			case q.req.Write && q.seen > 0:
				stores++
			case q.req.Write:
				dropped++
			case q.answers != 1:
				r.fail(now, "adapter %d: request %d answered %d times", a, i, q.answers)
			}
		}
	}
	r.checkRootPorts()
	for _, v := range r.versions[1:] {
		if v.gone && v.stored && !v.dirty && r.unit.spec.SetAccessed {
			r.fail(now, "stored to, and not dirty: page %#x mapped at %v", uint64(v.page.va), v.mapped)
		}
	}
	if s := r.unit.Stats(); s.AbsentWrites != dropped || stores+dropped == 0 || s.TimedOut > 0 || s.UnexpectedCompletions > 0 {
		r.fail(now, "%d stores at memory, %d not: %+v", stores, dropped, s)
	}
}

// transcript is all that left the unit, and when.
func (r *rig) transcript() string {
	var s strings.Builder
	for _, a := range r.log {
		fmt.Fprintf(&s, "memory %d %v %v %#x %d\n", a.client, a.seen, a.req.Write, a.req.PA, a.req.Cookie)
	}
	for a, root := range r.roots {
		for _, d := range root.done {
			fmt.Fprintf(&s, "done %d %v %d %d %#x\n", a, d.at, d.msg.Tag, d.msg.Status, d.msg.Entry)
		}
		for _, d := range root.bells {
			fmt.Fprintf(&s, "bell %d %v %+v\n", a, d.at, d.msg.Body.(*msg.Invalidate).InvalidateRequest.ITag)
		}
	}
	for _, e := range r.events {
		fmt.Fprintf(&s, "event %v %d %#x\n", e.at, e.msg.Kind, uint64(e.msg.VA))
	}
	return s.String() + fmt.Sprintf("%+v", r.unit.Stats())
}
