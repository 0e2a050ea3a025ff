package cache

import "math/bits"

// splitmix64 is the generator of Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014: small, seeded by any 64 bits,
// and the same on every platform and Go release.
type splitmix64 struct{ state uint64 }

// newStream separates streams of one seed by name (FNV-1a of the name).
func newStream(seed uint64, name string) splitmix64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	return splitmix64{state: seed ^ h}
}

func (s *splitmix64) next() uint64 {
	s.state += golden
	z := s.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below draws uniformly from 0 … n-1; the bias of n/2^64 is beyond measure.
func (s *splitmix64) below(n int) int {
	hi, _ := bits.Mul64(s.next(), uint64(n))
	return int(hi)
}
