package workload

import "rnicmmu/model"

// slots numbers the aligned slots of size bytes that fit in the regions of a
// layout, none of them across two regions, so that an access to a slot is
// always within one region.
type slots struct {
	size     uint64
	count    uint64
	linear   bool // slot i is at BaseVA + i*size
	large    uint64
	perLarge uint64 // slots of each of the first large regions
	perSmall uint64 // slots of each of the others
	largeLen uint64
	smallLen uint64
}

// newSlots counts the slots; regions come from Layout.
func newSlots(size uint64, regions []Region) slots {
	s := slots{size: size, largeLen: regions[0].Len, linear: true}
	for i, r := range regions {
		fit := r.Len / size
		s.count += fit
		last := i == len(regions)-1
		if r.Len == s.largeLen {
			s.large++
		} else if s.smallLen == 0 {
			s.smallLen, s.perSmall = r.Len, fit
		}
		s.linear = s.linear && (last || r.Len%size == 0)
	}
	s.perLarge = s.largeLen / size
	return s
}

// va is the first byte of slot i, i < count. Layout puts large regions first;
// a short last region only ends the last run of slots early.
func (s *slots) va(i uint64) model.VA {
	if s.linear {
		return BaseVA + model.VA(i*s.size)
	}
	if first := s.large * s.perLarge; i >= first {
		i -= first
		return BaseVA + model.VA(s.large*s.largeLen+i/s.perSmall*s.smallLen+i%s.perSmall*s.size)
	}
	return BaseVA + model.VA(i/s.perLarge*s.largeLen+i%s.perLarge*s.size)
}
