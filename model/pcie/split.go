package pcie

import "rnicmmu/model"

// addressBlock is the boundary that no request may cross, in bytes.
const addressBlock = 4096

// RequestPiece is how many of the left bytes at addr the next request takes: no
// more than limit (MPS or MRRS) with the double words that it touches, and none
// beyond the 4 KiB block. limit is 128 to 4096, left at least 1.
func RequestPiece(addr model.PA, left, limit uint32) uint32 {
	return min(left, limit-uint32(addr%dword), addressBlock-uint32(addr%addressBlock))
}

// Split is how a completer cuts a read's data.
type Split uint8

// Splits.
const (
	SplitMin    Split = iota // the fewest completions
	SplitRCB                 // one for each read completion boundary
	SplitRandom              // any that is legal
)

var splitNames = [...]string{"min", "rcb", "random"}

// String is the name as parameters have it.
func (s Split) String() string {
	if int(s) < len(splitNames) {
		return splitNames[s]
	}
	return "invalid split"
}

// CompletionPiece is how many of the left bytes at addr the next completion
// takes ([PG213], [AN855]): it ends at the end of the request or at a multiple of
// rcb, and carries at most mps with the double words that it touches. rcb is 64
// or 128, mps 128 to 4096, left at least 1. draw is a random number of the
// caller's, used by SplitRandom only: every legal end is as likely as the others.
func CompletionPiece(addr model.PA, left, rcb, mps uint32, split Split, draw uint64) uint32 {
	offset := uint32(addr) % rcb
	first := rcb - offset // to the first boundary
	if left <= first {
		return left
	}
	whole := uint32(addr%dword)+left <= mps
	switch {
	case split == SplitRCB:
		return first
	case split == SplitMin && whole:
		return left
	case split == SplitMin:
		return mps - offset
	}
	boundaries := mps/rcb - 1 // behind the first
	if whole {
		boundaries = (left - first + rcb - 1) / rcb // the end counts as one
	}
	return min(first+uint32(draw%uint64(boundaries+1))*rcb, left)
}
