package ats

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

func one(itag int, count uint8) InvalidateCompletion {
	return InvalidateCompletion{ITags: 1 << itag, Count: count}
}

// B10, ATS-2: of 33 invalidations with two completions each, 32 are outstanding,
// and the last waits until one tag has had both of its own. A third completion
// is reported and changes nothing.
func TestITagIsReusedAfterAllCompletions(t *testing.T) {
	tags := NewTags(0)
	for i := range uint32(32) {
		if itag, ok := tags.Allocate(i); !ok || itag != uint8(i) {
			t.Fatalf("request %d: tag %d, %v", i, itag, ok)
		}
	}
	if _, ok := tags.Allocate(32); ok {
		t.Fatal("33 tags")
	}
	if done, unexpected := tags.Complete(one(7, 2)); done != 0 || unexpected != 0 {
		t.Fatalf("first of two completions: done %#x, unexpected %#x", done, unexpected)
	}
	if _, ok := tags.Allocate(32); ok {
		t.Fatal("a tag with one of two completions was reused")
	}
	if done, _ := tags.Complete(one(7, 2)); done != 1<<7 || tags.Owner(7) != 7 {
		t.Fatalf("second completion: done %#x, owner %d", done, tags.Owner(7))
	}
	if done, unexpected := tags.Complete(one(7, 2)); done != 0 || unexpected != 1<<7 {
		t.Fatalf("third completion: done %#x, unexpected %#x", done, unexpected)
	}
	if itag, ok := tags.Allocate(32); !ok || itag != 7 || tags.Owner(7) != 32 || tags.Busy() != ^uint32(0) {
		t.Fatalf("request 33: tag %d, %v, owner %d, busy %#x", itag, ok, tags.Owner(7), tags.Busy())
	}
	if done, unexpected := tags.Complete(one(7, 2)); done != 0 || unexpected != 0 {
		t.Fatalf("the new request's first completion: done %#x, unexpected %#x", done, unexpected)
	}
}

// B10, ATS-2: a tag that timed out is out of use until its late completions have
// come, and these complete nobody.
func TestTimedOutITagIsQuarantined(t *testing.T) {
	tags := NewTags(2)
	tags.Allocate(10)
	tags.Allocate(11)
	tags.Complete(one(1, 2))
	if !tags.TimeOut(1) || tags.TimeOut(1) || tags.Busy() != 1 || tags.Quarantined() != 2 {
		t.Fatalf("busy %#x, quarantined %#x", tags.Busy(), tags.Quarantined())
	}
	if _, ok := tags.Allocate(12); ok {
		t.Fatal("a quarantined tag was given out")
	}
	if done, unexpected := tags.Complete(one(1, 2)); done != 0 || unexpected != 0 || tags.Quarantined() != 0 {
		t.Fatalf("late completion: done %#x, unexpected %#x, quarantined %#x", done, unexpected, tags.Quarantined())
	}
	if itag, ok := tags.Allocate(12); !ok || itag != 1 {
		t.Fatalf("tag %d, %v after the late completion", itag, ok)
	}
	if done, unexpected := tags.Complete(one(1, 1)); done != 2 || unexpected != 0 {
		t.Fatalf("the new owner's completion: done %#x, unexpected %#x", done, unexpected)
	}
}

// One completion that names busy, idle and quarantined tags: the busy ones are
// done, the idle ones reported. ([riscv-iommu] would leave tag 2 busy.)
func TestMixedCompletion(t *testing.T) {
	tags := NewTags(4)
	for i := range uint32(4) {
		tags.Allocate(i)
	}
	tags.Complete(one(1, 1))
	tags.TimeOut(3)
	done, unexpected := tags.Complete(InvalidateCompletion{ITags: 0x8000000F, Count: 1})
	if done != 0b0101 || unexpected != 0x80000002 || tags.Busy() != 0 || tags.Quarantined() != 0 {
		t.Errorf("done %#b, unexpected %#x, busy %#x, quarantined %#x", done, unexpected, tags.Busy(), tags.Quarantined())
	}
}

// The depth bounds what is outstanding; 0 and what no register holds are 32.
func TestQueueDepth(t *testing.T) {
	for depth, want := range map[int]int{0: 32, 1: 1, 5: 5, 32: 32, 33: 32, -1: 32} {
		tags, n := NewTags(depth), 0
		for range 40 {
			if _, ok := tags.Allocate(0); ok {
				n++
			}
		}
		if n != want {
			t.Errorf("depth %d: %d tags", depth, n)
		}
	}
}

// ATS-2: against a count kept for each request apart: a tag is given out only
// when nothing is owed for it, every request is done once and after as many
// completions as it needs, or timed out and never done.
func TestTagsAgainstRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		depth := rapid.IntRange(1, 32).Draw(t, "depth")
		tags := NewTags(depth)
		type request struct {
			owed     uint8
			owner    uint32
			timedOut bool
		}
		var open [32]*request
		owner := uint32(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				owner++
				itag, ok := tags.Allocate(owner)
				free := 0
				for i := range depth {
					if open[i] == nil {
						free++
					}
				}
				if ok != (free > 0) || ok && (int(itag) >= depth || open[itag] != nil) {
					t.Fatalf("tag %d, %v with %d free", itag, ok, free)
				}
				if ok {
					open[itag] = &request{owed: countOf(itag), owner: owner}
				}
			case 2:
				itag := rapid.Uint8Range(0, 31).Draw(t, "late")
				r := open[itag]
				if got := tags.TimeOut(itag); got != (r != nil && !r.timedOut) {
					t.Fatalf("tag %d timed out: %v", itag, got)
				}
				if r != nil {
					r.timedOut = true
				}
			default:
				n := rapid.Uint8Range(1, 8).Draw(t, "count")
				vector := rapid.Uint32().Draw(t, "vector")
				var wantDone, wantUnexpected, named uint32
				for i := range uint8(32) {
					if vector>>i&1 == 0 || open[i] != nil && countOf(i) != n {
						continue // one completion has one count
					}
					named |= 1 << i
					r := open[i]
					if r == nil {
						wantUnexpected |= 1 << i
						continue
					}
					if r.owed--; r.owed == 0 {
						if !r.timedOut {
							wantDone |= 1 << i
						}
						open[i] = nil
					}
				}
				done, unexpected := tags.Complete(InvalidateCompletion{ITags: named, Count: n})
				if done != wantDone || unexpected != wantUnexpected {
					t.Fatalf("done %#x, unexpected %#x, want %#x, %#x", done, unexpected, wantDone, wantUnexpected)
				}
			}
			busy := 0
			for i, r := range open {
				if r != nil && !r.timedOut {
					busy++
					if tags.Owner(uint8(i)) != r.owner {
						t.Fatalf("tag %d belongs to %d, want %d", i, tags.Owner(uint8(i)), r.owner)
					}
				}
			}
			if bits.OnesCount32(tags.Busy()) != busy {
				t.Fatalf("busy %#x, want %d", tags.Busy(), busy)
			}
		}
	})
}

// countOf is how many completions the property's adapter sends for a tag.
func countOf(itag uint8) uint8 { return itag%8 + 1 }
