package memory

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// akitaSpec is Akita's controller at 1 GHz, so that a cycle is 1 ns and the
// clock's edges are those of the wires, with two ranks of 16 banks.
func akitaSpec() Spec {
	s := quiet()
	s.DRAM.Controller = controllerAkita
	s.DRAM.Akita = Akita{Clock: 1e9, CL: 21, CWL: 16, RCD: 20, RP: 17, RAS: 47, RTP: 11, WR: 22,
		CCDL: 8, RRDS: 4, RRDL: 9, WTRS: 4, WTRL: 11, RTRS: 1}
	return s
}

// raw is a host whose root port adds nothing: reads are answered when they are served.
func raw() Config {
	c := fourFrames(1)
	c.ReadService = 1
	return c
}

// servedAt are the times after 1000 ns at which Akita's controller has served
// requests that all arrive then; writes count as reads' company.
func servedAt(t *testing.T, spec Spec, reqs ...msg.MemReq) []clocked.Time {
	t.Helper()
	b := newDeepBench(t, spec, raw(), 0, 1024)
	for i, r := range reqs {
		r.Tag = uint16(i)
		b.clients[0].send(1000*ns, r)
	}
	b.run(t)
	all := make([]clocked.Time, len(reqs))
	for _, g := range b.clients[0].got {
		all[g.msg.Tag] = g.at - ns - 1000*ns - clocked.Picosecond
	}
	return all
}

// A line at rest, in cycles: 1 to the connection's edge, 1 to the controller's
// tick, 1 to the command queue, 1 to the activation, rcd to the read, rp until the
// bank has done with it, 1 to the answer, 1 to the connection's edge. Then the
// unloaded read is the root port's, not a picosecond more.
func TestAkitaAtRest(t *testing.T) {
	for _, c := range []struct{ rcd, rp int }{{20, 17}, {5, 30}, {1, 1}} {
		spec := akitaSpec()
		spec.DRAM.Akita.RCD, spec.DRAM.Akita.RP = c.rcd, c.rp
		got := servedAt(t, spec, read(0, 64))
		wantTime(t, "in the controller", got[0], clocked.Time(6+c.rcd+c.rp)*ns)
		b := newBench(t, spec, fourFrames(1), 0)
		b.clients[0].send(1000*ns, read(0, 8))
		b.clients[0].send(9000*ns, read(1<<45, 8)) // where tables are
		b.run(t)
		wantTime(t, "read", b.answered(0, 0)-1000*ns, service)
		wantTime(t, "read of a table", b.answered(0, 1)-9000*ns, service)
	}
}

// What a second read waits for, by what it shares with the first.
func TestAkitaConflicts(t *testing.T) {
	type timings = func(*Akita)
	for _, c := range []struct {
		name string
		pa   model.PA
		set  timings
		want clocked.Time // cycles after the first
	}{
		// A row is never hit: it is closed behind each access. The bank is free
		// again after a row cycle, ras + rp from activation to activation …
		{"the line itself", 0, nil, 47 + 17},
		{"a line of its bank", 32 * 64, nil, 47 + 17},
		// … or when the read, rcd after activation, has precharged: a burst, rtp, rp.
		{"a line of its bank, slow precharge", 32 * 64, func(a *Akita) { a.RTP = 30 }, 20 + 4 + 30 + 17},
		// Other banks wait for the bus, a burst, or for the activation.
		{"another group", 64, nil, 4},
		{"another group, slow activation", 64, func(a *Akita) { a.RRDS = 13 }, 13},
		{"another bank of the group", 4 * 64, nil, 9},
		{"another bank of the group, slow access", 4 * 64, func(a *Akita) { a.CCDL = 15 }, 15},
		{"another rank", 16 * 64, nil, 5},
		{"another rank, slow bus", 16 * 64, func(a *Akita) { a.RTRS = 6 }, 10},
	} {
		spec := akitaSpec()
		if c.set != nil {
			c.set(&spec.DRAM.Akita)
		}
		got := servedAt(t, spec, read(0, 64), read(c.pa, 64))
		wantTime(t, c.name, got[1]-got[0], c.want*ns)
	}
}

