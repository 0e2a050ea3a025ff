package memory

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

func data(write bool, frame, page uint32, id uint64) msg.MemReq {
	return msg.MemReq{Write: write, Kind: msg.KindData, PA: msg.FramePA(frame, model.Shift4K), Len: 64,
		Oracle: msg.Oracle{Page: page, Write: id}}
}

func pageOp(kind msg.PageOpKind, frame, page, slot uint32) msg.PageOp {
	return msg.PageOp{Kind: kind, Frame: frame, Page: page, Slot: slot, Write: 77}
}

// GIVEN a page with a write, WHEN it goes out and comes in elsewhere, THEN the
// write is there; WHEN it comes in from a slot that was never written, THEN the
// write is lost and counted.
func TestContentSurvivesSwap(t *testing.T) {
	for _, slot := range []uint32{3, 4} {
		b := newBench(t, quiet(), fourFrames(1), 0)
		b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 5, 0))
		b.clients[0].send(2000*ns, data(true, 0, 5, 42))
		b.kernel.send(3000*ns, pageOp(msg.PageOut, 0, 5, 3))
		b.kernel.send(4000*ns, pageOp(msg.PageFree, 0, 5, 0))
		b.kernel.send(5000*ns, pageOp(msg.PageIn, 2, 5, slot))
		b.clients[0].send(6000*ns, data(false, 2, 5, 0))
		stats := b.run(t)
		want := uint64(0)
		if slot == 4 {
			want = 2 // the page-in, and the read that follows
		}
		if stats.LostWrites != want || stats.StaleDMA != 0 {
			t.Errorf("slot %d: lost %d, stale %d; want %d, 0", slot, stats.LostWrites, stats.StaleDMA, want)
		}
	}
}

// A posted write is checked when it is placed, not when it arrives.
func TestWriteIsCheckedAtPlacement(t *testing.T) {
	for _, c := range []struct {
		freed clocked.Time
		stale uint64
	}{{2310 * ns, 0}, {2290 * ns, 1}} { // arrives at 2000, is placed at 2300
		b := newBench(t, quiet(), fourFrames(1), 0)
		b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 5, 0))
		b.clients[0].send(2000*ns, data(true, 0, 5, 42))
		b.kernel.send(c.freed, pageOp(msg.PageFree, 0, 5, 0))
		if got := b.run(t).StaleDMA; got != c.stale {
			t.Errorf("freed at %v: stale %d, want %d", c.freed, got, c.stale)
		}
	}
}

func TestStaleReadIsMarked(t *testing.T) {
	b := newBench(t, quiet(), fourFrames(1), 0)
	b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 5, 0))
	b.clients[0].send(3000*ns, data(false, 0, 6, 0)) // another page's frame
	b.clients[0].send(3000*ns, data(false, 0, 5, 0))
	b.clients[0].send(3000*ns, data(false, 999, 5, 0)) // no frame at all
	stats := b.run(t)
	got := b.clients[0].got
	if !got[0].msg.Stale || got[1].msg.Stale || !got[2].msg.Stale || stats.StaleDMA != 2 {
		t.Errorf("stale %v %v %v, counted %d; want true false true, 2", got[0].msg.Stale, got[1].msg.Stale, got[2].msg.Stale, stats.StaleDMA)
	}
}

func TestCPUSeesDeviceWrites(t *testing.T) {
	b := newBench(t, quiet(), fourFrames(1), 0)
	b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 5, 0))
	b.clients[0].send(2000*ns, data(true, 0, 5, 42))
	b.kernel.send(3000*ns, pageOp(msg.PageCPUWrite, 0, 5, 0))
	b.kernel.send(4000*ns, pageOp(msg.PageCPURead, 0, 5, 0))
	b.clients[0].send(5000*ns, data(false, 0, 5, 0))
	stats := b.run(t)
	if stats.LostWrites != 0 || stats.StaleDMA != 0 {
		t.Errorf("lost %d, stale %d", stats.LostWrites, stats.StaleDMA)
	}
	wantTime(t, "store", b.kernel.got[1].at-ns-3000*ns, 10*ns)
	wantTime(t, "load", b.kernel.got[2].at-ns-4000*ns, 70*ns)
}

