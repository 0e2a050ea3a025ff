package transport

// slab is a table of values that are named by their places; places freed are
// taken again, the last one first. A value may move when another is added.
type slab[T any] struct {
	slots []T
	free  []int32
	used  int
}

func (s *slab[T]) add(v T) int32 {
	s.used++
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		s.slots[i] = v
		return i
	}
	s.slots = append(s.slots, v)
	return int32(len(s.slots) - 1)
}

// remove clears a place and returns what was there.
func (s *slab[T]) remove(i int32) T {
	var none T
	v := s.slots[i]
	s.slots[i] = none
	s.used--
	s.free = append(s.free, i)
	return v
}
