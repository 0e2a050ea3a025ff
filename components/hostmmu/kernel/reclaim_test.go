package kernel

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// One pass over N swapped pages with F frames: N major faults, N−F evictions.
func TestSequentialPass(t *testing.T) {
	for _, policy := range []string{"clock", "lru"} {
		const pageCount, frames = 100, 10
		s := quick(frames)
		s.Pager.Initial, s.Pager.Policy = "swapped", policy
		w := newWorld(t, setting{spec: s, regions: oneRegion(pageCount)})
		w.touch(true, pages(0, pageCount)...)
		stats := w.run()
		wantCount(t, policy+" major", stats.Major, pageCount)
		wantCount(t, policy+" evictions", stats.Evictions, pageCount-frames)
		wantCount(t, policy+" invalidations", stats.InvalidationsIssued, pageCount-frames)
		wantCount(t, policy+" swapped out", stats.SwappedOut, pageCount-frames)
		wantCount(t, policy+" extra", stats.ExtraSwapOuts, 0)
	}
}

// Cyclic passes over one page more than fits: LRU never hits.
func TestCyclicLRUNeverHits(t *testing.T) {
	const frames, passes = 8, 4
	s := quick(frames)
	s.Pager.Policy = "lru"
	w := newWorld(t, setting{spec: s, regions: oneRegion(frames + 1)})
	var script []uint32
	for range passes {
		script = append(script, pages(0, frames+1)...)
	}
	q := w.touch(true, script...)
	w.run()
	wantCount(t, "faults", uint64(q.faults), passes*(frames+1))
}

// A hot set that fits faults once a page.
func TestHotSetFits(t *testing.T) {
	s := quick(8)
	w := newWorld(t, setting{spec: s, regions: oneRegion(8)})
	q := w.touch(true, append(pages(0, 8), pages(0, 8)...)...)
	stats := w.run()
	wantCount(t, "faults", uint64(q.faults), 8)
	wantCount(t, "evictions", stats.Evictions, 0)
}

// Pages that are only read: with read_faults_write every eviction after the
// first swap-out writes swap in vain, without it none does.
func TestReadsFaultForWrite(t *testing.T) {
	for _, forWrite := range []bool{true, false} {
		const pageCount, frames = 20, 4
		s := quick(frames)
		s.Pager.Initial, s.Pager.ReadFaultsWrite = "swapped", forWrite
		w := newWorld(t, setting{spec: s, regions: oneRegion(pageCount)})
		w.touch(false, pages(0, pageCount)...)
		stats := w.run()
		want := uint64(0)
		if forWrite {
			want = pageCount - frames
		}
		wantCount(t, "extra swap-outs", stats.ExtraSwapOuts, want)
		wantCount(t, "swap-outs", stats.SwappedOut, want)
		wantCount(t, "dropped", stats.Dropped, pageCount-frames-want)
	}
}

// A page of zeros that nobody stored to is dropped and zero-filled again.
func TestUnwrittenPageIsDropped(t *testing.T) {
	s := quick(2)
	s.Pager.ReadFaultsWrite = false
	w := newWorld(t, setting{spec: s, regions: oneRegion(4)})
	w.touch(false, 0, 1, 2, 3, 0)
	stats := w.run()
	wantCount(t, "minor", stats.Minor, 5)
	wantCount(t, "major", stats.Major, 0)
	wantCount(t, "dropped", stats.Dropped, 3)
}

// The swap device bounds throughput: depth pages each latency and transfer, or
// the link.
func TestSwapDepthAndBandwidth(t *testing.T) {
	const n = 64
	for _, c := range []struct {
		depth     int
		bandwidth model.BitRate
		want      clocked.Time // end of the last of n reads put in at once
	}{
		{1, 32e9, n * (60*us + 1024*ns)},      // one at a time: 4096 B at 4 GB/s is 1024 ns
		{n, 32e9, n*1024*ns + 60*us},          // all at once: the link, then the latency
		{8, 32e12, n/8*(60*us+1024) + 7*1024}, // eight at a time, 1.024 ns apart
	} {
		d := newSwap(Swap{ReadLatency: 60 * us, Bandwidth: c.bandwidth, QueueDepth: c.depth}, 12)
		var end clocked.Time
		for range n {
			end = d.transfer(0, d.read)
		}
		wantTime(t, fmt.Sprint("depth ", c.depth), end, c.want)
	}
}

// Read-ahead turns faults into hits of the CPU page table.
func TestReadahead(t *testing.T) {
	s := quick(64)
	s.Pager.Initial, s.Pager.Readahead = "swapped", 7
	w := newWorld(t, setting{spec: s, regions: oneRegion(32)})
	w.touch(true, pages(0, 32)...)
	stats := w.run()
	wantCount(t, "major", stats.Major, 4)
	wantCount(t, "read ahead", stats.ReadaheadPages, 28)
	wantCount(t, "swapped in", stats.SwappedIn, 32)
}

