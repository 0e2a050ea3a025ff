package kernel

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// iommuMock is an IOMMU with an IOTLB that forgets only what it is told to, and
// translation caches of adapters likewise.
type iommuMock struct {
	tlb     map[iotlbKey]entry
	queue   []*msg.IOMMUCommand
	until   clocked.Time
	busy    bool
	command clocked.Time // time of a command
	timeout clocked.Time // of an adapter
	devTLB  []devTLB
	fences  []waitingFence
	order   int
	code    []ats.ResponseCode // of responses that were awaited
	events  []msg.IOMMUEvent
	ring    int // places in use
	most    int
	noDirty bool // walks set no dirty bits, and give the right to store to dirty pages only
	seen    [msg.FreeRing + 1]int
	groups  []*qp // by group
	strange int   // responses to nobody
	before  func(now clocked.Time, c *msg.IOMMUCommand)
}

type iotlbKey struct {
	pasid uint32
	va    model.VA
}

// devTLB is an Invalidate Request on its way.
type devTLB struct {
	cmd      *msg.IOMMUCommand
	at       clocked.Time
	order    int
	timedOut bool
}

type waitingFence struct {
	cmd   *msg.IOMMUCommand
	order int
}

func (w *world) note(now clocked.Time, format string, args ...any) {
	if w.logging {
		w.log = append(w.log, fmt.Sprintf(format, args...))
	}
}

// translate looks a page up by the IOTLB, or walks. What is cached without the
// right to store stays so until it is flushed; what is cached clean is walked
// again for a store, to set its dirty bit. The right to store that is returned
// is what the asker may keep.
func (m *iommuMock) translate(w *world, pasid uint32, va model.VA, write bool) (entry, bool) {
	page := iotlbKey{pasid, va &^ 0xFFF}
	e, ok := m.tlb[page]
	if !ok || write && e.write && e.clean && !m.noDirty {
		table := w.kernel.table
		if pasid == 0 {
			table = w.kernel.dma
		}
		walk := table.Lookup(page.va)
		if !walk.Present() {
			return entry{}, false
		}
		e = entry{pa: walk.Entry.PA() + model.PA(uint64(page.va)&(walk.Shift.Bytes()-1)), present: true, write: walk.Writable, clean: !walk.Entry.Has(dirty)}
		switch {
		case m.noDirty:
		case write && e.write:
			_ = table.SetDirty(page.va)
			e.clean = false
		default:
			_ = table.SetAccessed(page.va)
		}
		m.tlb[page] = e
	}
	e.write = e.write && !e.clean
	return e, e.write || !write
}

// runIOMMU executes commands one after the other.
func (w *world) runIOMMU(now clocked.Time) {
	m := &w.iommu
	for c := w.ports.IOMMU.Peek(now); c != nil; c = w.ports.IOMMU.Peek(now) {
		m.queue = append(m.queue, *c)
		w.ports.IOMMU.Pop(now)
	}
	if m.busy && m.until <= now {
		m.busy = false
		c := m.queue[0]
		m.queue = m.queue[1:]
		w.executeIOMMU(now, c)
	}
	if !m.busy && len(m.queue) > 0 {
		m.busy, m.until = true, now+m.command
		w.engine.Wake(w.id, m.until)
	}
	w.settle(now)
	for len(m.events) > 0 && w.ports.IOMMUEvents.Ready(now) {
		*w.ports.IOMMUEvents.Push(now) = m.events[0]
		m.events = m.events[1:]
	}
}

func (w *world) executeIOMMU(now clocked.Time, c *msg.IOMMUCommand) {
	m := &w.iommu
	m.order++
	m.seen[c.Op]++
	if m.before != nil {
		m.before(now, c)
	}
	switch c.Op {
	case msg.IOTLBInvalidate:
		w.note(now, "iotlb %d: %#x+%#x", c.PASID, uint64(c.First), c.Len)
		for k := range m.tlb {
			if k.pasid == c.PASID && (c.Len == 0 || k.va >= c.First && k.va-c.First < model.VA(c.Len)) {
				delete(m.tlb, k)
			}
		}
		if c.Record != nil {
			c.Record.IOTLB = now
		}
	case msg.DevTLBInvalidate:
		w.note(now, "devtlb %d: %#x+%#x", c.Adapter, uint64(c.First), c.Len)
		d := devTLB{cmd: c, at: now + w.nics[c.Adapter].command, order: m.order}
		if w.nics[c.Adapter].silent {
			d.at, d.timedOut = now+m.timeout, true
		} else if w.jitter > 0 {
			d.at += clocked.Time(w.random() % uint64(w.jitter))
		}
		if c.Record != nil {
			c.Record.Sent = now
		}
		m.devTLB = append(m.devTLB, d)
		w.engine.Wake(w.id, d.at)
	case msg.Fence:
		m.fences = append(m.fences, waitingFence{c, m.order})
	case msg.RespondPage:
		w.respond(now, c)
	case msg.FreeRing:
		m.ring -= int(c.Count)
	}
}

