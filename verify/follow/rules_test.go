package follow

import (
	"strings"
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/verify/rule"
)

const frame1, frame2 = model.PA(1 << 12), model.PA(2 << 12)

// flush has the cache forget page 4.
func flush(b *bench, tag uint8) {
	b.order(msg.IOTLBInvalidate)
	b.order(msg.DevTLBInvalidate)
	f := b.order(msg.Fence)
	b.invalidate(tag)
	b.leave(tag)
	b.complete(tag)
	b.complete(tag)
	b.fence(f)
}

func zapped(b *bench) {
	z := b.zap()
	b.acknowledge(z)
	b.done(z)
}

// TestRulesFire: each rule is broken by a sequence of messages and by that rule
// only, and holds for the same sequence without the fault. Restates: INV-1, INV-2,
// INV-8, FLT-4, FLT-11, ATS-1, ATS-2, ATS-3, ATS-4, ATS-5.
func TestRulesFire(t *testing.T) {
	for _, c := range []struct {
		rule      *rule.Rule
		bad, good func(b *bench)
	}{
		{ruleSaved, func(b *bench) { b.dma(0, 1, true); zapped(b); b.op(msg.PageFree, 1) },
			func(b *bench) { b.dma(0, 1, true); zapped(b); b.op(msg.PageOut, 1); b.op(msg.PageFree, 1) }},
		{ruleSaved, func(b *bench) { zapped(b); b.op(msg.PageOut, 1); b.dma(0, 1, true); b.op(msg.PageFree, 1) },
			func(b *bench) { zapped(b); b.dma(0, 1, true); b.op(msg.PageDiscard, 1) }},
		{ruleOwn, func(b *bench) { b.op(msg.PageZero, 2) }, func(b *bench) { zapped(b); b.op(msg.PageFree, 1); b.op(msg.PageZero, 2) }},
		{ruleOwn, func(b *bench) { zapped(b); b.op(msg.PageFree, 2) }, func(b *bench) { zapped(b); b.op(msg.PageCopy, 2); b.op(msg.PageFree, 1) }},
		{ruleData, func(b *bench) { b.dma(0, 2, false) }, func(b *bench) { b.dma(1, 1, false); b.dma(0, 1, true) }},
		{ruleData, func(b *bench) { zapped(b); b.op(msg.PageCopy, 2); b.dma(0, 1, true) },
			func(b *bench) { zapped(b); b.op(msg.PageCopy, 2); b.dma(0, 2, true) }},
		{ruleEnd, func(b *bench) { b.fault(3); b.Finish(9, true) }, func(b *bench) { b.fault(3); b.resume(3); b.Finish(9, true) }},
		{ruleEnd, func(b *bench) { b.zap(); b.Finish(9, true) }, func(b *bench) { b.zap(); b.Finish(9, false) }},
		{ruleFrame, func(b *bench) { b.acknowledge(b.zap()); b.op(msg.PageFree, 1) }, func(b *bench) { zapped(b); b.op(msg.PageFree, 1) }},
		{ruleFrame, func(b *bench) { b.op(msg.PageCopy, 2) }, func(b *bench) { b.cutOff(1, &b.adapters[0]); b.op(msg.PageCopy, 2) }},
		{ruleDrain, func(b *bench) { b.give(0, 7, page4, frame1); b.acknowledge(b.zap()) },
			func(b *bench) { b.give(0, 7, page4, frame1); z := b.zap(); b.take(0, 7); b.acknowledge(z) }},
		{ruleGiven, func(b *bench) { zapped(b); b.give(0, 7, page4, frame1) }, func(b *bench) { b.zap(); b.give(0, 7, page4, frame1) }},
		{ruleGiven, func(b *bench) { b.give(0, 7, page4+8, frame2+8) }, func(b *bench) { b.give(0, 7, page4+8, frame1+8) }},
		{ruleGiven, func(b *bench) { zapped(b); b.op(msg.PageCopy, 2); b.give(0, 7, page4, frame2) },
			func(b *bench) { zapped(b); b.op(msg.PageCopy, 2); b.fill(2); b.give(0, 7, page4, frame2) }},
		{ruleFill, func(b *bench) { zapped(b); b.fill(2) }, func(b *bench) { zapped(b); b.done(b.fill(1)) }},
		{ruleFill, func(b *bench) { b.zap(); b.fill(1) }, func(b *bench) { b.done(b.zap()); b.fill(1) }},
		{ruleFault, func(b *bench) { b.fault(3); b.resume(3); b.resume(3) }, func(b *bench) { b.fault(3); b.resume(3); b.fault(3); b.resume(3) }},
		{ruleOrder, func(b *bench) { b.done(b.post(&msg.Command{Op: msg.CmdUnsuspend, Entry: 8, Count: 1})) },
			func(b *bench) {
				for _, op := range []msg.CommandOp{msg.CmdSuspend, msg.CmdUnsuspend} {
					b.done(b.post(&msg.Command{Op: op, Entry: 8, Count: 2}))
				}
			}},
		{ruleOrder, func(b *bench) { z := b.zap(); b.done(z); b.done(z) }, func(b *bench) { b.done(b.zap()); b.done(b.zap()) }},

		{ruleFlushed, func(b *bench) { b.order(msg.DevTLBInvalidate) }, func(b *bench) { b.order(msg.IOTLBInvalidate); b.order(msg.DevTLBInvalidate) }},
		{ruleFence, func(b *bench) {
			b.order(msg.IOTLBInvalidate)
			b.order(msg.DevTLBInvalidate)
			f := b.order(msg.Fence)
			b.invalidate(0)
			b.complete(0)
			b.fence(f)
		}, func(b *bench) { flush(b, 0) }},
		{ruleFence, func(b *bench) {
			zapped(b)
			b.order(msg.IOTLBInvalidate)
			b.order(msg.DevTLBInvalidate)
			b.op(msg.PageFree, 1)
		},
			func(b *bench) { zapped(b); flush(b, 1); b.op(msg.PageFree, 1) }},
		{ruleTag, func(b *bench) { b.invalidate(3); b.complete(3); b.invalidate(3) }, func(b *bench) { b.invalidate(3); b.complete(3); b.complete(3); b.invalidate(3) }},
		{ruleTag, func(b *bench) { b.invalidate(3); b.complete(2) }, func(b *bench) { b.invalidate(3); b.complete(3) }},
		{ruleAnswer, func(b *bench) { b.translate(2) }, func(b *bench) { b.translate(1) }},
		{ruleKept, func(b *bench) { zapped(b); b.translate(1); b.op(msg.PageCopy, 2) }, func(b *bench) { zapped(b); b.translate(1); flush(b, 0); b.op(msg.PageCopy, 2) }},
		{ruleCached, func(b *bench) { b.translate(1); flush(b, 0); b.give(1, 7, page4, frame1) },
			func(b *bench) { b.translate(1); flush(b, 0); b.translate(1); b.give(1, 7, page4, frame1) }},
		{ruleCached, func(b *bench) { b.give(1, 7, page4, frame1) }, func(b *bench) { b.translate(1); b.give(1, 7, page4, frame1) }},
		{ruleBehind, func(b *bench) { b.translate(1); b.give(1, 7, page4, frame1); b.invalidate(0); b.leave(0) },
			func(b *bench) { b.translate(1); b.give(1, 7, page4, frame1); b.invalidate(0); b.take(1, 7); b.leave(0) }},
		{ruleGroup, func(b *bench) { b.request(3); b.respond(3); b.respond(3) }, func(b *bench) { b.request(3); b.respond(3) }},
		{ruleGroup, func(b *bench) { b.request(3); b.request(3) }, func(b *bench) { b.request(3); b.respond(3); b.request(3) }},
	} {
		bad, good := newBench(12, 12), newBench(12, 12)
		c.bad(bad)
		if all := bad.log.Violations(); len(all) != 1 || all[0].Rule != c.rule.ID {
			t.Errorf("%s: broken, and seen is %v", c.rule.ID, all)
		}
		c.good(good)
		if all := good.log.Violations(); len(all) > 0 {
			t.Errorf("%s: kept, and seen is %v", c.rule.ID, all)
		}
	}
}

