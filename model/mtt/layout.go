package mtt

import (
	"fmt"

	"rnicmmu/model"
)

const (
	// MaxLevels is the deepest walk.
	MaxLevels = 3
	// indexBits is how much of the index one level resolves: 512 entries of 8 B
	// are one 4 KiB chunk of table memory.
	indexBits = 9
	// MaxLine is the most entries read at once: a 64 B line.
	MaxLine = 8

	chunkEntries = 1 << indexBits
	maxEntries   = 1 << 40 // 8 TiB of leaves; keeps all address sums far from wrapping
)

// Layout is where the entries of a table lie. The zero Layout is not valid.
type Layout struct {
	entries uint64
	levels  int
	base    [MaxLevels]model.PA // leaves, directory 1, directory 2
	end     model.PA
}

// NewLayout lays a table of the given number of entries and levels (1 …
// MaxLevels) out from base, which must be aligned to 4 KiB.
func NewLayout(base model.PA, entries uint64, levels int) (Layout, error) {
	switch {
	case base%(chunkEntries*EntryBytes) != 0:
		return Layout{}, fmt.Errorf("table base %#x is not aligned to 4 KiB", uint64(base))
	case entries == 0 || entries > maxEntries:
		return Layout{}, fmt.Errorf("%d table entries: must be 1 to %d", entries, uint64(maxEntries))
	case levels < 1 || levels > MaxLevels:
		return Layout{}, fmt.Errorf("%d table levels: must be 1 to %d", levels, MaxLevels)
	case base > 1<<63:
		return Layout{}, fmt.Errorf("table base %#x is above 2^63", uint64(base))
	}
	l := Layout{entries: entries, levels: levels}
	at, n := base, entries
	for i := range levels {
		l.base[i] = at
		chunks := (n + chunkEntries - 1) / chunkEntries
		at += model.PA(chunks * chunkEntries * EntryBytes)
		n = chunks
	}
	l.end = at
	return l, nil
}

// Address is where leaf entry i lies.
func (l *Layout) Address(i uint64) model.PA { return l.base[0] + model.PA(i*EntryBytes) }

// Walk is the addresses that a walk for entry i reads, root first; as many
// of them as the table has levels are meaningful.
func (l *Layout) Walk(i uint64) (reads [MaxLevels]model.PA) {
	for step := range l.levels {
		level := l.levels - 1 - step
		reads[step] = l.base[level] + model.PA(i>>(level*indexBits)*EntryBytes)
	}
	return reads
}

// Line is the line of n entries (1 … MaxLine) that holds entry i: its number,
// which is the tag of a cache of such lines, and its first entry.
func Line(i uint64, n int) (number, first uint64) {
	number = i / uint64(n)
	return number, number * uint64(n)
}
