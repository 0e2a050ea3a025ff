package tpt

import (
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
