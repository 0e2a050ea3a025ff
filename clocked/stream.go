package clocked

import (
	"hash/fnv"
	"math/rand/v2"
)

// NewStream is the stream of random numbers that a unit has under a name: the
// same for the same seed and name, whatever others draw.
func NewStream(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
