package ats

import (
	"math/bits"

	"rnicmmu/model"
)

// Cover is the smallest Range that holds [va, va+length), at least 4 KiB;
// length 0 stands for the whole space.
func Cover(va model.VA, length uint64) Range {
	if length == 0 {
		return Range{Shift: 64}
	}
	last := va + model.VA(min(length-1, ^uint64(va)))
	shift := max(model.Shift4K, model.PageShift(bits.Len64(uint64(va^last))))
	return Range{VA: va &^ model.VA(shift.Bytes()-1), Shift: shift}
}