func TestHostWithoutFramesChecksNothing(t *testing.T) {
	config := fourFrames(1)
	config.Frames, config.Pages, config.Slots = 0, 0, 0
	b := newBench(t, quiet(), config, 0)
	b.clients[0].send(1000*ns, data(true, 0, 5, 42))
	b.clients[0].send(1000*ns, data(false, 0, 5, 42))
	if s := b.run(t); s.StaleDMA != 0 || len(b.clients[0].got) != 1 {
		t.Errorf("stale %d, answers %d", s.StaleDMA, len(b.clients[0].got))
	}
}

// Hardware has no tick order: shuffling equal instants changes nothing, and
// every request is answered.
func TestShuffleInvariance(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type step struct {
			client, pa int
			at         int
			write      bool
		}
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{rapid.IntRange(0, 1).Draw(rt, "client"), rapid.IntRange(0, 255).Draw(rt, "line"),
				rapid.IntRange(1, 20).Draw(rt, "ns"), rapid.Bool().Draw(rt, "write")}
		}), 1, 60).Draw(rt, "steps")
		var first string
		name := rapid.SampledFrom([]string{controllerIdeal, controllerBanks, controllerAkita}).Draw(rt, "controller")
		lines := rapid.SampledFrom([]int{0, 16}).Draw(rt, "DDIO lines")
		for shuffle := range uint64(4) {
			spec := akitaSpec()
			spec.DRAM.Controller = name
			spec.IIO.WriteBuffer = 4
			spec.LLC = LLC{Saving: 67 * ns, DDIOLines: lines, DDIOWays: 2}
			b := newBench(t, spec, fourFrames(2), shuffle)
			reads, at := 0, [2]clocked.Time{1000 * ns, 1000 * ns}
			b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 5, 0))
			for i, s := range steps {
				at[s.client] += clocked.Time(s.at) * ns
				req := data(s.write, uint32(s.pa/64), 5, uint64(i))
				req.PA += model.PA(s.pa % 64 * 64)
				b.clients[s.client].send(at[s.client], req)
				if !s.write {
					reads++
				}
			}
			stats := b.run(t)
			if n := len(b.clients[0].got) + len(b.clients[1].got); n != reads {
				rt.Fatalf("%d answers to %d reads", n, reads)
			}
			result := fmt.Sprint(b.clients[0].got, b.clients[1].got, b.kernel.got, stats)
			if first == "" {
				first = result
			} else if result != first {
				rt.Fatalf("shuffle %d:\n%s\nwant\n%s", shuffle, result, first)
			}
		}
	})
}

// A page-out that swap did not need says so: the page was never written, or
// not since its last page-out.
func TestPageOutInVain(t *testing.T) {
	b := newBench(t, quiet(), fourFrames(1), 0)
	b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 5, 0))
	b.kernel.send(2000*ns, pageOp(msg.PageOut, 0, 5, 3)) // never written
	b.clients[0].send(3000*ns, data(true, 0, 5, 42))
	b.kernel.send(4000*ns, pageOp(msg.PageOut, 0, 5, 3)) // written
	b.kernel.send(5000*ns, pageOp(msg.PageOut, 0, 5, 3)) // not since
	b.run(t)
	for i, want := range []bool{true, false, true} {
		if got := b.kernel.got[i+1].msg.Same; got != want {
			t.Errorf("page-out %d: in vain %v, want %v", i, got, want)
		}
	}
}

