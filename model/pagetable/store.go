package pagetable

import (
	"errors"
	"fmt"

	"rnicmmu/model"
)

const (
	tableBytes   = 4096
	tableEntries = 512
	entryBytes   = 8
)

// ErrNoMemory means that the store has no frame left for a table.
var ErrNoMemory = errors.New("no memory left for page tables")

// Store is physical memory that holds page tables: frames of 4 KiB from a base
// address, allocated one by one as tables are needed.
type Store struct {
	base   model.PA
	limit  int // frames
	frames []*[tableEntries]PTE
	live   []uint16 // present entries of each frame
	free   []uint32 // frames given back, the last one reused first
}

// NewStore makes a store of up to the given number of 4 KiB frames from base,
// which must be aligned to 4 KiB and, with the whole store, below 2^52.
func NewStore(base model.PA, frames int) (*Store, error) {
	const maxPA = model.PA(1) << 52
	switch {
	case base%tableBytes != 0:
		return nil, fmt.Errorf("page-table memory at %#x is not aligned to 4 KiB", uint64(base))
	case frames < 1 || base >= maxPA || model.PA(frames) > (maxPA-base)/tableBytes:
		return nil, fmt.Errorf("%d frames of page-table memory at %#x: must be at least 1 and end below 2^52", frames, uint64(base))
	}
	return &Store{base: base, limit: frames}, nil
}

// Bytes is the memory that tables occupy now.
func (s *Store) Bytes() uint64 {
	return uint64(len(s.frames)-len(s.free)) * tableBytes
}

// Load reads the entry at a physical address, aligned down to 8 B; memory that
// no table occupies reads as not present.
func (s *Store) Load(pa model.PA) PTE {
	if pa < s.base {
		return 0
	}
	offset := uint64(pa - s.base)
	if frame := offset / tableBytes; frame < uint64(len(s.frames)) {
		return s.frames[frame][offset%tableBytes/entryBytes]
	}
	return 0
}

// Mark sets bits, Accessed or Dirty, in the entry at a physical address, as a
// walk of hardware does; an entry that is not present stays as it is.
func (s *Store) Mark(pa model.PA, bits PTE) {
	if e := s.Load(pa); e.Has(Present) {
		s.put(pa, e|bits&(Accessed|Dirty))
	}
}

// put writes an entry of an allocated table and keeps the frame's count.
func (s *Store) put(pa model.PA, e PTE) {
	offset := uint64(pa - s.base)
	frame := offset / tableBytes
	p := &s.frames[frame][offset%tableBytes/entryBytes]
	s.live[frame] += uint16(e & Present)
	s.live[frame] -= uint16(*p & Present)
	*p = e
}

// allocate returns the address of a table of not-present entries.
func (s *Store) allocate() (model.PA, error) {
	if n := len(s.free); n > 0 {
		frame := s.free[n-1]
		s.free = s.free[:n-1]
		return s.base + model.PA(frame)*tableBytes, nil
	}
	n := len(s.frames)
	if n >= s.limit {
		return 0, ErrNoMemory
	}
	s.frames = append(s.frames, new([tableEntries]PTE))
	s.live = append(s.live, 0)
	return s.base + model.PA(n)*tableBytes, nil
}

// Release gives the frame of a table that Prune unlinked back.
func (s *Store) Release(table model.PA) {
	frame := uint64(table-s.base) / tableBytes
	*s.frames[frame] = [tableEntries]PTE{}
	s.live[frame] = 0
	s.free = append(s.free, uint32(frame))
}

func (s *Store) empty(table model.PA) bool {
	return s.live[uint64(table-s.base)/tableBytes] == 0
}