// A read behind a write of another group waits for the bus to turn: as Akita has
// it, cl, the burst and wtr_s after the write.
func TestAkitaTurnaround(t *testing.T) {
	spec := akitaSpec()
	spec.IIO.WriteLatency = 1 // nor does the IIO hold the read
	got := servedAt(t, spec, store(0, 64), read(64, 64))
	wantTime(t, "read", got[1], (6+20+17+21+4+4)*ns)
}

// Peak bandwidth: a burst of four cycles a line, and no more than rtrs each time
// that the rank changes, every 16 lines; on each channel by itself.
func TestAkitaBandwidth(t *testing.T) {
	for _, channels := range []int{1, 4} {
		spec := akitaSpec()
		spec.DRAM.Channels = channels
		var all []msg.MemReq
		const blocks = 8 // of 64 lines, on each channel
		for i := range blocks * channels {
			all = append(all, read(model.PA(i)*4096, 4096))
		}
		got := servedAt(t, spec, all...)
		const least = (6 + 20 + 17 + 4*(blocks*64-1)) * ns
		for i := range channels {
			last := got[(blocks-1)*channels+i]
			if last < least || last > least+(blocks*4-1)*ns {
				t.Errorf("%d channels, channel %d: last line at %v, want %v and little more", channels, i, last, least)
			}
		}
	}
}

// Stale and lost are told as under every controller.
func TestContentUnderEveryController(t *testing.T) {
	for _, name := range []string{controllerIdeal, controllerBanks, controllerAkita} {
		spec := akitaSpec()
		spec.DRAM.Controller = name
		b := newBench(t, spec, fourFrames(1), 0)
		b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 5, 0))
		b.clients[0].send(2000*ns, data(true, 0, 5, 42))
		b.kernel.send(3000*ns, pageOp(msg.PageCPUWrite, 0, 5, 0))
		b.kernel.send(4000*ns, pageOp(msg.PageOut, 0, 5, 3))
		b.kernel.send(5000*ns, pageOp(msg.PageFree, 0, 5, 0))
		b.clients[0].send(6000*ns, data(true, 0, 5, 43)) // stale, and lost to the page
		b.kernel.send(7000*ns, pageOp(msg.PageIn, 2, 5, 3))
		b.clients[0].send(8000*ns, data(false, 2, 5, 0)) // sees that it is lost
		b.clients[0].send(9000*ns, data(false, 0, 5, 0)) // stale
		stats := b.run(t)
		if stats.StaleDMA != 2 || stats.LostWrites != 2 || !b.clients[0].got[1].msg.Stale || len(b.kernel.got) != 5 {
			t.Errorf("%s: stale %d, lost %d, %d page operations; want 2, 2 (page-in and read), 5", name, stats.StaleDMA, stats.LostWrites, len(b.kernel.got))
		}
	}
}

// The default part: 43 + 6 cycles of 0.682 ns are 33 ns, hidden in the root port's latency.
func TestAkitaBesideBanks(t *testing.T) {
	var got []string
	for _, name := range []string{controllerBanks, controllerAkita} {
		spec := akitaSpec()
		spec.DRAM.Controller = name
		spec.DRAM.Akita.Clock, spec.DRAM.Akita.RCD, spec.DRAM.Akita.RP = 1466e6, 21, 21
		b := newBench(t, spec, fourFrames(1), 0)
		for i := range 20 {
			b.clients[0].send(clocked.Time(1000+777*i)*ns, read(model.PA(i*8192), 64))
		}
		b.run(t)
		var times []clocked.Time
		for i := range 20 {
			times = append(times, b.answered(0, i))
		}
		got = append(got, fmt.Sprint(times))
	}
	if got[0] != got[1] {
		t.Errorf("banks %s\nakita %s: at rest they are the same", got[0], got[1])
	}
}