// A page that the process gave up is zeros when it is touched again, whether a
// frame or a swap slot held it; its old slot serves it no more.
func TestDiscard(t *testing.T) {
	for _, slot := range []uint32{5, msg.NoPage} { // in swap; in a frame
		b := newBench(t, quiet(), fourFrames(1), 0)
		b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 5, 0))
		b.clients[0].send(2000*ns, data(true, 0, 5, 42))
		frame := uint32(0)
		if slot != msg.NoPage {
			b.kernel.send(3000*ns, pageOp(msg.PageOut, 0, 5, 5))
			b.kernel.send(4000*ns, pageOp(msg.PageFree, 0, 5, 0))
			frame = msg.NoPage
		}
		b.kernel.send(5000*ns, pageOp(msg.PageDiscard, frame, 5, 5))
		b.kernel.send(6000*ns, pageOp(msg.PageZero, 1, 5, 0))
		b.clients[0].send(7000*ns, data(false, 1, 5, 0))
		b.clients[0].send(8000*ns, data(false, 0, 5, 0)) // the old frame
		b.kernel.send(9000*ns, pageOp(msg.PageIn, 2, 5, 5))
		stats := b.run(t)
		if stats.LostWrites != 1 || stats.StaleDMA != 1 || stats.StaleDeferred != 0 {
			t.Errorf("frame %d: lost %d, stale %d, by design %d; want 1 (from the old slot), 1 (of the old frame), 0", frame, stats.LostWrites, stats.StaleDMA, stats.StaleDeferred)
		}
	}
}

// E1: what a registration reaches that outlived the mapping of its page is stale
// by design while the frame is its own, and simply stale once the frame is
// free or another page's. The page as it is mapped now misses nothing.
func TestOrphan(t *testing.T) {
	b := newBench(t, quiet(), fourFrames(1), 0)
	b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 5, 0))
	b.clients[0].send(2000*ns, data(true, 0, 5, 42))
	b.kernel.send(3000*ns, pageOp(msg.PageOrphan, 0, 5, 5))
	b.kernel.send(4000*ns, pageOp(msg.PageZero, 1, 5, 0))
	b.clients[0].send(5000*ns, data(true, 0, 5, 43))
	b.clients[0].send(6000*ns, data(false, 0, 5, 0))
	b.clients[0].send(6500*ns, data(false, 0, 6, 0)) // another page's
	b.clients[0].send(7000*ns, data(false, 1, 5, 0))
	b.kernel.send(8000*ns, pageOp(msg.PageFree, 0, 5, 0))
	b.clients[0].send(9000*ns, data(false, 0, 5, 0))
	b.kernel.send(10000*ns, pageOp(msg.PageZero, 0, 6, 0))
	b.clients[0].send(11000*ns, data(false, 0, 5, 0))
	stats := b.run(t)
	if stats.LostWrites != 0 || stats.StaleDMA != 3 || stats.StaleDeferred != 2 {
		t.Errorf("lost %d, stale %d, by design %d; want 0, 3, 2", stats.LostWrites, stats.StaleDMA, stats.StaleDeferred)
	}
}

// DMA by a translation whose flush was put off is counted, and harms neither
// the page that it means nor the one whose frame it reaches.
func TestExcused(t *testing.T) {
	c := fourFrames(1)
	c.Excused = func(page, frame uint32) bool { return page == 5 && frame == 0 }
	b := newBench(t, quiet(), c, 0)
	b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 6, 0))
	b.kernel.send(1500*ns, pageOp(msg.PageZero, 1, 5, 0))
	b.clients[0].send(2000*ns, data(true, 0, 5, 42))
	b.clients[0].send(3000*ns, data(false, 0, 5, 0))
	b.clients[0].send(4000*ns, data(false, 0, 6, 0))
	b.clients[0].send(5000*ns, data(false, 1, 5, 0))
	stats := b.run(t)
	if stats.LostWrites != 0 || stats.StaleDMA != 0 || stats.StaleDeferred != 2 {
		t.Errorf("lost %d, stale %d, by design %d; want 0, 0, 2", stats.LostWrites, stats.StaleDMA, stats.StaleDeferred)
	}
	if got := b.clients[0].got; !got[0].msg.Stale || got[1].msg.Stale || got[2].msg.Stale {
		t.Errorf("%+v: the first read is stale and no other", got)
	}
}

