package ats

import (
	"math/bits"

	"rnicmmu/model"
)

// Cover is the smallest Range that holds [va, va+length): what a devTLB
// invalidation of these bytes names, as a request can only name naturally
// aligned powers of two of at least 4 KiB ([Linux] intel/cache.c). Length 0
// stands for the whole space; what lies beyond the top of the space is cut off.
func Cover(va model.VA, length uint64) Range {
	if length == 0 {
		return Range{Shift: wholeSpace}
	}
	differ := uint64(va) ^ uint64(last(va, length))
	shift := max(model.Shift4K, model.PageShift(bits.Len64(differ)))
	return Range{VA: va &^ model.VA(below(shift)), Shift: shift}
}

// last is the last byte of [va, va+length), length ≥ 1, without passing the top.
func last(va model.VA, length uint64) model.VA {
	return va + model.VA(min(length-1, ^uint64(va)))
}

// Last is the last byte of the range.
func (r Range) Last() model.VA { return r.VA | model.VA(below(r.Shift)) }

// Contains tells whether all bytes of [va, va+length) lie in the range. A
// length of 0 has no bytes, which lie everywhere.
func (r Range) Contains(va model.VA, length uint64) bool {
	return length == 0 || va >= r.VA && last(va, length) <= r.Last()
}

// Overlaps tells whether a byte of [va, va+length) lies in the range.
func (r Range) Overlaps(va model.VA, length uint64) bool {
	return length > 0 && va <= r.Last() && last(va, length) >= r.VA
}