// TestStory: a refusal names the page and what was seen of it before, the oldest
// first, and nothing of the page is told behind it.
func TestStory(t *testing.T) {
	b := newBench(12, 12)
	for range 20 {
		b.dma(0, 1, false)
	}
	b.dma(0, 2, true)
	b.dma(0, 2, true)
	all := b.log.Violations()
	if len(all) != 1 || strings.Count(all[0].What, "DMA, page 4, frame 1 (read)") != kept-1 || !strings.HasPrefix(all[0].What, "page 4: adapter 0 → memory: DMA, page 4, frame 2 (write)") {
		t.Errorf("%v", all)
	}
	if b.Stats != (Stats{Pages: 1, Events: 21}) {
		t.Errorf("%+v", b.Stats)
	}
}

// TestPagesOfOtherSizes: of a page that has many entries one is followed, and the
// entry of several pages is that of each.
func TestPagesOfOtherSizes(t *testing.T) {
	b := newBench(21, 12) // 512 entries a page
	b.give(0, 7, page4+0x5008, 1<<21+0x15008)
	b.give(0, 8, page4+0x6000, 3<<21) // another entry is not looked at
	b.done(b.post(&msg.Command{Op: msg.CmdInvalidate, Entry: 8, Count: 5}))
	if all := b.log.Violations(); len(all) > 0 {
		t.Fatal(all)
	}
	b.acknowledge(b.post(&msg.Command{Op: msg.CmdInvalidate, Entry: 12, Count: 3}))
	if b.log.Count(ruleDrain.ID) != 1 {
		t.Errorf("%v", b.log.Violations())
	}
	b = newBench(12, 13) // pages 4 and 5 in one entry, at frames 0 and 1
	b.start.fills[0][0].PA, b.start.resident[0].Frame = 0, 0
	b.give(0, 7, page4+0x1008, 0x1008)
	b.give(0, 8, page4+8, 8)
	if all := b.log.Violations(); len(all) > 0 {
		t.Fatal(all)
	}
	b.give(0, 9, page4+8, 0x2008)
	if b.log.Count(ruleGiven.ID) != 1 {
		t.Errorf("%v", b.log.Violations())
	}
}

