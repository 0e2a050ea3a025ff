package workload

import "math/bits"

// The generators own their random numbers, so that a seed means the same
// accesses under every version of Go.

// splitmix64 is the generator of Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014, with Vigna's constants.
type splitmix64 uint64

func (s *splitmix64) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	return mix64(uint64(*s))
}

// mix64 is the finaliser of splitmix64: a bijection of 64 bits.
func mix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// rng is xoshiro256** 1.0 of Blackman and Vigna, "Scrambled linear
// pseudorandom number generators", ACM TOMS 47(4), 2021.
type rng [4]uint64

// stream is the generator of one named purpose under one seed. Streams of
// different names are independent, so a purpose that draws more or less leaves
// the others as they were.
func stream(seed uint64, name string) rng {
	h := uint64(0xcbf29ce484222325) // FNV-1a, 64 bits
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	s := splitmix64(mix64(seed) ^ h)
	return rng{s.next(), s.next(), s.next(), s.next()}
}

func (r *rng) next() uint64 {
	out := bits.RotateLeft64(r[1]*5, 7) * 9
	t := r[1] << 17
	r[2] ^= r[0]
	r[3] ^= r[1]
	r[1] ^= r[2]
	r[0] ^= r[3]
	r[2] ^= t
	r[3] = bits.RotateLeft64(r[3], 45)
	return out
}

// below is uniform in [0, n), n > 0, without bias: Lemire, "Fast random
// integer generation in an interval", ACM TOMACS 29(1), 2019.
func (r *rng) below(n uint64) uint64 {
	hi, lo := bits.Mul64(r.next(), n)
	if lo < n {
		for floor := -n % n; lo < floor; {
			hi, lo = bits.Mul64(r.next(), n)
		}
	}
	return hi
}

// unit is uniform in (0, 1): a multiple of 2^-53 plus half a step.
func (r *rng) unit() float64 {
	return (float64(r.next()>>11) + 0.5) * 0x1p-53
}

// Stream is a stream of its own for a purpose outside this package.
type Stream struct{ rng rng }

// NewStream is the stream of a purpose under a seed.
func NewStream(seed uint64, name string) *Stream { return &Stream{stream(seed, name)} }

// Below is uniform in [0, n), n > 0.
func (s *Stream) Below(n uint64) uint64 { return s.rng.below(n) }

// threshold is the bound under which chance falls with probability p.
func threshold(p float64) uint64 { return uint64(min(p, 1) * 0x1p63) }

// chance is a uniform draw of 63 bits, to be compared with a threshold.
func (r *rng) chance() uint64 { return r.next() >> 1 }
