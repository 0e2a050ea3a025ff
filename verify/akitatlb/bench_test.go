package akitatlb

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/tpt"
	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/model/key"
	"rnicmmu/platform"
	"rnicmmu/verify/monitor/ats"
	monitor "rnicmmu/verify/monitor/tpt"
	"rnicmmu/verify/rule"
)

// The bench's memory: a region of 16 pages at base, whose entries lie at leaves.
const (
	clock           = clocked.Freq(800 * sim.MHz)
	cycle           = 1250 * clocked.Picosecond
	pages           = 16
	base   model.VA = 0x100000
	leaves model.PA = 1 << 41
	walk            = 200 * cycle // a read of the table
)

// frame is where page i lies when its entry was written for time n.
func frame(i, n int) model.PA { return model.PA(0x10_0000*(n+1) + i<<12) }

// step is what happens at a cycle: a request for a page, or an invalidation of
// it behind which its entry leads to another frame.
type step struct {
	at         int // cycle
	page       int
	invalidate bool
}

// bench drives a unit at its ports, as responder, endpoint and kernel.
type bench struct {
	engine   *clocked.Engine
	ports    tpt.Ports
	id       clocked.UnitID
	steps    []step
	asked    int
	bells    []*msg.Command
	written  [pages]int // how often each entry was written
	reads    []pending
	releases []uint32
	given    map[uint32]bool
	ledgers  [64]measure.Ledger
	log      *rule.Log
	monitor  *monitor.Monitor
	answers  int
	walks    int
}

type pending struct {
	at   clocked.Time
	done msg.DMADone
}

// unit builds what is tested on an engine, with the bench's ports, and gives its
// identity; ways is the size of its only set.
type unit func(t *testing.T, b *bench, ways int) (id clocked.UnitID, connect func(tpt.Ports))

// run plays steps to a unit and gives what the monitor saw.
func run(t *testing.T, build unit, ways int, steps ...step) *bench {
	t.Helper()
	b := &bench{engine: clocked.NewEngine(), steps: steps, log: &rule.Log{}, given: map[uint32]bool{}}
	b.id = b.engine.Register(b)
	id, connect := build(t, b, ways)
	b.connect(id)
	connect(b.ports)
	b.watch(ways)
	for _, s := range steps {
		b.engine.Wake(b.id, clocked.Time(s.at)*cycle)
	}
	if err := b.engine.RunUntil(clocked.Millisecond); err != nil {
		t.Fatal(err)
	}
	b.monitor.Finish(b.engine.Now(), true)
	return b
}

func (b *bench) connect(unit clocked.UnitID) {
	domain := clocked.NewDomain(clock)
	hop := func(w, r clocked.UnitID) clocked.WireSpec {
		return clocked.WireSpec{Domain: domain, Depth: 64, Latency: cycle, Writer: w, Reader: r}
	}
	b.ports = tpt.Ports{
		Translate:   clocked.NewWire[msg.Translate](b.engine, hop(b.id, unit)),
		Translation: clocked.NewWire[msg.Translation](b.engine, hop(unit, b.id)),
		Release:     clocked.NewWire[msg.Release](b.engine, hop(b.id, unit)),
		DMA:         clocked.NewWire[msg.DMA](b.engine, hop(unit, b.id)),
		DMADone:     clocked.NewWire[msg.DMADone](b.engine, hop(b.id, unit)),
		Doorbell:    clocked.NewWire[msg.Doorbell](b.engine, hop(b.id, unit)),
	}
}

func region() key.Region {
	return key.Region{PD: 1, Base: base, Length: pages << 12, PageShift: model.Shift4K, Rights: key.LocalWrite | key.RemoteRead | key.RemoteWrite, State: key.Valid}
}

// firstKey is the key of the only region.
var firstKey = key.Make(1, 0)

func (b *bench) watch(ways int) {
	log := b.log
	m := monitor.New(monitor.Config{Mode: tpt.Table, Shift: model.Shift4K, Leaves: leaves, Entries: pages, Line: 1, Exact: true,
		Cache: cache.Geometry{Entries: ways, Ways: ways, Line: 1, Policy: cache.LRU}, ATC: ats.NewDevice(ats.DeviceConfig{}, log)}, log)
	r := region()
	r.Key = firstKey
	m.Register(&r)
	for i := range pages {
		m.Program(uint64(i), frame(i, 0), true)
	}
	b.ports.Translate.OnSent(m.Translate)
	b.ports.Translate.OnTaken(m.Accepted)
	b.ports.Translation.OnSent(m.Translation)
	b.ports.Release.OnTaken(m.Release)
	b.ports.DMA.OnSent(m.DMA)
	b.ports.DMADone.OnTaken(m.ReadDone)
	b.ports.Doorbell.OnTaken(m.Doorbell)
	b.monitor = m
}