// settle completes invalidations of adapters, and the fences behind them.
func (w *world) settle(now clocked.Time) {
	m := &w.iommu
	open := m.devTLB[:0]
	for _, d := range m.devTLB {
		if d.at > now {
			open = append(open, d)
			continue
		}
		c, n := d.cmd, w.nics[d.cmd.Adapter]
		if c.TimedOut = d.timedOut; d.timedOut {
			continue
		}
		w.note(now, "completion %d", c.Adapter)
		for va := range n.atc {
			if va >= c.First && va-c.First < model.VA(c.Len) {
				delete(n.atc, va)
			}
		}
		if r := c.Record; r != nil {
			r.Received, r.Marked, r.Drained, r.DevTLB, r.Acknowledged = d.at, d.at, d.at, d.at, now
		}
	}
	m.devTLB = open
	for len(m.fences) > 0 {
		f := m.fences[0]
		for _, d := range m.devTLB {
			if d.order < f.order {
				return
			}
		}
		m.fences = m.fences[1:]
		w.note(now, "fence")
		m.events = append(m.events, msg.IOMMUEvent{Kind: msg.EventFence, Command: f.cmd})
	}
}

// respond ends a page request group.
func (w *world) respond(now clocked.Time, c *msg.IOMMUCommand) {
	m := &w.iommu
	w.note(now, "response %d: group %d code %d", c.Adapter, c.Response.Group, c.Response.Code)
	g := int(c.Response.Group)
	if g >= len(m.groups) || m.groups[g] == nil {
		m.strange++
		return
	}
	q := m.groups[g]
	m.groups[g] = nil
	m.code = append(m.code, c.Response.Code)
	q.resumes++
	q.service = append(q.service, now-q.began)
	q.faulting = false
	if c.Response.Code != ats.ResponseSuccess {
		q.failures++
		q.at = min(q.at+1, len(q.script))
	}
	w.engine.Wake(w.id, now+ns)
}

// walkAccess is an access of an adapter that walks the process's page table, by
// its own cache and translation requests or untranslated.
func (w *world) walkAccess(now clocked.Time, i int, n *nic, number int) {
	q := n.qps[number]
	a := q.script[q.at]
	va := w.kernel.vaOf(a.page)
	e, hit := n.atc[va]
	if !hit || a.write && !e.write {
		var ok bool
		if e, ok = w.iommu.translate(w, PASID, va, a.write); !ok {
			w.absent(now, i, n, q, va, a.write)
			return
		}
		if n.config.Scheme == SVA {
			n.atc[va] = e
		}
	}
	w.transfer(now, q, a, e.pa)
}

// absent asks for a page, or tells of it and comes again.
func (w *world) absent(now clocked.Time, i int, n *nic, q *qp, va model.VA, write bool) {
	if n.config.Process {
		w.iommu.events = append(w.iommu.events, msg.IOMMUEvent{Kind: msg.EventAbsent, Adapter: uint16(i), VA: va, Write: write})
		q.again = now + 5*us
		w.engine.Wake(w.id, q.again)
		return
	}
	q.faulting, q.began = true, now
	q.faults++
	w.askPages(i, q, ats.PageRequest{Last: true, Read: true, Write: write, PASID: PASID, VA: va})
	w.engine.Wake(w.id, now+ns)
}

// askPages sends page requests of one group; q, when not nil, waits for the response.
func (w *world) askPages(i int, q *qp, requests ...ats.PageRequest) uint16 {
	m := &w.iommu
	g := uint16(len(m.groups))
	m.groups = append(m.groups, q)
	for _, r := range requests {
		r.Group = g
		m.ring++
		m.most = max(m.most, m.ring)
		m.events = append(m.events, msg.IOMMUEvent{Kind: msg.EventPage, Adapter: uint16(i), Request: msg.PageRequest{PageRequest: r}})
	}
	return g
}

// suspend starts or ends suspensions of entries, which forget their frames, or
// of a region, whose entries do not.
func (w *world) suspend(n *nic, c *msg.Command) {
	first, count, step := c.Entry, uint64(c.Count), 1
	if c.Whole {
		first, count = 0, 0
		for _, r := range w.kernel.regions {
			if r.Adapter == int(c.Adapter) && r.Key == c.Key {
				first, count = r.FirstEntry, n.config.Shift.Span(r.VA, r.Length)
			}
		}
	}
	if c.Op == msg.CmdUnsuspend {
		step = -1
	}
	for e := first; e < first+count; e++ {
		if n.suspended[e] += step; n.suspended[e] < 0 {
			w.t.Errorf("entry %d: %d suspensions", e, n.suspended[e])
		}
		if step > 0 && !c.Whole {
			n.table[e] = entry{}
		}
	}
}
