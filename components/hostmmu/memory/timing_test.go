package memory

import (
	"fmt"
	"reflect"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"strings"
)

// answered is when memory answered: one wire hop before the client saw it.
func (b *bench) answered(i, n int) clocked.Time { return b.clients[i].got[n].at - ns }

func wantTime(t *testing.T, what string, got, want clocked.Time) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestUnloadedRead(t *testing.T) {
	for _, c := range []struct {
		pa     model.PA
		length uint32
		lines  clocked.Time
	}{{0, 64, 1}, {0, 8, 1}, {60, 8, 2}, {0, 4096, 64}, {64, 0, 1}} {
		b := newBench(t, quiet(), fourFrames(1), 0)
		ledger := measure.Ledger{Last: 1000 * ns}
		req := read(c.pa, c.length)
		req.Ledger = &ledger
		b.clients[0].send(1000*ns, req)
		b.run(t)
		want := service + (c.lines-1)*2730
		wantTime(t, fmt.Sprint(c.length, " B"), b.answered(0, 0)-1000*ns, want)
		wantTime(t, "host_memory", ledger.Causes[measure.CauseHostMemory], want)
		if !b.memory.Idle() {
			t.Error("not idle after the answer")
		}
	}
}

// Two reads of different rows of a bank: the second waits for the first's row miss.
func TestBankConflict(t *testing.T) {
	spec := quiet()
	spec.DRAM.Banks = 1
	b := newBench(t, spec, fourFrames(1), 0)
	b.clients[0].send(1000*ns, read(0, 64))
	b.clients[0].send(1000*ns, read(8192, 64))
	b.run(t)
	wantTime(t, "first", b.answered(0, 0), 1000*ns+service)
	wantTime(t, "second", b.answered(0, 1), 1000*ns+service+45*ns)
}

// Two reads of one row: the second waits only for the first's lines.
func TestRowHit(t *testing.T) {
	spec := quiet()
	spec.DRAM.Banks = 1
	b := newBench(t, spec, fourFrames(1), 0)
	b.clients[0].send(1000*ns, read(0, 64))
	b.clients[0].send(1000*ns, read(64, 64))
	b.run(t)
	wantTime(t, "second", b.answered(0, 1), 1000*ns+service+2730)
}

// Peak bandwidth: n reads of 4 KiB on one channel end n × 64 lines later.
func TestChannelBandwidth(t *testing.T) {
	b := newBench(t, quiet(), fourFrames(1), 0)
	const n = 200
	for i := range n {
		b.clients[0].send(1000*ns, read(model.PA(i)*4096, 4096))
	}
	b.run(t)
	last := b.answered(0, n-1) - 1000*ns
	wantTime(t, "last", last, service+(n*64-1)*2730)
}

func TestLLCSaving(t *testing.T) {
	spec := quiet()
	spec.LLC = LLC{Saving: 67 * ns, DDIOLines: 4, DDIOWays: 2}
	b := newBench(t, spec, fourFrames(1), 0)
	b.clients[0].send(1000*ns, store(0, 128))
	b.clients[0].send(2000*ns, read(0, 128)) // both lines warm: service + 1 line − saving
	b.clients[0].send(3000*ns, read(0, 192)) // one line cold
	stats := b.run(t)
	wantTime(t, "warm", b.answered(0, 0)-2000*ns, service+2730-67*ns)
	wantTime(t, "part cold", b.answered(0, 1)-3000*ns, service+2*2730)
	if stats.LLCHits != 1 {
		t.Errorf("LLC hits %d, want 1", stats.LLCHits)
	}
}

// Four lines in two sets of two ways: a fifth write pushes one line out.
func TestDDIOIsBounded(t *testing.T) {
	spec := quiet()
	spec.LLC = LLC{Saving: 67 * ns, DDIOLines: 4, DDIOWays: 2}
	b := newBench(t, spec, fourFrames(1), 0)
	b.clients[0].send(1000*ns, store(0, 5*64))
	b.clients[0].send(2000*ns, read(0, 64)) // pushed out by line 4, same set
	stats := b.run(t)
	wantTime(t, "evicted", b.answered(0, 0)-2000*ns, service)
	if stats.Writebacks != 1 {
		t.Errorf("write-backs %d, want 1", stats.Writebacks)
	}
}

// A read behind a write of its client is answered no sooner than the write is
// placed; a read of another client is not held.
func TestReadPushesWrites(t *testing.T) {
	spec := quiet()
	spec.IIO.WriteLatency = 900 * ns
	b := newBench(t, spec, fourFrames(2), 0)
	b.clients[0].send(1000*ns, store(8192, 64))
	b.clients[0].send(1010*ns, read(0, 64))
	b.clients[1].send(1020*ns, read(65536, 64))
	b.run(t)
	wantTime(t, "own read", b.answered(0, 0), 1900*ns)
	wantTime(t, "other's read", b.answered(1, 0), 1020*ns+service)
}

