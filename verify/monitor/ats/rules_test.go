package ats

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/verify/rule"
)

// bench feeds the monitors with messages by hand: an adapter of process 1 with
// ATS, two page requests allocated, and the IOMMU before it, two invalidations
// deep.
type bench struct {
	*Device
	iommu *IOMMU
	log   *rule.Log
	now   clocked.Time
}

func newBench() *bench {
	log := &rule.Log{}
	return &bench{log: log, iommu: NewIOMMU([]int{2}, log),
		Device: NewDevice(DeviceConfig{On: true, PASID: 1, Shift: 12, Allocation: 2}, log)}
}

func (b *bench) request(slot uint64, pa model.PA) {
	b.now++
	b.DMA(b.now, &msg.DMA{Kind: msg.KindATS, PA: pa, Len: 8, Cookie: slot, Address: msg.Address{PASID: 1}})
}

func (b *bench) reply(slot uint64, t ats.Translation) {
	b.Done(b.now, &msg.DMADone{Kind: msg.KindATS, Cookie: slot, Entry: ats.Encode(t)})
}

// ask brings the translation of page 1.
func (b *bench) ask(t ats.Translation) {
	b.request(0, 0x1000)
	b.reply(0, t)
}

func (b *bench) give(write bool) {
	b.now++
	b.Given(b.now, 0x1008, write, &msg.Translation{Handle: 3, PA: 0x5008, Write: write})
}

func (b *bench) invalidate(tag uint8) {
	b.Doorbell(b.now, &msg.Doorbell{Body: &msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{ITag: tag, PASID: 1, Range: ats.Range{VA: 0x1000, Shift: 12}}}})
}

func done(tags uint32) *msg.InvalidateDone {
	return &msg.InvalidateDone{InvalidateCompletion: ats.InvalidateCompletion{ITags: tags, Count: 1}}
}

func (b *bench) complete(tags uint32) {
	b.DMA(b.now, &msg.DMA{Kind: msg.KindMessage, Body: done(tags)})
}

func (b *bench) askPage(group uint16, last bool) {
	b.DMA(b.now, &msg.DMA{Kind: msg.KindMessage, Body: &msg.PageRequest{PageRequest: ats.PageRequest{Group: group, Last: last, Read: true, PASID: 1}}})
}

func (b *bench) respond(group uint16, code ats.ResponseCode) {
	b.Doorbell(b.now, &msg.Doorbell{Body: &msg.PageResponse{PageResponse: ats.PageResponse{Group: group, Code: code}}})
}

func (b *bench) store(pa model.PA) {
	b.Data(b.now, &msg.DMA{Kind: msg.KindData, Write: true, PA: pa, Len: 64, Address: msg.Address{Translated: true}})
}

// queue is a command of the kernel's for the page at va.
func (b *bench) queue(op msg.IOMMUOp, va model.VA, n uint64) *msg.IOMMUCommand {
	c := &msg.IOMMUCommand{Op: op, PASID: 1, First: va, Len: n}
	b.iommu.Command(b.now, &c)
	return c
}

func (b *bench) send(tag uint8, va model.VA, shift model.PageShift) {
	b.iommu.Message(b.now, &msg.Doorbell{Body: &msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{ITag: tag, PASID: 1, Range: ats.Range{VA: va, Shift: shift}}}})
}

func (b *bench) arrive(tags uint32) {
	r := &msg.MemReq{Kind: msg.KindMessage, Body: done(tags)}
	b.iommu.Arrived(b.now, r)
	b.Device.Arrived(b.now, r)
}

func (b *bench) fenced(c *msg.IOMMUCommand) {
	b.iommu.Event(b.now, &msg.IOMMUEvent{Kind: msg.EventFence, Command: c})
}

// both flushes the IOTLB and asks for the adapter's invalidation.
func (b *bench) both(va model.VA, n uint64) {
	b.queue(msg.IOTLBInvalidate, va, n)
	b.queue(msg.DevTLBInvalidate, va, n)
}

var loads = ats.Translation{PA: 0x5000, Shift: 12, Read: true}
var storable = ats.Translation{PA: 0x5000, Shift: 12, Read: true, Write: true}

