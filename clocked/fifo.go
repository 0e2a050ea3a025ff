package clocked

// FIFO is a queue without a bound. It grows to the most it ever held, at most
// 2³¹ values, and then allocates no more. The values are numbered in the order
// of their pushes, from 0 and modulo 2³², so that a number names a place for as
// long as the value is held. The zero value is an empty FIFO.
type FIFO[T any] struct {
	buf        []T // its length is a power of two
	head, tail uint32
}

// Len is the number of values held.
func (f *FIFO[T]) Len() int { return int(f.tail - f.head) }

// Head is the number of the oldest value, or of the next push if there is none.
func (f *FIFO[T]) Head() uint32 { return f.head }

// Tail is the number that the next push takes.
func (f *FIFO[T]) Tail() uint32 { return f.tail }

// Holds tells whether the value of a number is pushed and not popped.
func (f *FIFO[T]) Holds(number uint32) bool { return number-f.head < f.tail-f.head }

// At is the value of a number, which must be held.
func (f *FIFO[T]) At(number uint32) *T { return &f.buf[number&uint32(len(f.buf)-1)] }

// Front is the oldest value; there must be one.
func (f *FIFO[T]) Front() *T { return f.At(f.head) }

// Push appends a value and returns it for the caller to assign whole: it holds
// what an earlier one left there. It stays in place until the next push.
func (f *FIFO[T]) Push() *T {
	if f.Len() == len(f.buf) {
		f.grow()
	}
	f.tail++
	return f.At(f.tail - 1)
}

func (f *FIFO[T]) grow() {
	old := *f
	f.buf = make([]T, max(8, 2*len(old.buf)))
	for n := old.head; n != old.tail; n++ {
		*f.At(n) = *old.At(n)
	}
}

// Pop removes the oldest value and returns it; there must be one.
func (f *FIFO[T]) Pop() T {
	f.head++
	return *f.At(f.head - 1)
}
