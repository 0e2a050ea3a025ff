package memory

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// Crossing the link of twoSockets: 30 ns a way, and 4 ns a line at 16 GB/s.
const (
	ways    = 2 * 30 * ns
	perLine = 4 * ns
)

// twoSockets is a host of two with a client at each and no LLC.
func twoSockets(pages string) (Spec, Config) {
	s := akitaSpec()
	s.DRAM.Controller = controllerBanks
	s.NUMA = NUMA{Sockets: 2, Pages: pages, Latency: 30 * ns, Bandwidth: 128e9}
	c := fourFrames(2)
	c.Frames, c.Sockets = 64, []int{0, 1}
	return s, c
}

const table model.PA = 1 << 44 // no frame

// Who reads what is at the other socket waits for the link both ways and for the
// data, all of it in host_memory; tables and queues are at home.
func TestRemoteRead(t *testing.T) {
	for _, name := range []string{controllerIdeal, controllerBanks, controllerAkita} {
		for _, c := range []struct {
			pages  string
			client int
			pa     model.PA
			remote bool
		}{
			{"first", 0, 0, false}, {"first", 1, 0, true}, {"first", 1, 5 << 12, true}, {"first", 0, table, false}, {"first", 1, table, false},
			{"interleave", 0, 0, false}, {"interleave", 0, 1 << 12, true}, {"interleave", 1, 0, true}, {"interleave", 1, 1 << 12, false},
			{"interleave", 0, 64 << 12, false}, {"interleave", 1, 65 << 12, false}, {"interleave", 1, 64 << 12, false},
		} {
			spec, config := twoSockets(c.pages)
			spec.DRAM.Controller = name
			b := newBench(t, spec, config, 0)
			ledger := measure.Ledger{Last: 1000 * ns}
			req := read(c.pa, 64)
			req.Ledger = &ledger
			b.clients[c.client].send(1000*ns, req)
			b.run(t)
			want := service
			if c.remote {
				want += ways + perLine
			}
			what := fmt.Sprintf("%s, %s, socket %d, %#x", name, c.pages, c.client, c.pa)
			wantTime(t, what, b.answered(c.client, 0)-1000*ns, want)
			wantTime(t, what+": host_memory", ledger.Causes[measure.CauseHostMemory], want)
		}
	}
}

// The link carries 16 GB/s each way: what goes to one socket, data read by its
// device or written by the other's, does not hinder what goes the other way, and
// what is local crosses no link.
func TestLinkBandwidth(t *testing.T) {
	spec, config := twoSockets("interleave")
	spec.DRAM.Controller = controllerIdeal // only the link limits
	b := newDeepBench(t, spec, config, 0, 128)
	const n = 30
	for i := range n {
		even, odd := model.PA(2*i)<<12, model.PA(2*i+1)<<12
		b.clients[0].send(1000*ns, read(odd, 4096))
		b.clients[0].send(1000*ns, read(even, 4096))
		w := store(even, 4096)
		if i == n-1 {
			w.Kind = msg.KindCQE
		}
		b.clients[1].send(1000*ns, w)
	}
	for i := range n {
		b.clients[1].send(1000*ns, read(model.PA(2*i)<<12, 4096))
	}
	b.run(t)
	const data = n * 64 * perLine
	wantTime(t, "last local", b.answered(0, n-1), 1000*ns+service)
	wantTime(t, "last read to socket 0", b.answered(0, 2*n-1), 1000*ns+service+ways+data)
	wantTime(t, "last written there, behind them", b.inbox.got[0].at-ns, 1000*ns+300*ns+ways+2*data)
	// To socket 1 the link is free; the reads wait only for the writes before them.
	wantTime(t, "first read to socket 1", b.answered(1, 0), 1000*ns+300*ns+ways+2*data)
	wantTime(t, "last read to socket 1", b.answered(1, n-1), 1000*ns+300*ns+ways+2*data)
}

// Frames on both sockets in turn are on all channels of each: eight reads of
// consecutive pages, and none waits for another.
func TestInterleaveSpreadsOverChannels(t *testing.T) {
	spec, config := twoSockets("interleave")
	spec.DRAM.Channels = 4
	b := newDeepBench(t, spec, config, 0, 64)
	for page := range 8 {
		b.clients[page&1].send(1000*ns, read(model.PA(page)<<12, 4096)) // local to each
	}
	b.run(t)
	for i := range 2 {
		for n := range 4 {
			wantTime(t, "read", b.answered(i, n), 1000*ns+service+63*2730)
		}
	}
}