// TestLeftOut: a page that has two entries on an adapter is not followed, nor one
// that its registration outlived.
func TestLeftOut(t *testing.T) {
	b := newBench(12, 12)
	a := &b.adapters[0]
	again := a.byEntry[0]
	again.FirstEntry = 20
	a.lay(append(a.byEntry, again), 12)
	b.dma(0, 9, true)
	b.give(0, 7, page4, 9<<12)
	if b.Stats != (Stats{LeftOut: 1}) || len(b.log.Violations()) > 0 {
		t.Errorf("%+v %v", b.Stats, b.log.Violations())
	}
	b = newBench(12, 12)
	b.op(msg.PageOrphan, 1)
	b.dma(0, 1, true)
	b.dma(0, 9, true)
	if b.Stats.LeftOut != 1 || len(b.log.Violations()) > 0 {
		t.Errorf("%+v %v", b.Stats, b.log.Violations())
	}
}

// TestNoAllocation: what goes on at a page again and again costs no memory.
func TestNoAllocation(t *testing.T) {
	b := newBench(12, 12)
	zap := &msg.Command{Op: msg.CmdInvalidate, Entry: 8, Count: 1}
	fill := &msg.Command{Op: msg.CmdFill, Entry: 8, Count: 1, Write: true, PA: []model.PA{frame1}}
	again := func() {
		b.give(0, 7, page4, frame1)
		b.dma(0, 1, true)
		b.take(0, 7)
		for _, m := range []*msg.Command{zap, fill} {
			b.doorbell(b.now, &msg.Doorbell{Body: m})
			b.leaves(b.now, &b.adapters[0], &msg.DMA{Kind: msg.KindCQE, Body: m})
			b.inbox(b.now, &msg.Inbox{Body: m})
		}
		b.translate(1)
		b.give(1, 7, page4, frame1)
		b.take(1, 7)
	}
	again()
	if n := testing.AllocsPerRun(100, again); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if len(b.log.Violations()) > 0 {
		t.Error(b.log.Violations())
	}
}
