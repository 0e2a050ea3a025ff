package ats

import (
	"math/bits"

	"rnicmmu/model"
)

// Encode is the entry of a translation completion.
func Encode(t Translation) uint64 {
	const pageBits = 1<<12 - 1
	e := uint64(t.PA) &^ pageBits
	if t.Shift > model.Shift4K {
		size := t.Shift.Bytes()
		e = e&^(size-1) | (size/2-1)&^pageBits | 1<<11
	}
	return e | bit(t.Read, 0) | bit(t.Write, 1) | bit(t.Untranslated, 2) | bit(t.Global, 5)
}

// Decode is the inverse of Encode.
func Decode(e uint64) Translation {
	t := Translation{PA: model.PA(e &^ (1<<12 - 1)), Shift: model.Shift4K,
		Read: e&1 != 0, Write: e&2 != 0, Untranslated: e&4 != 0, Global: e>>5&1 != 0}
	if e>>11&1 != 0 {
		t.Shift = model.PageShift(13 + bits.TrailingZeros64(^(e >> 12)))
		t.PA &^= model.PA(t.Shift.Bytes() - 1)
	}
	return t
}

func bit(set bool, at uint) uint64 {
	if set {
		return 1 << at
	}
	return 0
}
