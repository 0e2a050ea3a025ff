package tpt

import (
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/verify/rule"
)

// TestRulesFire: each rule is broken by a sequence of messages and by that rule
// only, and holds for the same sequence without the fault. Restates: INV-1,
// KEY-1, KEY-2, KEY-3, KEY-4, FLT-1, FLT-2, FLT-8.
func TestRulesFire(t *testing.T) {
	hold := func(m *msg.Translate) { m.Hold = true }
	for _, c := range []struct {
		rule      *rule.Rule
		bad, good func(b *bench)
	}{
		{Answered, func(b *bench) { b.ask(model.OpRead, 0x10000) }, func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true); b.release(3) }},
		{Answered, func(b *bench) { b.ask(model.OpRead, 0x10000); b.ask(model.OpRead, 0x10000); b.give(3, frame0, true) },
			func(b *bench) {
				b.ask(model.OpRead, 0x10000)
				b.give(3, frame0, true)
				b.ask(model.OpRead, 0x10000)
				b.give(4, frame0, true)
			}},
		{Once, func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true); b.give(4, frame0, true) },
			func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true) }},
		{Once, func(b *bench) { b.Translation(1, &msg.Translation{Outcome: msg.OutcomeRevoke, Handle: 3}) },
			func(b *bench) {
				b.ask(model.OpRead, 0x10000)
				b.give(3, frame0, true)
				b.Translation(9, &msg.Translation{Outcome: msg.OutcomeRevoke, Handle: 3})
			}},
		{Released, func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true); b.release(3); b.release(3) },
			func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true); b.release(3) }},
		{Released, func(b *bench) {
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame0, true)
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame0, true)
		}, func(b *bench) {
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame0, true)
			b.release(3)
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame0, true)
		}},
		{Current, func(b *bench) { b.execute(zap(0)); b.ask(model.OpRead, 0x10000); b.give(3, frame0, true) },
			func(b *bench) {
				b.execute(zap(0))
				b.execute(&msg.Command{Op: msg.CmdFill, Entry: 0, Count: 1, Write: true, PA: []model.PA{frame1}})
				b.ask(model.OpRead, 0x10004)
				b.give(3, frame1+4, true)
			}},
		{Current, func(b *bench) { b.ask(model.OpRead, 0x10004); b.give(3, frame0, true) }, func(b *bench) { b.ask(model.OpRead, 0x10004); b.give(3, frame0+4, true) }},
		{Current, func(b *bench) { // the fill under way is for another frame
			b.command(&msg.Command{Op: msg.CmdFill, Entry: 2, Count: 1, Write: true, PA: []model.PA{frame1}})
			b.ask(model.OpRead, 0x12000)
			b.give(3, frame0, true)
			b.commands = nil
		}, func(b *bench) {
			b.command(&msg.Command{Op: msg.CmdFill, Entry: 2, Count: 1, Write: true, PA: []model.PA{frame1}})
			b.ask(model.OpRead, 0x12000)
			b.give(3, frame1, true)
			b.commands = nil
		}},
		{Drained, func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true); b.execute(zap(0)); b.release(3) },
			func(b *bench) {
				b.ask(model.OpRead, 0x10000)
				b.give(3, frame0, true)
				b.command(zap(0))
				b.release(3)
				b.completed(b.commands[0].p)
			}},
		{Drained, func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true); b.execute(deregister()) },
			func(b *bench) {
				b.ask(model.OpRead, 0x10000)
				b.give(3, frame0, true)
				b.release(3)
				b.execute(deregister())
			}},
		{Drained, func(b *bench) {
			b.ask(model.OpWrite, 0x10000)
			b.give(3, frame0, true)
			b.execute(&msg.Command{Op: msg.CmdProtect, Entry: 0, Count: 1})
		}, func(b *bench) {
			b.ask(model.OpRead, 0x11000)
			b.give(3, frame1, false)
			b.execute(&msg.Command{Op: msg.CmdProtect, Entry: 1, Count: 1})
		}},
		{Permitted, func(b *bench) { b.ask(model.OpWrite, 0x11000); b.give(3, frame1, true) }, func(b *bench) { b.ask(model.OpRead, 0x11000); b.give(3, frame1, false) }},
		{Permitted, func(b *bench) { b.ask(model.OpFetchAdd, 0x10000); b.give(3, frame0, true) }, func(b *bench) { b.ask(model.OpWrite, 0x10000); b.give(3, frame0, true) }},
		{Bounded, func(b *bench) {
			b.ask(model.OpRead, 0x13FFC, func(m *msg.Translate) { m.CheckKey, m.CheckVA, m.CheckLen = true, 0x13FFC, 8; m.VA = 0x10000 })
			b.give(3, frame0, true)
		}, func(b *bench) {
			b.ask(model.OpRead, 0x10000, func(m *msg.Translate) { m.CheckKey, m.CheckVA, m.CheckLen = true, 0x10000, 0x4000 })
			b.give(3, frame0, true)
		}},
		{Bounded, func(b *bench) { // the end wraps
			b.ask(model.OpRead, 0x10000, func(m *msg.Translate) { m.CheckKey, m.CheckVA, m.CheckLen = true, ^model.VA(0)-3, 8 })
			b.give(3, frame0, true)
		}, func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true) }},
		{Domain, func(b *bench) {
			b.ask(model.OpRead, 0x10000, func(m *msg.Translate) { m.PD = 2 })
			b.give(3, frame0, true)
		},
			func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true) }},
		{Dead, func(b *bench) { b.execute(deregister()); b.ask(model.OpRead, 0x10000); b.give(3, frame0, true) },
			func(b *bench) {
				b.command(deregister())
				b.ask(model.OpRead, 0x10000)
				b.give(3, frame0, true)
				b.commands = nil
			}},
		{Dead, func(b *bench) {
			b.ask(model.OpRead, 0x10000, func(m *msg.Translate) { m.Key = 0x101 })
			b.give(3, frame0, true)
		},
			func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true) }},
		{Dead, func(b *bench) { // a peer's SEND killed it
			b.ask(model.OpSend, 0, func(m *msg.Translate) { m.Kill, m.Len = true, 0 })
			b.give(0, 0, false)
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame0, true)
		}, func(b *bench) {
			b.ask(model.OpSend, 0, func(m *msg.Translate) { m.Kill, m.Len = true, 0 })
			b.Translation(b.now, &msg.Translation{Outcome: msg.OutcomeRemoteOp})
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame0, true)
		}},
		{Untouched, func(b *bench) {
			b.ask(model.OpRead, 0x10000, func(m *msg.Translate) { m.Len = 0 })
			b.give(3, frame0, true)
		},
			func(b *bench) { b.ask(model.OpRead, 0x10000); b.give(3, frame0, true) }},
		{Open, func(b *bench) {
			b.execute(&msg.Command{Op: msg.CmdSuspend, Whole: true, Key: 0x100})
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame0, true)
		}, func(b *bench) {
			b.execute(&msg.Command{Op: msg.CmdSuspend, Whole: true, Key: 0x100})
			b.execute(&msg.Command{Op: msg.CmdUnsuspend, Whole: true, Key: 0x100})
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame0, true)
		}},
		{Open, func(b *bench) {
			b.execute(&msg.Command{Op: msg.CmdSuspend, Entry: 0, Count: 1})
			b.execute(&msg.Command{Op: msg.CmdFill, Entry: 0, Count: 1, Write: true, PA: []model.PA{frame1}})
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame1, true)
		}, func(b *bench) {
			b.execute(&msg.Command{Op: msg.CmdSuspend, Entry: 0, Count: 1})
			b.execute(&msg.Command{Op: msg.CmdFill, Entry: 0, Count: 1, Write: true, PA: []model.PA{frame1}})
			b.execute(&msg.Command{Op: msg.CmdUnsuspend, Entry: 0, Count: 1})
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame1, true)
		}},
		{OneWalk, func(b *bench) { b.read(0, 5); b.read(1, 5) }, func(b *bench) { b.fill(0, 5); b.read(1, 5) }},
		{Resolved, func(b *bench) { b.event(1, msg.ResponderRead, 0); b.execute(resume(0, 1)); b.execute(resume(0, 1)) },
			func(b *bench) { b.event(1, msg.ResponderRead, 0); b.execute(resume(0, 1)) }},
		{Resolved, func(b *bench) { b.event(1, msg.ResponderRead, 0) }, func(b *bench) { b.event(1, msg.ResponderRead, 0); b.execute(resume(0, 1)) }},
		{Resolved, func(b *bench) { b.event(1, msg.ResponderRead, 0); b.execute(resume(0, 2)); b.execute(resume(0, 1)) },
			func(b *bench) {
				b.event(1, msg.ResponderRead, 0)
				b.execute(resume(0, 1))
				b.event(2, msg.ResponderRead, 0)
				b.execute(resume(0, 2))
			}},
		{Single, func(b *bench) {
			b.event(1, msg.ResponderRead, 0)
			b.event(1, msg.ResponderRead, 1)
			b.execute(resume(0, 1))
			b.execute(resume(1, 1))
		}, func(b *bench) {
			b.event(1, msg.ResponderRead, 0)
			b.event(1, msg.ResponderWrite, 1)
			b.execute(resume(0, 1))
			b.execute(resume(1, 1))
		}},
		{Stopped, func(b *bench) {
			b.ask(model.OpRead, 0x10000, hold)
			b.event(1, msg.ResponderRead, 0)
			b.give(3, frame0, true)
			b.execute(resume(0, 1))
		}, func(b *bench) {
			b.ask(model.OpRead, 0x10000, hold)
			b.event(1, msg.ResponderRead, 0)
			b.execute(resume(0, 1))
			b.give(3, frame0, true)
		}},
		{Acknowledged, func(b *bench) { x, y := zap(2), zap(3); b.command(x); b.command(y); b.completed(y); b.completed(x) },
			func(b *bench) { x, y := zap(2), zap(3); b.command(x); b.command(y); b.completed(x); b.completed(y) }},
		{Acknowledged, func(b *bench) { x := zap(2); b.execute(x); b.completed(x) }, func(b *bench) { b.execute(zap(2)) }},
		{Acknowledged, func(b *bench) { b.command(zap(2)) }, func(b *bench) { b.execute(zap(2)) }},
		{Held, func(b *bench) {
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame0, true)
			b.release(3)
			b.Data(9, &msg.DMA{Kind: msg.KindData, PA: frame0, Len: 8})
		}, func(b *bench) {
			b.ask(model.OpRead, 0x10000)
			b.give(3, frame0, true)
			b.Data(9, &msg.DMA{Kind: msg.KindData, PA: frame0, Len: 8})
			b.release(3)
		}},
		{Held, func(b *bench) {
			b.ask(model.OpRead, 0x11000)
			b.give(3, frame1, false)
			b.Data(9, &msg.DMA{Kind: msg.KindData, Write: true, PA: frame1, Len: 8})
		}, func(b *bench) {
			b.ask(model.OpRead, 0x11000)
			b.give(3, frame1, false)
			b.Data(9, &msg.DMA{Kind: msg.KindData, PA: frame1, Len: 8})
		}},
	} {
		t.Run(c.rule.ID, func(t *testing.T) {
			b := newBench()
			c.bad(b)
			b.Finish(b.now, true)
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
			b.Finish(b.now, true)
			for _, v := range b.log.Violations() {
				t.Errorf("false alarm: %s: %s", v.Rule, v.What)
			}
		})
	}
}
