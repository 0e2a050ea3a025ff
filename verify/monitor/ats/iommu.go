package ats

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/verify/rule"
)

// recentFlushes is how many IOTLB commands are remembered.
const recentFlushes = 256

// IOMMU watches the IOMMU's queues and messages.
type IOMMU struct {
	log     *rule.Log
	depth   []int // of invalidations, by adapter
	excused []bool
	tags    [][ats.MaxTags]tag
	queue   []command // not popped by a fence, the oldest first
	first   uint64    // number of queue[0]
	flushes [recentFlushes]flush
	flushed int
}

type tag struct {
	busy       bool
	came, want uint8
	command    uint64 // number
}

type command struct {
	p          *msg.IOMMUCommand
	op         msg.IOMMUOp
	adapter    uint16
	sent, done bool
	va         model.VA
	length     uint64
}

// flush is an IOTLB command, and the adapters that were invalidated behind it.
type flush struct {
	live        bool
	pasid       uint32
	first, last model.VA
	used        uint64
}

// NewIOMMU watches an IOMMU with as many invalidations outstanding an adapter.
func NewIOMMU(depth []int, log *rule.Log) *IOMMU {
	return &IOMMU{log: log, depth: depth, excused: make([]bool, len(depth)), tags: make([][ats.MaxTags]tag, len(depth))}
}

// CutOff tells that the kernel has given an adapter up.
func (m *IOMMU) CutOff(adapter int) { m.excused[adapter] = true }

func lastByte(va model.VA, n uint64) model.VA {
	if n == 0 || uint64(va)+n-1 < uint64(va) {
		return ^model.VA(0)
	}
	return va + model.VA(n-1)
}

// Command sees the kernel queue a command.
func (m *IOMMU) Command(now clocked.Time, p **msg.IOMMUCommand) {
	c := *p
	switch c.Op {
	case msg.IOTLBInvalidate:
		f := &m.flushes[m.flushed%recentFlushes]
		*f = flush{live: true, pasid: c.PASID, first: c.First, last: lastByte(c.First, c.Len)}
		if c.Len == 0 {
			f.first = 0
		}
		m.flushed++
		return
	case msg.DevTLBInvalidate:
		m.follow(now, c)
	case msg.Fence:
	default:
		return
	}
	m.queue = append(m.queue, command{p: c, op: c.Op, adapter: c.Adapter, va: c.First, length: c.Len})
}

// follow looks for the IOTLB command before a devTLB command.
func (m *IOMMU) follow(now clocked.Time, c *msg.IOMMUCommand) {
	last := lastByte(c.First, c.Len)
	for i := range min(m.flushed, recentFlushes) {
		f := &m.flushes[(m.flushed-1-i)%recentFlushes]
		if f.pasid == c.PASID && f.first <= c.First && f.last >= last && f.used>>(c.Adapter&63)&1 == 0 {
			f.used |= 1 << (c.Adapter & 63)
			return
		}
	}
	m.log.Report(Ordered, now, "devTLB of adapter %d, %d B at %#x of process %d, and the IOTLB is not invalidated before", c.Adapter, c.Len, uint64(c.First), c.PASID)
}

// Message sees the IOMMU send to an adapter.
func (m *IOMMU) Message(now clocked.Time, d *msg.Doorbell) {
	body, ok := d.Body.(*msg.Invalidate)
	if !ok || int(d.Adapter) >= len(m.tags) {
		return
	}
	number := m.send(now, d.Adapter, body)
	t := &m.tags[d.Adapter][body.ITag%ats.MaxTags]
	if t.busy {
		m.log.Report(Tagged, now, "ITag %d of adapter %d is used again before its completion", body.ITag, d.Adapter)
	}
	*t = tag{busy: true, command: number}
	busy := 0
	for i := range m.tags[d.Adapter] {
		if m.tags[d.Adapter][i].busy {
			busy++
		}
	}
	if depth := m.depth[d.Adapter]; busy > depth {
		m.log.Report(Bounded, now, "adapter %d has %d invalidations outstanding, %d are its most", d.Adapter, busy, depth)
	}
}

// send finds the command of an Invalidate Request.
func (m *IOMMU) send(now clocked.Time, adapter uint16, body *msg.Invalidate) (number uint64) {
	for i := range m.queue {
		c := &m.queue[i]
		if c.op != msg.DevTLBInvalidate || c.adapter != adapter || c.sent || c.p.TimedOut {
			continue
		}
		c.sent = true
		if r := body.Range; r.VA > c.va || lastByte(r.VA&^(1<<r.Shift-1), span(r.Shift)) < lastByte(c.va, c.length) {
			m.log.Report(Covered, now, "adapter %d is to forget 2^%d B at %#x for %d B at %#x", adapter, r.Shift, uint64(r.VA), c.length, uint64(c.va))
		}
		return m.first + uint64(i)
	}
	return ^uint64(0)
}

// span is the length of a range, 0 for the whole space.
func span(s model.PageShift) uint64 {
	if s >= 64 {
		return 0
	}
	return s.Bytes()
}

// Arrived sees the IOMMU take a request of an adapter.
func (m *IOMMU) Arrived(now clocked.Time, r *msg.MemReq) {
	body, ok := r.Body.(*msg.InvalidateDone)
	if r.Kind != msg.KindMessage || !ok || int(r.Adapter) >= len(m.tags) {
		return
	}
	if body.Count < 1 || body.Count > 8 {
		m.log.Report(Counted, now, "adapter %d announces %d completions", r.Adapter, body.Count)
	}
	for left := body.ITags; left != 0; left &= left - 1 {
		i := bits.TrailingZeros32(left)
		t := &m.tags[r.Adapter][i]
		if !t.busy {
			if !m.excused[r.Adapter] {
				m.log.Report(Counted, now, "adapter %d completes ITag %d, which has no request", r.Adapter, i)
			}
			continue
		}
		t.came++
		if t.want = max(t.want, body.Count); t.came < t.want {
			continue
		}
		t.busy = false
		if n := t.command - m.first; n < uint64(len(m.queue)) {
			m.queue[n].done = true
		}
	}
}

// Event sees the IOMMU tell the kernel.
func (m *IOMMU) Event(now clocked.Time, e *msg.IOMMUEvent) {
	if e.Kind != msg.EventFence {
		return
	}
	for i := range m.queue {
		c := &m.queue[i]
		switch {
		case c.op == msg.Fence:
			if c.p != e.Command {
				m.log.Report(Fenced, now, "a fence comes back that is not the oldest")
			}
			m.first += uint64(i) + 1
			m.queue = m.queue[:copy(m.queue, m.queue[i+1:])]
			return
		case !c.done && !c.p.TimedOut && !c.p.Refused:
			m.log.Report(Fenced, now, "a fence comes back in front of the invalidation of adapter %d, %d B at %#x", c.adapter, c.length, uint64(c.va))
		}
	}
	m.log.Report(Fenced, now, "a fence comes back that does not wait")
}

// Finish reports what is due at rest.
func (m *IOMMU) Finish(now clocked.Time, rest bool) {
	for i := range m.queue {
		if rest && m.queue[i].op == msg.Fence {
			m.log.Report(Fenced, now, "a fence does not come back")
		}
	}
}
