package explore

// Words is the length of a Key.
const Words = 5

// Key is a packed state. Equal states must have equal keys.
type Key [Words]uint64

func (k *Key) hash() uint64 {
	h := uint64(0x9E3779B97F4A7C15)
	for _, w := range k {
		h = (h ^ w) * 0xBF58476D1CE4E5B9
		h ^= h >> 29
	}
	return h * 0x94D049BB133111EB
}

// Step is a step from a state; E is what a system calls its steps by.
type Step[E any] struct {
	To          Key
	Event       E
	Environment bool
}

// System is a transition system. Its methods are called by several workers at
// once.
type System[E any] interface {
	// Initial is the first state.
	Initial() Key
	// Expand calls emit for each step from a state. Where canonical is set each
	// state that is emitted stands for all that are alike by symmetry, else
	// actors keep their names.
	Expand(k Key, canonical bool, emit func(*Step[E]))
	// Canonical is the state that stands for all that are like this one.
	Canonical(k Key) Key
	// Broken names the rule that a state breaks; "" none.
	Broken(k Key) string
	// Rest tells whether nothing is under way in a state.
	Rest(k Key) bool
}
