package ats

import (
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model/ats"
	"rnicmmu/verify/rule"
)

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
