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

// extend is take for slots without a bound.
func (s *slots[T]) extend() (i int32, p *T) {
	if s.full() {
		s.free = append(s.free, int32(len(s.at)))
		s.at = append(s.at, *new(T))
	}
	return s.take()
}

// give frees a place.
func (s *slots[T]) give(i int32) { s.free = append(s.free, i) }
