package platform

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/workload"
)

// pressed is a small host under pressure: 64 pages of working set, and faults
// short enough to page many times over in a short run.
func pressed(scheme string, overcommit float64, set ...string) []string {
	return append([]string{"scheme=" + scheme, fmt.Sprintf("pressure.overcommit=%g", overcommit), "workload.working_set=256KiB",
		"workload.accesses=1500", "host.pager.grace=500us", "qp.rnr_timer=8", "host.cpu.working_set=0B"}, set...)
}

var overcommits = []float64{0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4}

// Pinned memory never faults, and is refused when it exceeds the host's.
func TestPinnedUnderPressure(t *testing.T) {
	for _, over := range overcommits {
		o, err := execute(nil, pressed("pinned", over))
		if over > 1 {
			var refused *Refused
			if !errors.As(err, &refused) {
				t.Errorf("overcommit %g: %v, want it refused", over, err)
				continue
			}
			text := refused.Error()
			if strings.Contains(text, "\n") || !strings.Contains(text, "64 pages") || !strings.Contains(text, "odp") || !strings.Contains(text, "overcommit") {
				t.Errorf("overcommit %g: %q", over, text)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if f, inv := o.sum.Faults, o.sum.Invalidations; o.broken() != "" || f != (measure.FaultSummary{}) || inv.Issued != 0 {
			t.Errorf("overcommit %g: %s, faults %+v, %d invalidations", over, o.broken(), f, inv.Issued)
		}
	}
}

// What refuses pinned memory names the overcommit that suffices: all pages over
// the pinned ones, and the two frames that a program of the host pages in.
func TestMostThatPinnedMemoryLeaves(t *testing.T) {
	for _, c := range []struct {
		cpu  string
		most float64
	}{{"0B", 1}, {"64KiB", 1.212}} { // 64/64, and (64+16)/(64+2), rounded down
		program := "host.cpu.working_set=" + c.cpu
		_, err := execute(nil, pressed("pinned", 1.5, program))
		if text := fmt.Sprintf("at most %g suffices)", c.most); err == nil || !strings.HasSuffix(err.Error(), text) {
			t.Errorf("%s: %v; want %q", c.cpu, err, text)
		}
		if _, err := execute(nil, pressed("pinned", c.most+0.01, program)); err == nil {
			t.Errorf("%s: %g is not refused", c.cpu, c.most+0.01)
		}
		must(t, nil, pressed("pinned", c.most, program)...)
	}
}

// On demand every page faults at least once; beyond the host's memory pages
// leave and come back, with nothing stale and nothing lost.
func TestOnDemandUnderPressure(t *testing.T) {
	for _, over := range overcommits {
		for _, policy := range []string{"clock", "lru"} {
			o := must(t, nil, pressed("odp", over, "host.pager.policy="+policy, "workload.read_fraction=0.5")...)
			f, inv := &o.sum.Faults, &o.sum.Invalidations
			// 1500 accesses to 64 pages at random miss one with probability 64·(63/64)^1500 < 10⁻⁸.
			if f.Minor < 64 || f.Raised < 1 || o.sum.Transport.RNRNaks.Paging+o.sum.Transport.RNRNaks.OverAdvertised == 0 {
				t.Errorf("overcommit %g: cold faults are missing: %+v", over, *f)
			}
			if free := uint64(o.sum.Advertise.BytesReserved-o.sum.Advertise.BytesResident) >> 12; f.FilledPages != f.Evictions+uint64(o.sys.kernel.ResidentPages()) {
				t.Errorf("overcommit %g: %d pages came, %d left, %d are there, %d frames free", over, f.FilledPages, f.Evictions, o.sys.kernel.ResidentPages(), free)
			}
			switch {
			case over > 1:
				if inv.Issued == 0 || f.Evictions == 0 || f.Major == 0 || f.SwappedOutPages == 0 || f.SwappedInPages == 0 {
					t.Errorf("overcommit %g: no paging: %+v, %d invalidations", over, *f, inv.Issued)
				}
			case over < 1 && (inv.Issued != 0 || f.Evictions != 0 || f.Major != 0):
				t.Errorf("overcommit %g: paging without need: %+v, %d invalidations", over, *f, inv.Issued)
			}
			if inv.Issued > 0 && inv.RoundTripPS.Mean < o.sys.spec.Host.Notifier.Checks+o.sys.spec.TPT.Command.Invalidate {
				t.Errorf("overcommit %g: a round trip of %d ps is shorter than its steps", over, inv.RoundTripPS.Mean)
			}
		}
	}
}

// Latency rises with pressure, and pinned memory is faster than any paging.
func TestPressureCosts(t *testing.T) {
	mean := func(set []string) clocked.Time { return must(t, nil, set...).sum.Accesses.LatencyPS.Mean }
	pinned, fits, tight := mean(pressed("pinned", 0.5)), mean(pressed("odp", 0.5)), mean(pressed("odp", 4))
	if pinned >= fits || fits >= tight {
		t.Errorf("mean latency: pinned %d, odp that fits %d, overcommit 4 %d ps", pinned, fits, tight)
	}
}

// A READ on writable memory faults for write, so pages that nobody stored to
// are swapped out; without that rule none is.
func TestReadsThatDirty(t *testing.T) {
	for _, initial := range []string{"zero", "swapped"} {
		for _, dirty := range []bool{true, false} {
			o := must(t, nil, pressed("odp", 2, "workload.read_fraction=1", "host.pager.initial="+initial,
				fmt.Sprintf("host.pager.read_faults_write=%v", dirty))...)
			f := &o.sum.Faults
			if dirty && (f.ExtraSwapOuts == 0 || f.ExtraSwapOuts != f.SwappedOutPages) || !dirty && f.SwappedOutPages != 0 || f.Evictions == 0 {
				t.Errorf("initial %s, read_faults_write %v: %d of %d swap-outs extra, %d evictions", initial, dirty,
					f.ExtraSwapOuts, f.SwappedOutPages, f.Evictions)
			}
		}
	}
}

// An absent page is over-advertised exactly while more is advertised than
// memory reserved for it.
func TestClassesOfRNR(t *testing.T) {
	for _, over := range []float64{0.5, 1, 1.5, 3} {
		rnr := must(t, nil, pressed("odp", over)...).sum.Transport.RNRNaks
		if total := rnr.Paging + rnr.OverAdvertised; total == 0 || (over > 1) != (rnr.OverAdvertised == total) || (over <= 1) != (rnr.Paging == total) {
			t.Errorf("overcommit %g: %+v", over, rnr)
		}
	}
	// 64 KiB are promised of the 256 that are registered, on 128 of memory.
	rnr := must(t, nil, pressed("odp", 2, "advertise.bytes=64KiB")...).sum.Transport.RNRNaks
	if rnr.Paging == 0 || rnr.OverAdvertised != 0 {
		t.Errorf("64 KiB advertised: %+v", rnr)
	}
}

// Pinning is not free: what is pinned is taken from the CPU's own user.
func TestPinningStarvesCPU(t *testing.T) {
	set := []string{"workload.accesses=3000", "workload.working_set=256KiB", "host.cpu.working_set=128KiB", "host.cpu.think_time=100ns"}
	roomy := must(t, nil, append(set, "host.memory=4MiB")...).sum.CPU
	tight := must(t, nil, append(set, "host.memory=320KiB")...).sum.CPU
	if roomy.Accesses == 0 || tight.Accesses == 0 || tight.StallPS <= roomy.StallPS || tight.LatencyPS.Mean <= roomy.LatencyPS.Mean {
		t.Errorf("roomy %+v, tight %+v", roomy, tight)
	}
}

// 20 GiB advertised on 2 GiB of memory: 5,242,880 pages on 524,288 frames.
func TestTwentyOnTwo(t *testing.T) {
	for _, initial := range []string{"zero", "swapped"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o := must(t, nil, "scheme=odp", "workload.working_set=20GiB", "host.memory=2GiB", "workload.accesses=300", "host.pager.initial="+initial)
		runtime.ReadMemStats(&after)
		// All that was ever allocated, so the peak is less.
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 600 {
			t.Errorf("initial %s: %d MiB", initial, mib)
		}
		a := &o.sum.Advertise
		if a.BytesAdvertised != 20<<30 || a.BytesReserved != 2<<30 || o.sum.Transport.RNRNaks.OverAdvertised == 0 {
			t.Errorf("initial %s: %+v", initial, a.AdvertiseStats)
		}
	}
}

// An unloaded fault takes what its steps take: the adapter's trigger 129.2 us,
// interrupt 1, driver 3.4, CPU fault 1, update 0.2 + 5, the adapter's resume
// 77.9, with a swap read 60 us and 1.3 us more of software, 4 KiB at 24 Gb/s
// 1.4 us; PCIe and memory add a few microseconds.
func TestUnloadedFault(t *testing.T) {
	const us = clocked.Microsecond
	steps := 217700 * ns
	for _, c := range []struct {
		initial string
		want    clocked.Time
	}{{"zero", steps}, {"swapped", steps + 62700*ns}} {
		got := latencyOf(t, accesses(model.OpWrite, 64, 0, 1), "scheme=odp", "host.memory=1MiB", "qp.fault_response=hold", "host.pager.initial="+c.initial) -
			latencyOf(t, accesses(model.OpWrite, 64, 0, 1))
		if got < c.want || got > c.want+8*us {
			t.Errorf("initial %s: %v, want %v and a little", c.initial, got, c.want)
		}
	}
}

// C11, from end to end: 128 queue pairs READ one page that nobody has touched.
// The kernel fills it once, each has its fault and its resume, and each that
// was told to wait sends its one packet again; an adapter that floods sends more.
func TestManyQPsFaultOnOnePage(t *testing.T) {
	set := []string{"scheme=odp", "transport=rc", "workload.qps=128", "workload.outstanding=128", "workload.accesses=128",
		"workload.working_set=4KiB", "workload.access_bytes=64B", "workload.read_fraction=1", "qp.rnr_timer=18"}
	o := must(t, nil, set...)
	f, tr := &o.sum.Faults, &o.sum.Transport
	if f.Minor+f.Major != 1 || f.FilledPages != 1 || f.Raised != f.Resumed || f.Raised > 128 ||
		tr.RNRNaks.Paging > 128 || tr.PacketsResent != tr.RNRNaks.Paging || o.sum.Accesses.Completed != 128 {
		t.Errorf("faults %+v, transport %+v", f, tr)
	}
	if flood := must(t, nil, append(set, "qp.flood=true")...).sum.Transport.PacketsResent; flood <= tr.PacketsResent {
		t.Errorf("%d packets again in a flood, %d without", flood, tr.PacketsResent)
	}
}

// A fault asks for all pages that are left of its message, at most
// tpt.fault.pages of them; under sva each is a page request of one group.
func TestFaultCoversMessage(t *testing.T) {
	const pages = 16
	for _, scheme := range []string{"odp", "sva"} {
		for _, op := range []model.Op{model.OpWrite, model.OpRead} {
			for most, faults := range map[int]uint64{1: 16, 5: 4, 16: 1, 1024: 1} {
				o := must(t, &Input{Accesses: accesses(op, pages<<12, 0)}, "scheme="+scheme, "transport=rc", "host.memory=1MiB",
					"qp.fault_response=hold", "tpt.fault.pages="+itoa(most))
				f := &o.sum.Faults
				if f.Raised != faults || f.FilledPages != pages {
					t.Errorf("%s %v, at most %d pages: %d faults filled %d pages, want %d and %d", scheme, op, most, f.Raised, f.FilledPages, faults, pages)
				}
				if asked := o.sys.nodes[0].tpt.Stats.PageRequests; scheme == "sva" && asked != pages {
					t.Errorf("%v, at most %d pages: %d page requests", op, most, asked)
				}
			}
		}
	}
}

// Groups that a small ring keeps only in part are answered, discarded and asked
// for again.
func TestPartOfAGroup(t *testing.T) {
	var all []workload.Access
	for q := range uint32(8) {
		a := accesses(model.OpWrite, 8<<12, int(8*q))[0]
		a.QP = q
		all = append(all, a)
	}
	o := must(t, &Input{Accesses: all}, "scheme=sva", "workload.qps=8", "workload.outstanding=8", "adapters=2", "tpt.page_requests=8",
		"host.iommu.page_requests=12")
	if n := o.sys.kernel.Stats.PartsDiscarded; n == 0 || o.sum.Accesses.Completed != 8 {
		t.Errorf("%d parts discarded, %+v", n, o.sum.Accesses)
	}
}

// A fault for reading takes no right to store from a page that it covers: a WRITE
// to page 2, a READ of pages 0 to 3, whose fault fills what is before page 2, and
// another for page 3, and the WRITE again, which finds its page as it was.
func TestReadFaultKeepsRights(t *testing.T) {
	store, load := accesses(model.OpWrite, 64, 2), accesses(model.OpRead, 4<<12, 0)
	for _, response := range []string{"hold", "rnr"} {
		o := must(t, &Input{Accesses: append(append(store, load...), store...)}, "scheme=odp", "transport=rc", "workload.outstanding=1",
			"host.memory=1MiB", "host.pager.read_faults_write=false", "watchdog=1s", "qp.fault_response="+response)
		if f := &o.sum.Faults; f.Raised != 3 || f.FilledPages != 4 {
			t.Errorf("%s: %d faults filled %d pages, want 3 and 4", response, f.Raised, f.FilledPages)
		}
	}
}