// Name is the bench's name.
func (b *bench) Name() string { return "bench" }

// Tick does what is due of the steps, and answers the unit.
func (b *bench) Tick(now clocked.Time) {
	for t := b.ports.Translation.Peek(now); t != nil; t = b.ports.Translation.Peek(now) {
		if t.Outcome == msg.OutcomeOK {
			b.releases = append(b.releases, t.Handle)
		}
		if t.Outcome != msg.OutcomeRevoke {
			b.answers++
		}
		b.ports.Translation.Pop(now)
	}
	for d := b.ports.DMA.Peek(now); d != nil; d = b.ports.DMA.Peek(now) {
		b.serve(now, d)
		b.ports.DMA.Pop(now)
	}
	for ; len(b.steps) > 0 && clocked.Time(b.steps[0].at)*cycle <= now; b.steps = b.steps[1:] {
		b.play(now, b.steps[0])
	}
	for ; len(b.releases) > 0 && b.ports.Release.Ready(now); b.releases = b.releases[1:] {
		*b.ports.Release.Push(now) = msg.Release{Handle: b.releases[0]}
	}
	for ; len(b.reads) > 0 && b.reads[0].at <= now && b.ports.DMADone.Ready(now); b.reads = b.reads[1:] {
		*b.ports.DMADone.Push(now) = b.reads[0].done
	}
}

func (b *bench) serve(now clocked.Time, d *msg.DMA) {
	if d.Write {
		return
	}
	if d.Kind == msg.KindMTT {
		b.walks++
	}
	b.reads = append(b.reads, pending{now + walk, msg.DMADone{Kind: d.Kind, Cookie: d.Cookie}})
	b.engine.Wake(b.id, now+walk)
}

// play asks for a page by a queue pair of its own, or has it invalidated and
// then written anew.
func (b *bench) play(now clocked.Time, s step) {
	if !s.invalidate {
		l := &b.ledgers[b.asked]
		l.Open(now)
		*b.ports.Translate.Push(now) = msg.Translate{Cookie: uint64(b.asked), QP: uint32(b.asked), PD: 1, Key: uint32(firstKey), Op: model.OpRead,
			VA: base + model.VA(s.page)<<12, Len: 8, Rest: 8, Ledger: l}
		b.asked++
		return
	}
	b.written[s.page]++
	e := uint64(s.page)
	for _, c := range []*msg.Command{{Op: msg.CmdInvalidate, Entry: e, Count: 1},
		{Op: msg.CmdFill, Entry: e, Count: 1, Write: true, PA: []model.PA{frame(s.page, b.written[s.page])}}} {
		*b.ports.Doorbell.Push(now) = msg.Doorbell{Body: c}
	}
}

// ours is our translation unit.
func ours(t *testing.T, b *bench, ways int) (clocked.UnitID, func(tpt.Ports)) {
	var spec platform.Spec
	if _, err := configs.Load(&spec, configs.Sources{Profile: "default", Set: []string{"tpt.mtt.replacement=lru", "tpt.mtt.line_entries=1", "tpt.mtt.mshrs=4",
		"tpt.command.invalidate=0ns", "tpt.command.fill=0ns"}}); err != nil {
		t.Fatal(err)
	}
	s := spec.TPT
	s.MTT.Entries, s.MTT.Ways = ways, ways
	u, err := tpt.New(b.engine, "tpt0", s, tpt.Config{Place: tpt.Place{MPT: 1 << 40, MTT: leaves, Keys: 4, Entries: pages}, Mode: tpt.Table})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Keys().RegisterAs(firstKey, region()); err != nil {
		t.Fatal(err)
	}
	for i := range pages {
		u.Table().Set(uint64(i), entry(frame(i, 0)))
	}
	return u.ID(), func(p tpt.Ports) { u.Ports = p }
}
