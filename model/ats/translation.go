package ats

import "rnicmmu/model"

// EntryBytes is the size of an entry of a translation completion.
const EntryBytes = 8

// Bits of a translation completion entry ([Simics]). Bits 8 to 6 are attributes,
// AMA, which are not looked at, and written 0.
const (
	entryRead         = 1 << 0
	entryWrite        = 1 << 1
	entryUntranslated = 1 << 2
	entryExecute      = 1 << 3
	entryPrivileged   = 1 << 4
	entryGlobal       = 1 << 5
	entryCXL          = 1 << 9
	entryNoSnoop      = 1 << 10
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
		when(t.Untranslated, entryUntranslated) | when(t.Global, entryGlobal) | when(t.Execute, entryExecute) |
		when(t.Privileged, entryPrivileged) | when(t.CXL, entryCXL) | when(t.NoSnoop, entryNoSnoop)
}

// Decode is the inverse of Encode.
func Decode(entry uint64) Translation {
	base, shift := splitSize(entry)
	return Translation{PA: model.PA(base), Shift: shift, Read: entry&entryRead != 0, Write: entry&entryWrite != 0,
		Untranslated: entry&entryUntranslated != 0, Global: entry&entryGlobal != 0, Execute: entry&entryExecute != 0,
		Privileged: entry&entryPrivileged != 0, CXL: entry&entryCXL != 0, NoSnoop: entry&entryNoSnoop != 0}
}

// when is bit where set, else 0.
func when(set bool, bit uint64) uint64 {
	if set {
		return bit
	}
	return 0
}
