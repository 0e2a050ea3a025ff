package ats

import "math/bits"

// MaxTags is the number of ITags.
const MaxTags = 32

// mostCompletions is the highest completion count of an Invalidate Completion.
const mostCompletions = 8

// Tags are the ITags of the Invalidate Requests that one adapter has not
// completed. A tag is free, busy, or quarantined: its request timed out, and it
// stays out of use until its late completions have come, for ever if they never
// come. So a late completion never answers for a request that is not its own.
type Tags struct {
	depth       int
	busy        uint32
	quarantined uint32
	tags        [MaxTags]tag
}

type tag struct {
	owner      uint32
	came, want uint8 // completions
}

// NewTags is for an adapter with an invalidate queue of the given depth: as
// many requests may be outstanding. 0 means 32 ([Linux] pci_regs.h), as
// does what a register of 5 bits cannot hold.
func NewTags(depth int) *Tags {
	if depth < 1 || depth > MaxTags {
		depth = MaxTags
	}
	return &Tags{depth: depth}
}

// Allocate takes the lowest free tag for a request of owner. ok is false while
// all are busy or quarantined: the request has to wait.
func (t *Tags) Allocate(owner uint32) (itag uint8, ok bool) {
	n := bits.TrailingZeros32(^(t.busy | t.quarantined))
	if n >= t.depth {
		return 0, false
	}
	t.busy |= 1 << n
	t.tags[n] = tag{owner: owner}
	return uint8(n), true
}

// Complete books an Invalidate Completion. done has the tags that it frees, each
// with all its completions; unexpected has the tags that it names although
// nothing is outstanding under them, which changes nothing else. The late
// completions of a quarantined tag are in neither.
//
// A completion that names busy and idle tags counts for the busy ones, as in
// [whisper]: an adapter that is wrong about one tag must not leave another
// request unanswered. [riscv-iommu] stops at the first idle one. Where
// completions of a tag name different counts the highest holds, so that no tag
// is free too early; a count outside 1 … 8 is 8.
func (t *Tags) Complete(c InvalidateCompletion) (done, unexpected uint32) {
	unexpected = c.ITags &^ (t.busy | t.quarantined)
	for left := c.ITags &^ unexpected; left != 0; left &= left - 1 {
		n := bits.TrailingZeros32(left)
		g := &t.tags[n]
		g.came++
		g.want = max(g.want, count(c.Count))
		if g.came < g.want {
			continue
		}
		done |= 1 << n & t.busy
		t.busy &^= 1 << n
		t.quarantined &^= 1 << n
	}
	return done, unexpected
}

func count(n uint8) uint8 {
	if n < 1 || n > mostCompletions {
		return mostCompletions
	}
	return n
}

// Owner is the owner of the request that has, or last had, the tag.
func (t *Tags) Owner(itag uint8) uint32 { return t.tags[itag%MaxTags].owner }

// TimeOut gives a busy tag's request up and quarantines the tag; it tells
// whether the tag was busy.
func (t *Tags) TimeOut(itag uint8) bool {
	bit := uint32(1) << (itag % MaxTags) & t.busy
	t.busy &^= bit
	t.quarantined |= bit
	return bit != 0
}

// Busy has the tags whose requests wait for completions.
func (t *Tags) Busy() uint32 { return t.busy }

// Quarantined has the tags whose requests timed out and were not completed since.
func (t *Tags) Quarantined() uint32 { return t.quarantined }
