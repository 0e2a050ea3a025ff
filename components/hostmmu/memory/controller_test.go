package memory

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// moody is a controller that is late at whim, a function of the address; of
// reads and of writes it tells at once or only when it has served.
type moody struct {
	m                 *Memory
	ofReads, ofWrites bool // told at once
	done              timeline[served]
}

type served struct {
	ticket int
	late   clocked.Time
}

func lateness(pa model.PA) clocked.Time { return clocked.Time(uint64(pa)>>lineShift*7919%700) * ns }

func (c *moody) start(now clocked.Time, t transfer) (clocked.Time, bool) {
	late := lateness(t.pa)
	if t.write && c.ofWrites || !t.write && c.ofReads {
		return late, true
	}
	*c.done.insert(now + late + 1) = served{t.ticket, late}
	c.m.engine.Wake(c.m.id, now+late+1)
	return 0, false
}

func (c *moody) finished(now clocked.Time) (int, clocked.Time, bool) {
	s := c.done.due(now)
	if s == nil {
		return 0, 0, false
	}
	got := *s
	c.done.pop()
	return got.ticket, got.late, true
}

// step is a request of a drawn run, so long after the one before it.
type step struct {
	Client, Line, Lines int
	Gap                 clocked.Time
	Write               bool
}

func drawSteps(t *rapid.T) []step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{Client: rapid.IntRange(0, 1).Draw(t, "client"), Line: rapid.IntRange(0, 60).Draw(t, "line"),
			Lines: rapid.IntRange(1, 4).Draw(t, "lines"), Gap: clocked.Time(rapid.IntRange(1, 200).Draw(t, "gap")) * ns,
			Write: rapid.Bool().Draw(t, "write")}
	}), 1, 60).Draw(t, "steps")
}

// expected is when requests are done, by the rules alone: a write is placed its
// latency after its arrival and no sooner than the write before it, a read is
// answered its service and line times after it and no sooner than the write
// before it; each later by its lateness.
func expected(steps []step) (reads, entries [2][]clocked.Time) {
	var arrived, placed [2]clocked.Time
	for _, s := range steps {
		arrived[s.Client] = max(arrived[s.Client], 1000*ns) + s.Gap
		at := arrived[s.Client] + lateness(model.PA(s.Line)<<lineShift)
		if s.Write {
			placed[s.Client] = max(placed[s.Client], at+300*ns)
			entries[s.Client] = append(entries[s.Client], placed[s.Client])
			continue
		}
		at += service + clocked.Time(s.Lines-1)*2730
		reads[s.Client] = append(reads[s.Client], max(at, placed[s.Client]))
	}
	return reads, entries
}

// Whether a controller tells at once or only when it has served, requests are
// done when the rules say, under any order of equal instants.
func TestControllersThatTellLate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawSteps(rt)
		reads, entries := expected(steps)
		for i := range 8 {
			b := newDeepBench(t, quiet(), fourFrames(2), uint64(i/4), 64)
			b.memory.sockets[0].dram = &moody{m: b.memory, ofReads: i&1 == 0, ofWrites: i&2 == 0}
			sendSteps(b, steps)
			b.run(t)
			var gotReads, gotEntries [2][]clocked.Time
			for c := range b.clients {
				gotReads[c] = make([]clocked.Time, len(reads[c]))
				for _, g := range b.clients[c].got {
					gotReads[c][g.msg.Tag] = g.at - ns
				}
			}
			for _, g := range b.inbox.got {
				gotEntries[g.msg.Adapter] = append(gotEntries[g.msg.Adapter], g.at-ns)
			}
			for c := range 2 {
				if fmt.Sprint(gotReads[c], gotEntries[c]) != fmt.Sprint(nonNil(reads[c]), entries[c]) {
					rt.Fatalf("run %d, client %d:\nread %v, placed %v, want\n     %v,        %v", i, c, gotReads[c], gotEntries[c], reads[c], entries[c])
				}
			}
			if !b.memory.Idle() {
				rt.Fatalf("not idle: %v", b.memory.Waits())
			}
		}
	})
}

func nonNil(times []clocked.Time) []clocked.Time { return append([]clocked.Time{}, times...) }