// Little's law at the write buffer: 4 lines held 300 ns each; 9 writes of one
// line take two more rounds, so the last is placed at 3 × 300 ns.
func TestWriteBufferBound(t *testing.T) {
	spec := quiet()
	spec.IIO.WriteBuffer = 4
	spec.DRAM.LineTime = 1 // only the buffer limits
	spec.LLC = LLC{DDIOLines: 64, DDIOWays: 2}
	b := newBench(t, spec, fourFrames(1), 0)
	for i := range 9 {
		w := store(model.PA(i*64), 64)
		if i == 8 {
			w.Kind = msg.KindCQE
		}
		b.clients[0].send(1000*ns, w)
	}
	stats := b.run(t)
	wantTime(t, "last placed", b.inbox.got[0].at-ns, 1000*ns+3*300*ns)
	if stats.WriteBufferStalls != 2 {
		t.Errorf("stalls %d, want 2: the head of the wire in each round", stats.WriteBufferStalls)
	}
	// The wire shows four writes at once, the next four 2 ns later. So the fifth,
	// and then the ninth, came 2 ns after the place that it waits for was taken.
	wantTime(t, "wait", stats.WriteBufferWait, 2*298*ns)
}

// Little's law: 92 lines of 300 ns each let 92 × 64 B / 300 ns = 19.6 GB/s through,
// whatever comes: here four lines each half, whole or second nanosecond, 128 GB/s
// at least. The wait is all of the time but that in which the buffer has room.
func TestWriteBufferCapsBandwidth(t *testing.T) {
	for _, gap := range []clocked.Time{ns / 2, ns, 2 * ns} {
		spec := quiet()
		spec.IIO.WriteBuffer = 92
		spec.LLC = LLC{DDIOLines: 64, DDIOWays: 2}
		spec.DRAM.LineTime = 1
		b := newBench(t, spec, fourFrames(1), 0)
		const writes, rounds = 230, 10 // 23 writes of 4 lines fill the buffer
		for i := range writes {
			w := store(model.PA(i*256), 256)
			if i == writes-1 {
				w.Kind = msg.KindCQE
			}
			b.clients[0].send(1000*ns+clocked.Time(i)*gap, w)
		}
		stats := b.run(t)
		last := b.inbox.got[0].at - ns - 1000*ns
		took := float64(last) / float64(ns)
		if gbs := writes * 256 / took; gbs > 92*64/300.0 || gbs < 0.97*92*64/300 {
			t.Errorf("gap %v: %.2f GB/s, want 19.63", gap, gbs)
		}
		// Only the 23 writes of a round find room, at the pace of their arrival.
		if w := stats.WriteBufferWait; w > (rounds-1)*300*ns || w < (rounds-1)*(300*ns-23*2*gap-23*ns) {
			t.Errorf("gap %v: waited %v of %v", gap, w, last)
		}
	}
}

// A wait that is not over counts too.
func TestWriteBufferWaitUntilNow(t *testing.T) {
	spec := quiet()
	spec.IIO.WriteBuffer = 1
	b := newBench(t, spec, fourFrames(1), 0)
	b.clients[0].send(1000*ns, store(0, 64))
	b.clients[0].send(1010*ns, store(0, 64))
	b.engine.Wake(b.clients[0].id, 0)
	if err := b.engine.RunUntil(1100 * ns); err != nil {
		t.Fatal(err)
	}
	wantTime(t, "wait until now", b.memory.Stats(1100*ns).WriteBufferWait, 90*ns)
}

// Of two adapters behind one root port each gets its own answer.
func TestAnswersNameTheAdapter(t *testing.T) {
	b := newBench(t, quiet(), fourFrames(1), 0)
	for _, adapter := range []uint16{7, 2} {
		r := read(model.PA(adapter)<<12, 64)
		r.Adapter, r.Tag = adapter, 3
		b.clients[0].send(1000*ns, r)
	}
	b.run(t)
	got := b.clients[0].got
	if len(got) != 2 || got[0].msg.Adapter != 7 || got[1].msg.Adapter != 2 || got[0].msg.PA != 7<<12 || got[1].msg.PA != 2<<12 {
		t.Errorf("answers %+v, want one for adapter 7 and one for adapter 2", got)
	}
}

