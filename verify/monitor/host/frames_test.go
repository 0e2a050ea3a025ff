package host

import (
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/verify/rule"
)

// TestRulesFire: each rule is broken by a sequence of orders, by that rule only,
// and holds for the same sequence without the fault; frame 5 holds page 50 of a
// host with two adapters, one of pages of 8 KiB. Restates: INV-2, INV-8.
func TestRulesFire(t *testing.T) {
	op := func(kind msg.PageOpKind, frame, page uint32) *msg.PageOp {
		return &msg.PageOp{Kind: kind, Frame: frame, Page: page}
	}
	write := &msg.DMA{Kind: msg.KindData, Write: true, PA: 0x5040, Len: 8}
	for _, c := range []struct {
		rule      *rule.Rule
		bad, good func(f *Frames)
	}{
		{Reached, func(f *Frames) { f.Reach(0, 0x5000); f.PageOp(1, op(msg.PageOut, 5, 50)) },
			func(f *Frames) { f.Reach(0, 0x5000); f.Leave(0, 0x5000); f.PageOp(1, op(msg.PageOut, 5, 50)) }},
		{Reached, func(f *Frames) { // the first of two has acknowledged
			f.Reach(0, 0x5000)
			f.Reach(1, 0x4000)
			f.Leave(0, 0x5000)
			f.PageOp(1, op(msg.PageFree, 5, 50))
		}, func(f *Frames) { // the second was cut off
			f.Reach(0, 0x5000)
			f.Reach(1, 0x4000)
			f.Leave(0, 0x5000)
			f.CutOff(1)
			f.PageOp(1, op(msg.PageFree, 5, 50))
		}},
		{Reached, func(f *Frames) {
			f.Reach(0, 0x5000)
			f.PageOp(1, &msg.PageOp{Kind: msg.PageCopy, Slot: 5, Frame: 6, Page: 50})
		},
			func(f *Frames) {
				f.Reach(0, 0x7000)
				f.PageOp(1, &msg.PageOp{Kind: msg.PageCopy, Slot: 5, Frame: 6, Page: 50})
			}},
		{Reached, func(f *Frames) { f.Reach(0, 0x5000); f.PageOp(1, op(msg.PageDiscard, 5, 50)) },
			func(f *Frames) { f.Reach(0, 0x5000); f.PageOp(1, op(msg.PageOrphan, 5, 50)) }},
		{Owned, func(f *Frames) { f.PageOp(1, op(msg.PageZero, 5, 51)) }, func(f *Frames) { f.PageOp(1, op(msg.PageFree, 5, 50)); f.PageOp(1, op(msg.PageIn, 5, 51)) }},
		{Kept, func(f *Frames) { f.Wrote(write); f.PageOp(1, op(msg.PageFree, 5, 50)) },
			func(f *Frames) {
				f.Wrote(write)
				f.PageOp(1, op(msg.PageOut, 5, 50))
				f.PageOp(1, op(msg.PageFree, 5, 50))
			}},
		{Kept, func(f *Frames) { // it moved with the page
			f.Wrote(write)
			f.PageOp(1, &msg.PageOp{Kind: msg.PageCopy, Slot: 5, Frame: 6, Page: 50})
			f.PageOp(1, op(msg.PageFree, 6, 50))
		}, func(f *Frames) {
			f.Wrote(write)
			f.PageOp(1, &msg.PageOp{Kind: msg.PageCopy, Slot: 5, Frame: 6, Page: 50})
			f.PageOp(1, op(msg.PageFree, 5, 50))
		}},
		{Kept, func(f *Frames) { f.Wrote(write); f.PageOp(1, op(msg.PageFree, 5, 50)) },
			func(f *Frames) { f.Wrote(write); f.PageOp(1, op(msg.PageDiscard, 5, 50)) }},
	} {
		t.Run(c.rule.ID, func(t *testing.T) {
			build := func() (*Frames, *rule.Log) {
				log := &rule.Log{}
				f := New(12, []model.PageShift{12, 13}, log)
				f.Resident(5, 50)
				return f, log
			}
			f, log := build()
			c.bad(f)
			if log.Count(c.rule.ID) == 0 || len(log.Violations()) != int(log.Count(c.rule.ID)) {
				t.Errorf("%v", log.Violations())
			}
			f, log = build()
			c.good(f)
			if len(log.Violations()) > 0 {
				t.Errorf("false alarm: %v", log.Violations())
			}
		})
	}
}