// sendSteps sends each write as one that software sees, and numbers the reads.
func sendSteps(b *bench, steps []step) {
	var at [2]clocked.Time
	var reads [2]uint16
	for _, s := range steps {
		at[s.Client] = max(at[s.Client], 1000*ns) + s.Gap
		req := msg.MemReq{Write: s.Write, PA: model.PA(s.Line) << lineShift, Len: uint32(s.Lines) * 64,
			Oracle: msg.Oracle{Page: msg.NoPage}, Tag: reads[s.Client], Adapter: uint16(s.Client)}
		if s.Write {
			req.Kind = msg.KindCQE
		} else {
			reads[s.Client]++
		}
		b.clients[s.Client].send(at[s.Client], req)
	}
}

// The write buffer works by placements, whenever they become known: 1 line at a
// time, so that each write waits for the one before.
func TestWriteBufferBehindLateController(t *testing.T) {
	for _, tells := range []bool{true, false} {
		spec := quiet()
		spec.IIO.WriteBuffer = 1
		b := newBench(t, spec, fourFrames(1), 0)
		b.memory.sockets[0].dram = &moody{m: b.memory, ofReads: tells, ofWrites: tells}
		var want []clocked.Time
		at := 1000 * ns
		for i := range 3 {
			w := store(model.PA(i*64), 64)
			w.Kind = msg.KindCQE
			b.clients[0].send(1000*ns, w)
			at += 300*ns + lateness(w.PA)
			want = append(want, at)
		}
		stats := b.run(t)
		var got []clocked.Time
		for _, g := range b.inbox.got {
			got = append(got, g.at-ns)
		}
		if !reflect.DeepEqual(got, want) || stats.WriteBufferWait != want[1]-1000*ns {
			t.Errorf("tells %v: placed %v, waited %v; want %v, %v", tells, got, stats.WriteBufferWait, want, want[1]-1000*ns)
		}
	}
}

// A round of a page is moved when its last block is served, whatever their order;
// loads and stores of the CPU are late like a device's.
func TestPageOpsBehindLateController(t *testing.T) {
	for _, tells := range []bool{true, false} {
		spec := quiet()
		spec.DRAM.Channels = 4
		config := fourFrames(1)
		config.Shift = model.Shift2M
		b := newBench(t, spec, config, 0)
		b.memory.sockets[0].dram = &moody{m: b.memory, ofReads: tells, ofWrites: tells}
		b.kernel.send(1000*ns, msg.PageOp{Kind: msg.PageZero, Frame: 0, Page: 2})
		b.kernel.send(1e6*ns, msg.PageOp{Kind: msg.PageCPURead, Frame: 0, Page: 2})
		b.kernel.send(2e6*ns, msg.PageOp{Kind: msg.PageCPUWrite, Frame: 1, Page: 2})
		b.run(t)
		moved := clocked.Time(0)
		for round := range 128 { // 512 blocks, 4 at a time
			var late clocked.Time
			for block := range 4 {
				late = max(late, lateness(model.PA(round*4+block)<<blockShift))
			}
			moved += late + 64*2730
		}
		wantTime(t, fmt.Sprint("tells ", tells, ": page"), b.kernel.got[0].at-ns-1000*ns, moved)
		wantTime(t, "load", b.kernel.got[1].at-ns-1e6*ns, 70*ns+lateness(0))
		wantTime(t, "store", b.kernel.got[2].at-ns-2e6*ns, 10*ns+lateness(1<<21))
	}
}

// Ideal memory serves any number of any size at once.
func TestIdealController(t *testing.T) {
	spec := quiet()
	spec.DRAM.Controller = controllerIdeal
	b := newDeepBench(t, spec, fourFrames(1), 0, 256)
	for i := range 200 {
		b.clients[0].send(1000*ns, read(model.PA(i)*4096, uint32(1+i*20)))
	}
	w := store(0, 4096)
	w.Kind = msg.KindCQE
	b.clients[0].send(1000*ns, w)
	b.run(t)
	for i := range 200 {
		wantTime(t, fmt.Sprint("read ", i), b.answered(0, i), 1000*ns+service)
	}
	wantTime(t, "write", b.inbox.got[0].at-ns, 1300*ns)
}
