package follow

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/platform"
	"rnicmmu/verify/monitor/dense"
	"rnicmmu/verify/protocol"
	"rnicmmu/verify/wires"
)

// tag is the Invalidate Request of an ITag.
type tag struct {
	out        bool
	came, want uint8
	first, end model.VA // of its range
}

// command is a devTLB command or a fence.
type command struct {
	p          *msg.IOMMUCommand
	fence      bool
	adapter    uint16
	first, end model.VA
}

func (c *Path) watchIOMMU(s *platform.System) {
	for _, w := range wires.Of[*msg.IOMMUCommand](s, "kernel", "iommu") {
		w.Wire.OnSent(c.ordered)
	}
	for _, w := range wires.Of[msg.IOMMUEvent](s, "iommu", "kernel") {
		w.Wire.OnSent(c.fenced)
	}
	for _, w := range wires.Of[msg.Doorbell](s, "iommu", "") {
		w.Wire.OnSent(c.message)
	}
	for _, w := range wires.Of[msg.MemReq](s, "", "iommu") {
		w.Wire.OnTaken(c.arrived)
	}
	for _, w := range wires.Of[msg.MemDone](s, "iommu", "") {
		w.Wire.OnSent(c.translated)
	}
}

// ordered: the kernel queues a command.
func (c *Path) ordered(now clocked.Time, m **msg.IOMMUCommand) {
	o := *m
	x := command{p: o, fence: o.Op == msg.Fence, adapter: o.Adapter, first: o.First, end: o.First + model.VA(o.Len)}
	if o.Len == 0 {
		x.end = everything
	}
	e := protocol.Event{Adapter: o.Adapter}
	switch {
	case o.Op == msg.IOTLBInvalidate && o.PASID == kernel.PASID:
		e.Kind, e.Adapter = protocol.IOTLBOrdered, 0
		c.each(now, x.first, x.end, e, true)
	case o.Op == msg.DevTLBInvalidate && c.follows(o.Adapter):
		e.Kind = protocol.DevTLBOrdered
		c.each(now, x.first, x.end, e, true)
		c.commands = append(c.commands, x)
	case o.Op == msg.Fence:
		c.commands = append(c.commands, x)
	}
}

// everything is behind the last address.
const everything = ^model.VA(0)

// follows tells whether an adapter asks the IOMMU, and does still.
func (c *Path) follows(adapter uint16) bool {
	return int(adapter) < len(c.adapters) && c.adapters[adapter].cache && !c.adapters[adapter].dead
}

// fenced: a fence is complete, and with it all before it.
func (c *Path) fenced(now clocked.Time, m *msg.IOMMUEvent) {
	if m.Kind != msg.EventFence {
		return
	}
	for i := range c.commands {
		x := &c.commands[i]
		if x.fence {
			c.commands = c.commands[:copy(c.commands, c.commands[i+1:])]
			return
		}
		e := protocol.Event{Kind: protocol.FenceArrived, Adapter: x.adapter}
		if x.p.TimedOut || x.p.Refused {
			e.Kind = protocol.TimedOut
		}
		if c.follows(x.adapter) {
			c.each(now, x.first, x.end, e, false)
		}
	}
}

// message: the IOMMU sends to an adapter.
func (c *Path) message(now clocked.Time, d *msg.Doorbell) {
	if !c.follows(d.Adapter) {
		return
	}
	a := &c.adapters[d.Adapter]
	switch body := d.Body.(type) {
	case *msg.Invalidate:
		x := tag{out: true, first: body.Range.VA, end: everything}
		if body.Range.Shift < 64 {
			x.first &^= model.VA(body.Range.Shift.Bytes() - 1)
			x.end = x.first + model.VA(body.Range.Shift.Bytes())
		}
		if !body.Global && body.PASID != kernel.PASID {
			x.end = x.first
		}
		t := &a.tags[body.ITag%ats.MaxTags]
		if t.out {
			c.log.Report(ruleTag, now, "adapter %d: an Invalidate Request for %#x leaves with ITag %d, which is out for %#x", d.Adapter, uint64(x.first), body.ITag, uint64(t.first))
		}
		*t = x
		c.each(now, x.first, x.end, protocol.Event{Kind: protocol.DevTLBSent, Adapter: d.Adapter, Token: uint32(body.ITag)}, false)
	case *msg.PageResponse:
		c.responded(now, a, body)
	}
}

func (c *Path) responded(now clocked.Time, a *adapter, body *msg.PageResponse) {
	if int(body.Group) < len(a.faults) && a.faults[body.Group] > 0 {
		n := a.faults[body.Group] - 1
		c.step(now, c.known(n), protocol.Event{Kind: protocol.Answered, Adapter: a.number, Page: n, Token: uint32(body.Group)})
	}
}

// arrived: the IOMMU takes something of an adapter's.
func (c *Path) arrived(now clocked.Time, m *msg.MemReq) {
	if m.Kind != msg.KindMessage || !c.follows(m.Adapter) {
		return
	}
	a := &c.adapters[m.Adapter]
	switch body := m.Body.(type) {
	case *msg.InvalidateDone:
		for left := body.ITags; left != 0; left &= left - 1 {
			c.completed(now, a, bits.TrailingZeros32(left), body.Count)
		}
	case *msg.PageRequest:
		c.requested(now, a, body)
	}
}

// completed is one Invalidate Completion of an ITag; the last of them counts.
func (c *Path) completed(now clocked.Time, a *adapter, n int, count uint8) {
	t := &a.tags[n]
	if !t.out {
		c.log.Report(ruleTag, now, "adapter %d: a completion of ITag %d, which is not out", a.number, n)
		return
	}
	t.came++
	if t.want = max(t.want, count); t.came < t.want {
		return
	}
	t.out = false
	c.each(now, t.first, t.end, protocol.Event{Kind: protocol.CompletionArrived, Adapter: a.number, Token: uint32(n)}, false)
}

// requested is a page request. A group waits from its last one on.
func (c *Path) requested(now clocked.Time, a *adapter, r *msg.PageRequest) {
	if !r.Last || r.StopMarker() || r.PASID != kernel.PASID {
		return
	}
	if n, ok := c.pageAt(r.VA); ok {
		*dense.Slot(&a.faults, uint64(r.Group)) = n + 1
		c.step(now, c.touched(n, r.VA), protocol.Event{Kind: protocol.PageRequestArrived, Adapter: a.number, Page: n, Token: uint32(r.Group), Write: r.Write})
	}
}

// translated: a translation completion leaves the IOMMU. The adapter uses it for
// the page that it has asked for, and not where the answer is for less.
func (c *Path) translated(now clocked.Time, m *msg.MemDone) {
	if m.Kind != msg.KindATS || m.Status != msg.StatusSuccess || !c.follows(m.Adapter) {
		return
	}
	a, t := &c.adapters[m.Adapter], ats.Decode(m.Entry)
	if !t.Read && !t.Write || t.Untranslated || t.Shift < a.shift {
		return
	}
	n, ok := c.pageAt(model.VA(m.PA))
	if !ok {
		return
	}
	p := c.touched(n, model.VA(m.PA))
	if a.shift.Number(model.VA(m.PA)) != a.shift.Number(p.place.va) {
		return
	}
	in := model.PA(t.Shift.Bytes() - 1)
	c.step(now, p, protocol.Event{Kind: protocol.TranslationAnswered, Adapter: a.number, Page: n,
		Frame: a.frame(p, t.PA&^in|model.PA(p.place.va)&in), Write: t.Write})
}
