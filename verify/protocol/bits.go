package protocol

import "rnicmmu/verify/protocol/explore"

// writer and reader pack fields of a state into a key, the first into the lowest
// bits.
type writer struct {
	key explore.Key
	n   uint
}

func (w *writer) put(v uint8, width uint) {
	i, at := w.n/64, w.n%64
	w.key[i] |= uint64(v) << at
	if at+width > 64 {
		w.key[i+1] |= uint64(v) >> (64 - at)
	}
	w.n += width
}

func (w *writer) flag(v bool) {
	if v {
		w.key[w.n/64] |= 1 << (w.n % 64)
	}
	w.n++
}

type reader struct {
	key explore.Key
	n   uint
}

func (r *reader) get(width uint) uint8 {
	i, at := r.n/64, r.n%64
	v := r.key[i] >> at
	if at+width > 64 {
		v |= r.key[i+1] << (64 - at)
	}
	r.n += width
	return uint8(v) & (1<<width - 1)
}

func (r *reader) flag() bool { return r.get(1) != 0 }