// A write without LLC goes to its memory, and its place in the buffer is taken
// until the word of it is back.
func TestRemoteWriteToDRAM(t *testing.T) {
	for _, name := range []string{controllerIdeal, controllerBanks} {
		spec, config := twoSockets("first")
		spec.DRAM.Controller = name
		spec.IIO.WriteBuffer = 1
		b := newBench(t, spec, config, 0)
		for range 2 {
			w := store(0, 64)
			w.Kind = msg.KindCQE
			b.clients[1].send(1000*ns, w)
		}
		b.run(t)
		const each = 300*ns + ways + perLine
		wantTime(t, "first", b.inbox.got[0].at-ns, 1000*ns+each)
		wantTime(t, "second", b.inbox.got[1].at-ns, 1000*ns+2*each)
	}
}

// A controller that tells late is later by the link too.
func TestRemoteBehindLateController(t *testing.T) {
	for _, tells := range []bool{true, false} {
		spec, config := twoSockets("interleave")
		b := newBench(t, spec, config, 0)
		for i := range b.memory.sockets {
			b.memory.sockets[i].dram = &moody{m: b.memory, ofReads: tells, ofWrites: tells}
		}
		b.clients[1].send(1000*ns, read(3*64, 64)) // frame 0
		w := store(5*64, 64)
		w.Kind = msg.KindCQE
		b.clients[1].send(9000*ns, w)
		b.kernel.send(20000*ns, pageOp(msg.PageZero, 3, 5, 0)) // the second of socket 1
		b.kernel.send(30000*ns, pageOp(msg.PageCPURead, 3, 5, 0))
		b.run(t)
		wantTime(t, "read", b.answered(1, 0)-1000*ns, service+ways+perLine+lateness(3*64))
		wantTime(t, "write", b.inbox.got[0].at-ns-9000*ns, 300*ns+ways+perLine+lateness(5*64))
		wantTime(t, "page", b.kernel.got[0].at-ns-20000*ns, 64*2730+ways+64*perLine+lateness(1<<12))
		wantTime(t, "load", b.kernel.got[1].at-ns-30000*ns, 70*ns+ways+perLine+lateness(1<<12))
	}
}

// The LLC of the device's own socket takes its writes, wherever their memory is.
// Only a line that is not there yet is asked of the other socket, as [pcie-bench]
// has it: remote writes and reads of a window that fits cost what local ones do,
// and beyond they cost more.
func TestRemoteWriteToLLC(t *testing.T) {
	spec, config := twoSockets("first")
	spec.LLC = LLC{Saving: 67 * ns, DDIOLines: 4, DDIOWays: 2}
	b := newBench(t, spec, config, 0)
	entry := func(pa model.PA) msg.MemReq {
		w := store(pa, 64)
		w.Kind = msg.KindCQE
		return w
	}
	steps := []struct {
		client int
		req    msg.MemReq
		late   clocked.Time
	}{
		{1, entry(0), ways},                                // not there: asked for
		{1, entry(0), 0},                                   // there
		{1, read(0, 64), -67 * ns},                         // and read there
		{0, read(0, 64), ways + perLine},                   // by the other socket's device too
		{0, entry(0), ways},                                // which takes it
		{1, read(0, 64), ways + perLine},                   // now it is there
		{1, entry(table), 0},                               // a queue's memory is at home
		{1, entry(2 << 6), ways}, {1, entry(4 << 6), ways}, // two more in a set of two push it out
		{1, read(table, 64), 0}, // to DRAM at home
	}
	for i, s := range steps {
		b.clients[s.client].send(clocked.Time(i+1)*10000*ns, s.req)
	}
	b.run(t)
	var answers [2]int
	entries := 0
	for i, s := range steps {
		start := clocked.Time(i+1) * 10000 * ns
		if s.req.Write {
			wantTime(t, fmt.Sprint("step ", i), b.inbox.got[entries].at-ns-start, 300*ns+s.late)
			entries++
		} else {
			wantTime(t, fmt.Sprint("step ", i), b.answered(s.client, answers[s.client])-start, service+s.late)
			answers[s.client]++
		}
	}
}

// Kernel and CPU are on socket 0.
func TestRemotePageOps(t *testing.T) {
	spec, config := twoSockets("interleave")
	b := newBench(t, spec, config, 0)
	b.kernel.send(1000*ns, pageOp(msg.PageZero, 1, 5, 0))
	b.kernel.send(3000*ns, pageOp(msg.PageCPURead, 1, 5, 0))
	b.kernel.send(4000*ns, pageOp(msg.PageCPUWrite, 1, 5, 0))
	b.kernel.send(5000*ns, pageOp(msg.PageZero, 2, 6, 0))
	b.run(t)
	for i, want := range []clocked.Time{64*2730 + ways + 64*perLine, 70*ns + ways + perLine, 10*ns + ways + perLine, 64 * 2730} {
		start := []clocked.Time{1000, 3000, 4000, 5000}[i] * ns
		wantTime(t, fmt.Sprint("operation ", i), b.kernel.got[i].at-ns-start, want)
	}
}
