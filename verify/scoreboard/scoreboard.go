package scoreboard

import (
	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/platform"
	"rnicmmu/verify/rule"
	"rnicmmu/verify/wires"
)

// Stats say how much was judged.
type Stats struct {
	Exact   uint64 // uses with one translation permitted
	Allowed uint64 // uses while an invalidation of it was under way
	Excused uint64 // uses that the scheme gives up by design
	Stores  uint64 // requests to store, applied by meaning and by address
	Reads   uint64 // reads compared
	Pages   uint64 // page operations and pages at the end, compared
}

// Scoreboard is the golden host.
type Scoreboard struct {
	Stats    Stats
	log      *rule.Log
	system   *platform.System
	host     host
	adapters []adapter
	accesses accesses
	deferred bool
}

// New puts a scoreboard beside a system.
func New(s *platform.System, log *rule.Log) *Scoreboard {
	specs := s.Adapters()
	b := &Scoreboard{log: log, system: s, adapters: make([]adapter, len(specs)), deferred: specs[0].Host.IOMMU.Mode == "deferred"}
	b.host.init(specs[0].Host.Shift(), s.Setup())
	for i := range specs {
		b.adapters[i].init(&specs[i])
	}
	for _, f := range s.Setup().Fills {
		b.program(f)
	}
	b.watchKernel(s)
	b.watchRoots(s)
	b.watchMemory(s)
	b.watchPeers(s)
	return b
}

// program is the fill of a table before the run.
func (b *Scoreboard) program(f kernel.Fill) {
	a := &b.adapters[f.Adapter]
	for i := range f.Count {
		a.set(f.Entry+i, f.PA+model.PA(i<<a.shift), f.Write)
	}
}

func (b *Scoreboard) watchKernel(s *platform.System) {
	for _, w := range wires.Of[msg.Doorbell](s, "kernel", "") {
		w.Wire.OnSent(func(now clocked.Time, m *msg.Doorbell) {
			if m.Disable {
				b.adapters[m.Adapter].dead = true
			} else if c, ok := m.Body.(*msg.Command); ok {
				b.adapters[m.Adapter].told(c)
			}
		})
	}
	for _, w := range wires.Of[msg.PageOp](s, "kernel", "memory") {
		w.Wire.OnSent(b.pageOpSent)
	}
	for _, w := range wires.Of[msg.PageDone](s, "memory", "kernel") {
		w.Wire.OnSent(b.pageOpDone)
	}
}

// watchRoots looks at what leaves the adapters' root ports.
func (b *Scoreboard) watchRoots(s *platform.System) {
	for _, w := range wires.Of[msg.MemReq](s, "pcie.root", "") {
		w.Wire.OnSent(b.atRoot)
	}
	for _, w := range wires.Of[msg.MemReq](s, "switch.root", "") {
		w.Wire.OnSent(b.atRoot)
	}
}

func (b *Scoreboard) atRoot(now clocked.Time, m *msg.MemReq) {
	a := &b.adapters[m.Adapter]
	switch {
	case !a.table || a.dead:
	case m.Kind == msg.KindCQE && m.Write:
		if c, ok := m.Body.(*msg.Command); ok {
			a.completed(c)
		}
	case m.Kind == msg.KindData && m.Oracle.Page != msg.NoPage:
		b.judge(now, a, m)
	}
}

// judge says whether a table lets an adapter do what it does.
func (b *Scoreboard) judge(now clocked.Time, a *adapter, m *msg.MemReq) {
	p := a.permits[m.PA>>a.shift]
	switch {
	case p.open == 0:
		b.log.Report(ruleUse, now, "adapter %d: %s of %d bytes at 0x%x for page %d: its table has no entry for that any more",
			m.Adapter, verb(m.Write), m.Len, uint64(m.PA), m.Oracle.Page)
	case m.Write && p.writable == 0:
		b.log.Report(ruleRight, now, "adapter %d: store of %d bytes at 0x%x for page %d: its table does not let it store there",
			m.Adapter, m.Len, uint64(m.PA), m.Oracle.Page)
	case p.closing > 0:
		b.Stats.Allowed++
	default:
		b.Stats.Exact++
	}
}

func verb(write bool) string {
	if write {
		return "store"
	}
	return "read"
}

// tag names a read; behind a switch, adapters of one root port have the same.
type tag struct{ adapter, number uint16 }

// watchMemory looks at what memory does for adapters.
func (b *Scoreboard) watchMemory(s *platform.System) {
	requests, answers := wires.Of[msg.MemReq](s, "", "memory"), wires.Of[msg.MemDone](s, "memory", "")
	for i := range requests {
		pending := map[tag]read{}
		requests[i].Wire.OnTaken(func(now clocked.Time, m *msg.MemReq) {
			if m.Kind != msg.KindData || m.Oracle.Page == msg.NoPage {
				return
			}
			if m.Write {
				b.store(now, m)
				return
			}
			pending[tag{m.Adapter, m.Tag}] = b.reads(now, m)
		})
		answers[i].Wire.OnSent(func(now clocked.Time, m *msg.MemDone) {
			if m.Kind != msg.KindData {
				return
			}
			t := tag{m.Adapter, m.Tag}
			if r, asked := pending[t]; asked {
				delete(pending, t)
				b.answered(now, &r, m)
			}
		})
	}
}

// watchPeers looks at what is asked and what is acknowledged.
func (b *Scoreboard) watchPeers(s *platform.System) {
	for _, w := range wires.Of[*msg.Packet](s, "requester", "responder") {
		w.Wire.OnSent(func(now clocked.Time, m **msg.Packet) { b.accesses.asked(*m, b.host.shift) })
	}
	for _, w := range wires.Of[*msg.Packet](s, "responder", "requester") {
		w.Wire.OnSent(b.responded)
	}
	for i, w := range wires.Of[msg.Inbox](s, "peer_memory", "driver") {
		q := &s.Adapters()[i].QP
		placed := q.AckPoint == "placement" && q.FaultResponse != "backup" // what is in the ring is acknowledged
		w.Wire.OnSent(func(now clocked.Time, m *msg.Inbox) {
			if a, ok := m.Body.(*measure.Access); ok {
				b.completed(now, a, placed)
			}
		})
	}
}

// Finish judges what must hold when everything has come to rest.
func (b *Scoreboard) Finish(now clocked.Time, rest bool) {
	if !rest {
		return
	}
	b.finishAccesses(now)
	b.finishPages(now)
}
