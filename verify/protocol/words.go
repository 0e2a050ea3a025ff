package protocol

import (
	"rnicmmu/model"
	"rnicmmu/model/mtt"
)

// Most that an exploration can have; Bounds choose.
const (
	maxAdapters = 2
	maxPages    = 2
	maxFrames   = 4
	maxAccesses = 3
)

// Widths of what is packed, in bits.
const (
	adapterBits = 1
	pageBits    = 1
	frameBits   = 3 // with 0, no frame
	accessBits  = 2
	flagBits    = 4 // of an entry
)

// entry is a word of a translation table with its frame, 0 (none) to maxFrames,
// in the place of the address.
type entry uint8

func frameAddress(frame uint8) model.PA { return model.PA(frame) << model.Shift4K }

func compress(w mtt.Word) entry {
	return entry(w>>model.Shift4K)<<flagBits | entry(w&(1<<flagBits-1))
}

func (e entry) word() mtt.Word {
	return mtt.Word(e>>flagBits)<<model.Shift4K | mtt.Word(e&(1<<flagBits-1))
}

func (e entry) frame() uint8 { return uint8(e >> flagBits) }

// entryFor is the entry that a fill writes.
func entryFor(frame uint8, write bool) mtt.Word {
	return mtt.Entry{PA: frameAddress(frame), Read: true, Write: write, Present: true}.Encode()
}
