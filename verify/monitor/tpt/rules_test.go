package tpt

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	unit "rnicmmu/components/tpt"
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/model/key"
	"rnicmmu/verify/monitor/ats"
	"rnicmmu/verify/rule"
)

// bench feeds a monitor with messages by hand. Key 0x100 opens [0x10000,
// 0x14000) to domain 1, by entries 0 to 3; entry 0 leads to 0x5000, for loads and
// stores, entry 1 to 0x6000 for loads.
type bench struct {
	*Monitor
	log *rule.Log
	now clocked.Time
}

const frame0, frame1 = model.PA(0x5000), model.PA(0x6000)

func newBench() *bench {
	b := &bench{log: &rule.Log{}}
	b.Monitor = New(Config{Mode: unit.Table, Shift: 12, Leaves: 1 << 20, Entries: 64, Line: 1,
		Cache: cache.Geometry{Entries: 2, Ways: 2, Line: 1, Policy: cache.LRU}, Exact: true,
		ATC: ats.NewDevice(ats.DeviceConfig{}, &rule.Log{})}, b.log)
	b.Register(&key.Region{Key: 0x100, PD: 1, Rights: key.LocalWrite | key.RemoteWrite | key.RemoteRead, Base: 0x10000, Length: 0x4000, PageShift: 12, State: key.Valid})
	b.Program(0, frame0, true)
	b.Program(1, frame1, false)
	return b
}

// ask has queue pair 0 ask for a page; change alters the request.
func (b *bench) ask(op model.Op, va model.VA, change ...func(t *msg.Translate)) {
	t := &msg.Translate{Key: 0x100, PD: 1, Op: op, Write: op.Writes(), VA: va, Len: 8}
	for _, f := range change {
		f(t)
	}
	b.now++
	b.Translate(b.now, t)
	b.Accepted(b.now, t)
}

// give answers queue pair 0 with a translation.
func (b *bench) give(handle uint32, pa model.PA, write bool) {
	b.now++
	b.Translation(b.now, &msg.Translation{Handle: handle, PA: pa, Write: write})
}

func (b *bench) release(handle uint32) { b.Release(b.now, &msg.Release{Handle: handle}) }

func (b *bench) command(c *msg.Command) { b.Doorbell(b.now, &msg.Doorbell{Body: c}) }

func (b *bench) completed(c *msg.Command) {
	b.now++
	b.DMA(b.now, &msg.DMA{Kind: msg.KindCQE, Write: true, Body: c})
}

func (b *bench) execute(c *msg.Command) {
	b.command(c)
	b.completed(c)
}

func (b *bench) read(slot uint64, entry uint64) {
	b.DMA(b.now, &msg.DMA{Kind: msg.KindMTT, PA: 1<<20 + model.PA(8*entry), Len: 8, Cookie: slot})
}

func (b *bench) fill(slot uint64, entry uint64) {
	b.read(slot, entry)
	b.ReadDone(b.now, &msg.DMADone{Kind: msg.KindMTT, Cookie: slot})
}

func (b *bench) event(use uint32, kind msg.FaultKind, place uint32) {
	b.DMA(b.now, &msg.DMA{Kind: msg.KindEQE, Body: &msg.Event{Token: msg.FaultToken{Place: place, Use: use}, Kind: kind, Write: kind == msg.ResponderWrite, VA: 0x10000}})
}

func resume(place, use uint32) *msg.Command {
	return &msg.Command{Op: msg.CmdResume, Token: msg.FaultToken{Place: place, Use: use}}
}

func zap(entry uint64) *msg.Command {
	return &msg.Command{Op: msg.CmdInvalidate, Entry: entry, Count: 1}
}

func deregister() *msg.Command {
	return &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyDeregister, Key: 0x100}}
}

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

// TestMustBeCached: with two ways A and B are brought in, A is used, A goes, A
// and C come: C takes the place of B, and A must be there. Where B was used for
// sure before C came, A may be gone; what a command has touched, or was read
// while one was under way, is asked for again rightly.
func TestMustBeCached(t *testing.T) {
	const a, b, c = 4, 6, 8
	use := func(x *bench, entry uint64) {
		va := model.VA(0x10000 + entry<<12)
		x.ask(model.OpRead, va)
		x.give(3, model.PA(entry<<12), true)
		x.release(3)
	}
	for _, k := range []struct {
		name  string
		steps func(x *bench)
		seen  bool
	}{
		{"false miss", func(x *bench) {
			x.fill(0, a)
			x.fill(0, b)
			use(x, a)
			x.execute(zap(a))
			refill(x, a)
			x.fill(0, c)
			x.read(0, a)
		}, true},
		{"read at once", func(x *bench) { x.fill(0, a); x.read(0, a) }, true},
		{"two others behind it", func(x *bench) { x.fill(0, a); x.fill(0, b); x.fill(0, c); x.read(0, a) }, false},
		{"used between", func(x *bench) { x.fill(0, a); x.fill(0, b); use(x, a); x.fill(0, c); x.read(0, a) }, true},
		{"zapped", func(x *bench) { x.fill(0, a); x.execute(zap(a)); refillWord(x, a); x.read(0, a) }, false},
		{"read beside a command", func(x *bench) {
			x.read(0, a)
			x.execute(zap(a))
			x.ReadDone(x.now, &msg.DMADone{Kind: msg.KindMTT})
			refillWord(x, a)
			x.read(0, a)
		}, false},
	} {
		t.Run(k.name, func(t *testing.T) {
			x := newBench()
			x.Register(&key.Region{Key: 0x100, PD: 1, Rights: key.RemoteRead, Base: 0x10000, Length: 0x40000, PageShift: 12, State: key.Valid})
			for _, e := range []uint64{a, b, c} {
				x.Program(e, model.PA(e<<12), true)
			}
			k.steps(x)
			if seen := x.log.Count(Found.ID) > 0; seen != k.seen {
				t.Errorf("seen %v: %v", seen, x.log.Violations())
			}
			if n := len(x.log.Violations()); n > int(x.log.Count(Found.ID)) {
				t.Errorf("others too: %v", x.log.Violations())
			}
		})
	}
}

func refillWord(x *bench, entry uint64) {
	x.execute(&msg.Command{Op: msg.CmdFill, Entry: entry, Count: 1, Write: true, PA: []model.PA{model.PA(entry << 12)}})
}

func refill(x *bench, entry uint64) {
	refillWord(x, entry)
	x.fill(0, entry)
}
