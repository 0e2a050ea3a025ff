package ats

import "rnicmmu/model"

// EntryBytes is the size of an entry of a translation completion.
const EntryBytes = 8

// Bits of a translation completion entry. Bits 10 to 6 (no-snoop, CXL.io and
// attributes), 4 (privileged) and 3 (execute) are always 0 here. The names are
// seen in [riscv-iommu] iommu_req_rsp.h, the positions recalled.
const (
	entryRead         = 1 << 0
	entryWrite        = 1 << 1
	entryUntranslated = 1 << 2
	entryGlobal       = 1 << 5
)

// Allows tells whether an access with the wanted right may use the translation.
func (t *Translation) Allows(write bool) bool {
	return !t.Untranslated && t.Read && (t.Write || !write)
}

// Cacheable tells whether an adapter may keep the translation. One that grants
// nothing means absent or forbidden now, and must be asked for anew ([riscv-iommu]).
func (t *Translation) Cacheable() bool { return t.Read || t.Write }

// Encode is the entry of a translation completion. Bits of PA below the page
// are dropped; a shift outside 12 … 64 counts as the nearer of the two.
func Encode(t Translation) uint64 {
	return withSize(uint64(t.PA), t.Shift) | when(t.Read, entryRead) | when(t.Write, entryWrite) |
		when(t.Untranslated, entryUntranslated) | when(t.Global, entryGlobal)
}

// Decode is the inverse of Encode.
func Decode(entry uint64) Translation {
	base, shift := splitSize(entry)
	return Translation{PA: model.PA(base), Shift: shift, Read: entry&entryRead != 0, Write: entry&entryWrite != 0,
		Untranslated: entry&entryUntranslated != 0, Global: entry&entryGlobal != 0}
}

// when is bit where set, else 0.
func when(set bool, bit uint64) uint64 {
	if set {
		return bit
	}
	return 0
}