// Background reclaim keeps the free frames at the high watermark.
func TestWatermarks(t *testing.T) {
	s := quick(100)
	s.Pager.Low, s.Pager.High = 0.05, 0.10
	s.Pager.Swap.WriteLatency = 0 // reclaim keeps up with the faults
	w := newWorld(t, setting{spec: s, regions: oneRegion(200)})
	w.touch(true, pages(0, 200)...)
	stats := w.run()
	if free, _, _ := w.kernel.Frames(); free < 5 || stats.Wakeups == 0 || stats.DirectReclaims > 0 {
		t.Errorf("free %d, wake-ups %d, direct reclaims %d", free, stats.Wakeups, stats.DirectReclaims)
	}
}

// INV-12: neighbours whose accessed bits are clear leave with one command: the first
// victim's turn of the hand has cleared them all.
func TestBatchedInvalidation(t *testing.T) {
	s := quick(16)
	s.Pager.Batch = 4
	w := newWorld(t, setting{spec: s, regions: oneRegion(20)})
	w.touch(true, pages(0, 20)...)
	stats := w.run()
	wantCount(t, "evictions", stats.Evictions, 4)
	wantCount(t, "commands", stats.InvalidationsIssued, 1)
	wantCount(t, "pages of the record", uint64(w.records[0].Pages), 4)
}

// OVR-1: a page that a fault has filled stays for the grace time, however short of
// frames the host is.
func TestGrace(t *testing.T) {
	s := quick(2)
	s.Pager.Grace = 500 * us
	w := newWorld(t, setting{spec: s, regions: oneRegion(6)})
	w.touch(true, pages(0, 6)...)
	w.run()
	for i, r := range w.records {
		if i >= 2 && r.Notified-w.records[i-2].Notified < 500*us {
			t.Errorf("eviction %d at %v, the one two before at %v: frames are 2, grace is 500 us", i, r.Notified, w.records[i-2].Notified)
		}
	}
}

// INV-2: two adapters over the same pages: both are told before the frame goes, at
// once or one after the other.
func TestEveryAdapterIsTold(t *testing.T) {
	for _, order := range []string{"parallel", "serial"} {
		s := steps(quick(2))
		s.Notifier.Order = order
		regions := append(oneRegion(3), Region{VA: 0x10000, Length: 3 * 4096, Adapter: 1, Writable: true})
		w := newWorld(t, setting{spec: s, regions: regions, adapters: 2})
		w.nics[0].qps = []*qp{{script: []access{{page: 0, write: true}}}}
		w.nics[1].qps = []*qp{{script: []access{{page: 0, write: true}, {entry: 1, page: 1, write: true}, {entry: 2, page: 2, write: true}}}}
		stats := w.run()
		wantCount(t, "commands", stats.InvalidationsIssued, 2)
		a, b := w.records[0], w.records[1]
		if a.Adapter == b.Adapter || a.Done != b.Done {
			t.Errorf("records %+v, %+v", a, b)
		}
		gap := clocked.Time(0)
		if order == "serial" {
			gap = hop + us + hop
		}
		wantTime(t, order, b.Sent-a.Sent, gap)
		wantTime(t, order+": the first waits for the other", a.Others-a.Acknowledged, gap)
		wantTime(t, order+": the last one waits for none", b.Others-b.Acknowledged, 0)
		wantTime(t, order+": updates, flush", a.Done-a.Others, 500*ns+1700*ns)
	}
}

// CLOCK against a naive model: accesses by the CPU's page table only.
func TestClockAgainstNaive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		frames := rapid.IntRange(2, 6).Draw(rt, "frames")
		script := rapid.SliceOfN(rapid.Uint32Range(0, 9), 1, 60).Draw(rt, "pages")
		s := quick(frames)
		w := newWorld(t, setting{spec: s, regions: oneRegion(10)})
		q := w.touch(true, script...)
		w.run()
		if want := naiveClock(frames, script); q.faults != want {
			rt.Fatalf("%d faults, want %d", q.faults, want)
		}
	})
}

// naiveClock counts the faults of second chance, where only bringing a page in
// sets its accessed bit.
func naiveClock(frames int, script []uint32) (faults int) {
	held := make([]int, frames)
	used := make([]bool, frames)
	for i := range held {
		held[i] = -1
	}
	hand, filled := 0, 0
next:
	for _, p := range script {
		for _, h := range held {
			if h == int(p) {
				continue next
			}
		}
		faults++
		at := filled
		if filled < frames {
			filled++
		} else {
			for used[hand] {
				used[hand] = false
				hand = (hand + 1) % frames
			}
			at = hand
			hand = (hand + 1) % frames
		}
		held[at], used[at] = int(p), true
	}
	return faults
}

// A page that is touched in turn with as many others as memory holds and d more
// leaves d evictions before it comes back, under lru: it is a refault where d is
// less than a quarter of memory, and none where d is a quarter.
func TestRefaults(t *testing.T) {
	for d, want := range map[int]uint64{3: 2 * 19, 4: 0} {
		s := steps(quick(16))
		s.Pager.Policy = lru
		w := newWorld(t, setting{spec: s, regions: oneRegion(32)})
		turn := pages(0, uint32(16+d))
		w.touch(true, slices.Concat(turn, turn, turn)...)
		stats := w.run()
		wantCount(t, "pages filled", stats.FilledPages, uint64(3*(16+d)))
		wantCount(t, "refaults", stats.Refaults, want)
	}
}
