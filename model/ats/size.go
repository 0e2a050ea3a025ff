package ats

import (
	"math/bits"

	"rnicmmu/model"
)

// wholeSpace is the shift of a range of all 2^64 addresses.
const wholeSpace model.PageShift = 64

// sized is bit 11, S: the address field carries a size above 4 KiB.
const sized = 1 << 11

// pageBits are the bits of an address field that a page of 4 KiB leaves free.
const pageBits = 1<<model.Shift4K - 1

// withSize writes a naturally aligned block into an address field ([riscv-iommu]
// iommu_translate.c): 4 KiB has S clear; for larger ones S is set, and of the
// bits that the alignment leaves zero all but the highest are 1 from bit 12 up.
// Two blocks differ in their field, and the whole space has bit 63 clear and
// all others set.
func withSize(base uint64, shift model.PageShift) uint64 {
	shift = min(max(shift, model.Shift4K), wholeSpace)
	if shift == model.Shift4K {
		return base &^ pageBits
	}
	return base&^below(shift) | below(shift-1)&^pageBits | sized
}

// splitSize is the inverse of withSize. A field that no block has, with all
// bits from 12 up set, reads as the whole space.
func splitSize(field uint64) (base uint64, shift model.PageShift) {
	shift = model.Shift4K
	if field&sized != 0 {
		ones := bits.TrailingZeros64(^(field >> model.Shift4K))
		shift = min(model.Shift4K+1+model.PageShift(ones), wholeSpace)
	}
	return field &^ below(shift) &^ pageBits, shift
}

// below has the bits under shift set, 0 … 64 of them.
func below(shift model.PageShift) uint64 { return 1<<shift - 1 }
