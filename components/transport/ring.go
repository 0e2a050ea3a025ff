package transport

// ring is a FIFO that grows to the most it ever held and then allocates no more.
type ring[T any] struct {
	buf        []T
	head, tail uint32 // sequence numbers; the buffer's length is a power of two
}

func (r *ring[T]) len() int { return int(r.tail - r.head) }

func (r *ring[T]) at(seq uint32) *T { return &r.buf[seq&uint32(len(r.buf)-1)] }

// push appends a place and returns it; it holds what an earlier one left there.
func (r *ring[T]) push() *T {
	if r.len() == len(r.buf) {
		r.grow()
	}
	r.tail++
	return r.at(r.tail - 1)
}

func (r *ring[T]) grow() {
	old := *r
	r.buf = make([]T, max(8, 2*len(old.buf)))
	for s := old.head; s != old.tail; s++ {
		*r.at(s) = *old.at(s)
	}
}

func (r *ring[T]) pop() T {
	r.head++
	return *r.at(r.head - 1)
}