// Migration: the copy holds the content, the old frame is nobody's.
func TestMigration(t *testing.T) {
	b := newBench(t, quiet(), fourFrames(1), 0)
	b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 5, 0))
	b.clients[0].send(2000*ns, data(true, 0, 5, 42))
	b.kernel.send(3000*ns, pageOp(msg.PageCopy, 2, 5, 0))
	b.kernel.send(4000*ns, pageOp(msg.PageFree, 0, 5, 0))
	b.clients[0].send(5000*ns, data(false, 2, 5, 0))
	b.clients[0].send(6000*ns, data(false, 0, 5, 0))
	stats := b.run(t)
	if stats.LostWrites != 0 || stats.StaleDMA != 1 {
		t.Errorf("lost %d, stale %d; want 0, 1 (the read of the old frame)", stats.LostWrites, stats.StaleDMA)
	}
}

// GIVEN a page with a write, WHEN a poisoned one comes, THEN it is dropped in its
// turn and counted: the page is what it was, through swap too, and later writes
// are seen. It is no stale DMA either where its frame is another page's, and
// nothing is placed, so that a read behind it is served as if it had not been.
func TestPoisonedWriteIsDropped(t *testing.T) {
	spec := quiet()
	spec.LLC = LLC{Saving: 67 * ns, DDIOLines: 16, DDIOWays: 2}
	b := newBench(t, spec, fourFrames(1), 0)
	bad, elsewhere := data(true, 1, 5, 43), data(true, 0, 6, 44)
	bad.Poisoned, elsewhere.Poisoned = true, true
	b.kernel.send(1000*ns, pageOp(msg.PageZero, 0, 7, 0))
	b.kernel.send(1000*ns, pageOp(msg.PageZero, 1, 5, 0))
	b.clients[0].send(2000*ns, bad)
	b.clients[0].send(2000*ns, elsewhere)
	b.clients[0].send(3000*ns, data(false, 1, 5, 0)) // zeros: nothing of 43
	b.clients[0].send(4000*ns, data(true, 1, 5, 42))
	b.clients[0].send(4500*ns, bad)
	b.clients[0].send(5000*ns, data(false, 1, 5, 0)) // 42, which the LLC has
	b.kernel.send(6000*ns, pageOp(msg.PageOut, 1, 5, 3))
	b.kernel.send(7000*ns, pageOp(msg.PageFree, 1, 5, 0))
	b.kernel.send(8000*ns, pageOp(msg.PageIn, 2, 5, 3))
	stats := b.run(t)
	if stats.Poisoned != 3 || stats.Writes != 4 || stats.LostWrites != 0 || stats.StaleDMA != 0 || stats.LLCHits != 1 {
		t.Errorf("%+v; want 3 of 4 writes poisoned, a hit, nothing stale or lost", stats)
	}
	wantTime(t, "the first read", b.clients[0].got[0].at-ns-3000*ns, service)
	wantTime(t, "the second read", b.clients[0].got[1].at-ns-5000*ns, service-67*ns)
}

// A poisoned queue entry or interrupt reaches software in its turn; what is
// behind it is held back no longer than behind a good write.
func TestPoisonedEntryIsReported(t *testing.T) {
	for _, kind := range []msg.Kind{msg.KindCQE, msg.KindEQE, msg.KindMSI} {
		b := newBench(t, quiet(), fourFrames(1), 0)
		entry := msg.MemReq{Write: true, Kind: kind, Poisoned: true, PA: 1 << 30, Len: 64, Cookie: 9, Oracle: msg.Oracle{Page: msg.NoPage}}
		b.clients[0].send(1000*ns, entry)
		entry.Poisoned, entry.Cookie = false, 10
		b.clients[0].send(1010*ns, entry)
		stats := b.run(t)
		if got := b.inbox.got; len(got) != 2 || got[0].msg.Cookie != 9 || got[1].msg.Cookie != 10 || stats.Poisoned != 1 {
			t.Fatalf("%v: software saw %+v, %d poisoned", kind, got, stats.Poisoned)
		}
		wantTime(t, "the poisoned entry", b.inbox.got[0].at-ns-1000*ns, 300*ns)
		wantTime(t, "the entry behind", b.inbox.got[1].at-ns-1010*ns, 300*ns)
	}
}
