package pcie

// ring is a queue of fixed capacity. Callers check full and len.
type ring[T any] struct {
	slots       []T
	head, count int
}

func newRing[T any](capacity int) ring[T] { return ring[T]{slots: make([]T, capacity)} }

func (r *ring[T]) len() int   { return r.count }
func (r *ring[T]) full() bool { return r.count == len(r.slots) }

// front is the oldest element; the ring must not be empty.
func (r *ring[T]) front() *T { return &r.slots[r.head] }

// push appends an element and returns it for the caller to assign whole.
func (r *ring[T]) push() *T {
	tail := r.head + r.count
	if tail >= len(r.slots) {
		tail -= len(r.slots)
	}
	r.count++
	return &r.slots[tail]
}

func (r *ring[T]) pop() {
	r.head++
	if r.head == len(r.slots) {
		r.head = 0
	}
	r.count--
}
