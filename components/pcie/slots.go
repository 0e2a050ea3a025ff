package pcie

// slots are numbered places, taken and freed in any order.
type slots[T any] struct {
	at   []T
	free []int32
}

func newSlots[T any](n int) slots[T] {
	s := slots[T]{at: make([]T, n)}
	for i := n - 1; i >= 0; i-- {
		s.free = append(s.free, int32(i))
	}
	return s
}

// full tells whether no place is free.
func (s *slots[T]) full() bool { return len(s.free) == 0 }

// used is the number of places taken.
func (s *slots[T]) used() int { return len(s.at) - len(s.free) }

// take is a free place, for the caller to assign whole; there must be one.
func (s *slots[T]) take() (i int32, p *T) {
	last := len(s.free) - 1
	i = s.free[last]
	s.free = s.free[:last]
	return i, &s.at[i]
}

// give frees a place.
func (s *slots[T]) give(i int32) { s.free = append(s.free, i) }