// TestRulesFire: each rule is broken by a sequence of messages, by that rule
// only, and holds for the same sequence without the fault. Restates: ATS-1,
// ATS-2, ATS-3, ATS-4, ATS-5, ATS-6, ATS-10.
func TestRulesFire(t *testing.T) {
	for _, c := range []struct {
		rule      *rule.Rule
		bad, good func(b *bench)
	}{
		{Translated, func(b *bench) { b.Data(1, &msg.DMA{Kind: msg.KindData, PA: 0x5000, Len: 8}) },
			func(b *bench) {
				b.Data(1, &msg.DMA{Kind: msg.KindData, PA: 0x5000, Len: 8, Address: msg.Address{Translated: true}})
			}},
		{Translated, func(b *bench) { b.config.On = false; b.store(0x5000) }, func(b *bench) { b.store(0x5000) }},
		{Translated, func(b *bench) {
			b.DMA(1, &msg.DMA{Kind: msg.KindMTT, Address: msg.Address{Translated: true}})
		}, func(b *bench) { b.DMA(1, &msg.DMA{Kind: msg.KindMTT}) }},
		{Aligned, func(b *bench) { b.request(0, 0x1800) }, func(b *bench) { b.request(0, 0x2000) }},
		{Aligned, func(b *bench) {
			b.DMA(1, &msg.DMA{Kind: msg.KindATS, PA: 0x1000, Len: 8, Address: msg.Address{PASID: 2}})
		}, func(b *bench) { b.request(0, 0x1000) }},
		{Empty, func(b *bench) { b.ask(ats.Translation{PA: 0x5000, Shift: 12}); b.give(false) }, func(b *bench) { b.ask(loads); b.give(false) }},
		{Untranslated, func(b *bench) {
			b.ask(ats.Translation{PA: 0x5000, Shift: 12, Read: true, Untranslated: true})
			b.give(false)
		}, func(b *bench) { b.ask(loads); b.give(false) }},
		{Stale, func(b *bench) { b.ask(loads); b.invalidate(2); b.complete(1 << 2); b.give(false) },
			func(b *bench) { b.ask(loads); b.invalidate(2); b.give(false); b.Taken(3); b.complete(1 << 2) }},
		{Stale, func(b *bench) { // the answer comes late
			b.request(0, 0x1000)
			b.invalidate(2)
			b.complete(1 << 2)
			b.reply(0, loads)
			b.give(false)
		}, func(b *bench) {
			b.invalidate(2)
			b.request(0, 0x1000)
			b.complete(1 << 2)
			b.reply(0, loads)
			b.give(false)
		}},
		{Drained, func(b *bench) { b.ask(loads); b.give(false); b.invalidate(2); b.complete(1 << 2) },
			func(b *bench) { b.ask(loads); b.give(false); b.invalidate(2); b.Taken(3); b.complete(1 << 2) }},
		{Permitted, func(b *bench) { b.ask(loads); b.give(true) }, func(b *bench) { b.ask(storable); b.give(true) }},
		{Permitted, func(b *bench) {
			b.ask(ats.Translation{PA: 0x200000, Shift: 21, Read: true}) // page 1 of it is at 0x201000
			b.give(false)
		}, func(b *bench) {
			b.ask(ats.Translation{PA: 0x200000, Shift: 21, Read: true})
			b.Given(1, 0x1008, false, &msg.Translation{Handle: 3, PA: 0x201008})
		}},
		{Pushed, func(b *bench) {
			b.ask(storable)
			b.store(0x5000)
			b.invalidate(1)
			b.complete(1 << 1)
			b.tag(1)
			b.arrive(1 << 1)
		}, func(b *bench) {
			b.ask(storable)
			b.store(0x5000)
			b.invalidate(1)
			b.complete(1 << 1)
			b.tag(1)
			b.Device.Arrived(1, &msg.MemReq{Kind: msg.KindData, Write: true, PA: 0x5000, Len: 64})
			b.arrive(1 << 1)
		}},
		{Tagged, func(b *bench) {
			b.both(0x1000, 4096)
			b.both(0x2000, 4096)
			b.send(1, 0x1000, 12)
			b.send(1, 0x2000, 12)
		},
			func(b *bench) {
				b.both(0x1000, 4096)
				b.both(0x2000, 4096)
				b.send(1, 0x1000, 12)
				b.arrive(1 << 1)
				b.send(1, 0x2000, 12)
			}},
		{Tagged, func(b *bench) { // timed out, and not completed
			b.queue(msg.IOTLBInvalidate, 0x1000, 4096)
			x := b.queue(msg.DevTLBInvalidate, 0x1000, 4096)
			b.send(1, 0x1000, 12)
			x.TimedOut = true
			b.fenced(b.queue(msg.Fence, 0, 0))
			b.both(0x2000, 4096)
			b.send(1, 0x2000, 12)
		}, func(b *bench) {
			b.queue(msg.IOTLBInvalidate, 0x1000, 4096)
			x := b.queue(msg.DevTLBInvalidate, 0x1000, 4096)
			b.send(1, 0x1000, 12)
			x.TimedOut = true
			b.fenced(b.queue(msg.Fence, 0, 0))
			b.both(0x2000, 4096)
			b.send(0, 0x2000, 12)
		}},
		{Counted, func(b *bench) { b.arrive(1 << 3) }, func(b *bench) { b.tag(3); b.arrive(1 << 3) }},
		{Counted, func(b *bench) { b.complete(1 << 3) }, func(b *bench) { b.invalidate(3); b.complete(1 << 3) }},
		{Bounded, func(b *bench) { b.tag(0); b.tag(1); b.tag(2) }, func(b *bench) { b.tag(0); b.tag(1) }},
		{Ordered, func(b *bench) {
			b.queue(msg.DevTLBInvalidate, 0x1000, 4096)
			b.queue(msg.IOTLBInvalidate, 0x1000, 4096)
		},
			func(b *bench) { b.both(0x1000, 4096) }},
		{Ordered, func(b *bench) {
			b.queue(msg.IOTLBInvalidate, 0x1000, 4096)
			b.queue(msg.DevTLBInvalidate, 0x1000, 8192)
		},
			func(b *bench) { b.queue(msg.IOTLBInvalidate, 0, 0); b.queue(msg.DevTLBInvalidate, 0x1000, 8192) }},
		{Ordered, func(b *bench) { b.both(0x1000, 4096); b.queue(msg.DevTLBInvalidate, 0x1000, 4096) },
			func(b *bench) { b.both(0x1000, 4096); b.both(0x1000, 4096) }},
		{Covered, func(b *bench) { b.both(0x3000, 8192); b.send(0, 0x3000, 12) }, func(b *bench) { b.both(0x3000, 8192); b.send(0, 0, 15) }},
		{Fenced, func(b *bench) {
			b.both(0x1000, 4096)
			f := b.queue(msg.Fence, 0, 0)
			b.send(0, 0x1000, 12)
			b.fenced(f)
		},
			func(b *bench) {
				b.both(0x1000, 4096)
				f := b.queue(msg.Fence, 0, 0)
				b.send(0, 0x1000, 12)
				b.arrive(1)
				b.fenced(f)
			}},
		{Fenced, func(b *bench) { f := b.queue(msg.Fence, 0, 0); b.fenced(f); b.fenced(f) }, func(b *bench) { b.fenced(b.queue(msg.Fence, 0, 0)) }},
		{Fenced, func(b *bench) { f, g := b.queue(msg.Fence, 0, 0), b.queue(msg.Fence, 0, 0); b.fenced(g); b.fenced(f) },
			func(b *bench) { f, g := b.queue(msg.Fence, 0, 0), b.queue(msg.Fence, 0, 0); b.fenced(f); b.fenced(g) }},
		{Fenced, func(b *bench) { b.queue(msg.Fence, 0, 0) }, func(b *bench) { b.fenced(b.queue(msg.Fence, 0, 0)) }},
		{Credited, func(b *bench) { b.askPage(0, false); b.askPage(0, false); b.askPage(0, true); b.respond(0, 0) },
			func(b *bench) {
				b.askPage(0, false)
				b.askPage(0, true)
				b.respond(0, 0)
				b.askPage(1, true)
				b.respond(1, 0)
			}},
		{Indexed, func(b *bench) { b.askPage(0, true); b.askPage(0, true); b.respond(0, 0) },
			func(b *bench) { b.askPage(0, true); b.respond(0, 0); b.askPage(0, true); b.respond(0, 0) }},
		{Responded, func(b *bench) { b.askPage(0, true); b.respond(1, 0); b.respond(0, 0) }, func(b *bench) { b.askPage(0, true); b.respond(0, 0) }},
		{Responded, func(b *bench) { b.askPage(0, true) }, func(b *bench) { b.askPage(0, true); b.respond(0, ats.ResponseInvalid) }},
		{Responded, func(b *bench) { b.askPage(0, false); b.respond(0, 0); b.askPage(0, true); b.respond(0, 0) },
			func(b *bench) { b.askPage(0, false); b.askPage(0, true); b.respond(0, 0) }},
		{Disabled, func(b *bench) {
			b.askPage(0, true)
			b.respond(0, ats.ResponseFailure)
			b.askPage(1, true)
			b.groups = [ats.MaxGroups]group{}
		},
			func(b *bench) { b.askPage(0, true); b.respond(0, ats.ResponseFailure) }},
		{Marked, func(b *bench) {
			b.DMA(1, &msg.DMA{Kind: msg.KindMessage, Body: &msg.PageRequest{PageRequest: ats.PageRequest{Last: true, PASID: 1}}})
			b.askPage(0, true)
			b.respond(0, 0)
		}, func(b *bench) {
			b.askPage(0, true)
			b.respond(0, 0)
			b.DMA(1, &msg.DMA{Kind: msg.KindMessage, Body: &msg.PageRequest{PageRequest: ats.PageRequest{Last: true, PASID: 1}}})
		}},
	} {
		t.Run(c.rule.ID, func(t *testing.T) {
			b := newBench()
			c.bad(b)
			b.finish()
			for _, v := range b.log.Violations() {
				if v.Rule != c.rule.ID {
					t.Errorf("broken too: %s: %s", v.Rule, v.What)
				}
			}
			if b.log.Count(c.rule.ID) == 0 {
				t.Error("not seen")
			}
			b = newBench()
			c.good(b)
			b.finish()
			for _, v := range b.log.Violations() {
				t.Errorf("false alarm: %s: %s", v.Rule, v.What)
			}
		})
	}
}

func (b *bench) finish() {
	b.Device.Finish(b.now, true)
	b.iommu.Finish(b.now, true)
}

// tag has the IOMMU send an Invalidate Request for a page of its own.
func (b *bench) tag(tag uint8) {
	va := model.VA(0x100000 + uint64(tag)<<12)
	b.both(va, 4096)
	b.send(tag, va, 12)
}
