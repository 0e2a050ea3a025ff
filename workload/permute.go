package workload

import "math/bits"

// permutation is a keyed bijection of [0, n): a Feistel network over the next
// power of two, walked until the value falls inside (Black and Rogaway,
// "Ciphers with arbitrary finite domains", CT-RSA 2002). It needs no table, so
// a terabyte of pages costs nothing to shuffle.
type permutation struct {
	n            uint64
	shift        uint8
	hiMask, mask uint64
	keys         [4]uint64
}

func newPermutation(n uint64, r *rng) permutation {
	width := max(2, bits.Len64(n-1))
	low := width / 2
	p := permutation{n: n, shift: uint8(low), mask: 1<<low - 1, hiMask: 1<<(width-low) - 1}
	for i := range p.keys {
		p.keys[i] = r.next()
	}
	return p
}

// at is the image of x, x < n.
func (p *permutation) at(x uint64) uint64 {
	for {
		hi, lo := x>>p.shift, x&p.mask
		hi ^= scramble(lo, p.keys[0]) & p.hiMask
		lo ^= scramble(hi, p.keys[1]) & p.mask
		hi ^= scramble(lo, p.keys[2]) & p.hiMask
		lo ^= scramble(hi, p.keys[3]) & p.mask
		x = hi<<p.shift | lo
		if x < p.n {
			return x
		}
	}
}

// scramble is the round function; its low bits depend on every bit of v and key.
func scramble(v, key uint64) uint64 {
	v = (v ^ key) * 0x9e3779b97f4a7c15
	v = (v ^ v>>32) * 0xbf58476d1ce4e5b9
	return v >> 32
}
