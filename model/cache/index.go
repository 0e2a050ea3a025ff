package cache

import "math/bits"

// index maps (set, tag) to a slot by open addressing with linear probing. A
// cell is 0 when empty, else slot+1 in the low half and 32 bits of the hash in
// the high half, so that a probe seldom has to fetch a foreign tag.
type index struct {
	cells []uint64
	shift uint // hash >> shift is the home cell
}

const (
	golden = 0x9E3779B97F4A7C15 // 2^64 / golden ratio, odd (Knuth, TAOCP vol. 3, 6.4)
	setMul = 0xC2B2AE3D27D4EB4F // any odd constant unrelated to golden
)

func newIndex(lines int) index {
	// Twice the lines or more keeps probe runs short.
	logCells := bits.Len(uint(lines*2 - 1))
	return index{cells: make([]uint64, 1<<logCells), shift: uint(64 - logCells)}
}

func hashOf(set int, tag uint64) uint64 {
	h := (tag ^ tag>>32) * golden
	h ^= uint64(set) * setMul
	return (h ^ h>>29) * golden
}

func cellOf(hash uint64, slot int) uint64 { return hash<<32 | uint64(slot+1) }

func slotOf(cell uint64) int { return int(uint32(cell)) - 1 }

// find returns the slot and the cell that hold (set, tag), or slot -1.
func (c *Cache) find(set int, tag uint64) (slot int, cell uint64) {
	h := hashOf(set, tag)
	mask := uint64(len(c.index.cells) - 1)
	for i := h >> c.index.shift; ; i = (i + 1) & mask {
		v := c.index.cells[i]
		if v == 0 {
			return -1, i
		}
		if v>>32 == h&(1<<32-1) {
			s := slotOf(v)
			if c.tags[s] == tag && c.setOfSlot(s) == set {
				return s, i
			}
		}
	}
}

func (c *Cache) indexInsert(set int, tag uint64, slot int) {
	h := hashOf(set, tag)
	mask := uint64(len(c.index.cells) - 1)
	i := h >> c.index.shift
	for c.index.cells[i] != 0 {
		i = (i + 1) & mask
	}
	c.index.cells[i] = cellOf(h, slot)
}

// indexRemove empties a cell and moves later cells of the run back over the
// gap, so that the table never needs tombstones or a rebuild.
func (c *Cache) indexRemove(gap uint64) {
	cells := c.index.cells
	mask := uint64(len(cells) - 1)
	for i := (gap + 1) & mask; cells[i] != 0; i = (i + 1) & mask {
		s := slotOf(cells[i])
		home := hashOf(c.setOfSlot(s), c.tags[s]) >> c.index.shift
		if (i-home)&mask >= (i-gap)&mask {
			cells[gap] = cells[i]
			gap = i
		}
	}
	cells[gap] = 0
}
