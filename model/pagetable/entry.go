package pagetable

import "rnicmmu/model"

// PTE is a page-table entry of any level.
type PTE uint64

// Bits of an entry.
const (
	Present   PTE = 1 << 0
	Write     PTE = 1 << 1
	User      PTE = 1 << 2
	Accessed  PTE = 1 << 5
	Dirty     PTE = 1 << 6
	PageSize  PTE = 1 << 7 // a leaf above level 1
	Global    PTE = 1 << 8
	NoExecute PTE = 1 << 63

	addressBits PTE = (1<<52 - 1) &^ (1<<12 - 1)
	// leafFlags are what Map lets a caller choose.
	leafFlags = Write | User | Accessed | Dirty | Global | NoExecute
	// tableFlags make a table transparent: the leaf alone decides on rights.
	tableFlags = Present | Write | User
)

// Has tells whether all bits of want are set.
func (e PTE) Has(want PTE) bool { return e&want == want }

// PA is the physical address of the page or table that a present entry names.
// In large leaves the bits below the page are zero, as Map writes them.
func (e PTE) PA() model.PA { return model.PA(e & addressBits) }

const levels = 4

// shiftOf is the size of what an entry of a level covers: 12, 21, 30, 39.
func shiftOf(level int) model.PageShift { return model.PageShift(3 + 9*level) }

// levelOf is the level at which a page of this size is a leaf, or 0.
func levelOf(shift model.PageShift) int {
	switch shift {
	case model.Shift4K:
		return 1
	case model.Shift2M:
		return 2
	case model.Shift1G:
		return 3
	}
	return 0
}

// leaf tells whether a present entry of a level maps a page.
func (e PTE) leaf(level int) bool { return level == 1 || e&PageSize != 0 }

// slot is the address of the entry for va in a table of a level.
func slot(table model.PA, va model.VA, level int) model.PA {
	return table + model.PA(uint64(va)>>shiftOf(level)%tableEntries*entryBytes)
}

// upperHalf is the lowest canonical address with bit 47 set.
const upperHalf model.VA = 0xFFFF_8000_0000_0000

// Canonical tells whether bits 63 … 47 of va are alike: others cannot be mapped.
func Canonical(va model.VA) bool {
	top := int64(va) >> 47
	return top == 0 || top == -1
}