func TestInboxKindsInOrder(t *testing.T) {
	b := newBench(t, quiet(), fourFrames(2), 0)
	event := &msg.Event{Token: msg.FaultToken{Place: 7}}
	for i, k := range []msg.Kind{msg.KindData, msg.KindEQE, msg.KindMSI, msg.KindCQE} {
		w := store(model.PA(i*64), 64)
		w.Kind, w.Cookie, w.Body, w.Adapter = k, uint64(i), event, 5
		b.clients[1].send(1000*ns, w)
	}
	b.run(t)
	var kinds []msg.Kind
	for _, g := range b.inbox.got {
		kinds = append(kinds, g.msg.Kind)
		if g.msg.Adapter != 5 || g.msg.Body != event || g.msg.Cookie != uint64(len(kinds)) {
			t.Errorf("entry %+v", g.msg)
		}
	}
	if want := []msg.Kind{msg.KindEQE, msg.KindMSI, msg.KindCQE}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
	wantTime(t, "first", b.inbox.got[0].at-ns, 1000*ns+300*ns+2730)
}

// A client that takes no answers holds at most the wire's depth of them; the
// rest stays and nothing is lost.
func TestBackPressure(t *testing.T) {
	b := newBench(t, quiet(), fourFrames(1), 0)
	for i := range 20 {
		b.clients[0].send(1000*ns, read(model.PA(i)*64, 64))
	}
	b.clients[0].blocked = true
	b.run(t)
	if n := b.clients[0].in.Len(); n != 4 {
		t.Errorf("%d answers on the wire, want its depth 4", n)
	}
	if lines := b.memory.Waits(); b.memory.Idle() || len(lines) != 1 || !strings.Contains(lines[0], "16 reads") {
		t.Errorf("idle %v, waits %q; want 16 reads waiting", b.memory.Idle(), lines)
	}
	b.clients[0].blocked = false
	b.engine.Wake(b.clients[0].id, b.engine.Now()+ns)
	b.resume(t)
	if n := len(b.clients[0].got); n != 20 || !b.memory.Idle() {
		t.Errorf("%d answers, idle %v", n, b.memory.Idle())
	}
}

// A 2 MiB page on 4 channels moves 512 blocks of 64 lines in 128 rounds.
func TestPageMoveBandwidth(t *testing.T) {
	spec := quiet()
	spec.DRAM.Channels = 4
	spec.DRAM.RowMiss = 0
	config := fourFrames(1)
	config.Shift = model.Shift2M
	b := newBench(t, spec, config, 0)
	b.kernel.send(1000*ns, msg.PageOp{Kind: msg.PageZero, Frame: 1, Page: 2, Cookie: 9})
	b.run(t)
	wantTime(t, "zeroed", b.kernel.got[0].at-ns-1000*ns, 128*64*2730)
	if d := b.kernel.got[0].msg; d.Cookie != 9 || d.Kind != msg.PageZero || d.Lost {
		t.Errorf("answer %+v", d)
	}
}

func TestRefusedConfigurations(t *testing.T) {
	for want, change := range map[string]func(*Spec, *Config){
		"root ports":      func(_ *Spec, c *Config) { c.Clients = 0 },
		"read_latency":    func(_ *Spec, c *Config) { c.ReadService = 0 },
		"host.llc.saving": func(s *Spec, _ *Config) { s.LLC = LLC{Saving: service, DDIOLines: 8, DDIOWays: 2} },
		"ddio_ways":       func(s *Spec, _ *Config) { s.LLC = LLC{DDIOLines: 8, DDIOWays: 3} },
		"powers of two":   func(s *Spec, _ *Config) { s.DRAM.Channels = 3 },
		"dram.controller": func(s *Spec, _ *Config) { s.DRAM.Controller = "none" },
		"akita.ras":       func(s *Spec, _ *Config) { *s = akitaSpec(); s.DRAM.Akita.RAS = s.DRAM.Akita.RCD - 1 },
		"host.numa:":      func(s *Spec, _ *Config) { s.NUMA.Sockets = 3 },
		"numa.socket: 1":  func(_ *Spec, c *Config) { c.Sockets = []int{1} },
		"must be a power": func(s *Spec, _ *Config) { s.LLC = LLC{DDIOLines: 24, DDIOWays: 2} },
	} {
		spec, config := quiet(), fourFrames(1)
		change(&spec, &config)
		if _, err := New(clocked.NewEngine(), "memory", spec, config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// A completion entry behind a write that waits for its bank is placed no
// sooner than the write, though its own channel is free.
func TestWritesArePlacedInOrder(t *testing.T) {
	spec := quiet()
	spec.DRAM.Channels, spec.DRAM.Banks = 2, 1
	b := newBench(t, spec, fourFrames(1), 0)
	b.clients[0].send(1000*ns, read(0, 64))      // channel 0: its bank opens row 0
	b.clients[0].send(1000*ns, store(16384, 64)) // channel 0, row 1: 45 ns later
	entry := store(4096, 64)                     // channel 1
	entry.Kind = msg.KindCQE
	b.clients[0].send(1000*ns, entry)
	b.run(t)
	wantTime(t, "completion entry", b.inbox.got[0].at-ns, 1000*ns+45*ns+300*ns)
}
