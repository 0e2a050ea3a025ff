package cache

import "math/bits"

// bitmap holds one bit a way for every set and finds the lowest way that is
// set in constant time: a bit of level n+1 is set while word n below it is not
// zero. Up to 64 ways that is one word a set and no upper level.
type bitmap struct {
	ways   int
	levels []bitmapLevel
}

type bitmapLevel struct {
	words int // a set
	bits  []uint64
}

func newBitmap(sets, ways int) bitmap {
	b := bitmap{ways: ways}
	for n := ways; ; {
		n = (n + 63) / 64
		b.levels = append(b.levels, bitmapLevel{words: n, bits: make([]uint64, sets*n)})
		if n == 1 {
			return b
		}
	}
}

func (b *bitmap) has(set, way int) bool {
	l := &b.levels[0]
	return l.bits[set*l.words+way>>6]>>(way&63)&1 != 0
}

func (b *bitmap) set(set, way int) {
	for i := range b.levels {
		l := &b.levels[i]
		w := &l.bits[set*l.words+way>>6]
		was := *w
		*w |= 1 << (way & 63)
		if was != 0 {
			return
		}
		way >>= 6
	}
}

func (b *bitmap) clear(set, way int) {
	for i := range b.levels {
		l := &b.levels[i]
		w := &l.bits[set*l.words+way>>6]
		*w &^= 1 << (way & 63)
		if *w != 0 {
			return
		}
		way >>= 6
	}
}

// first is the lowest way set, or -1.
func (b *bitmap) first(set int) int {
	at := 0
	for i := len(b.levels) - 1; i >= 0; i-- {
		l := &b.levels[i]
		w := l.bits[set*l.words+at]
		if w == 0 {
			return -1
		}
		at = at<<6 + bits.TrailingZeros64(w)
	}
	return at
}

// setAll sets every way of one set.
func (b *bitmap) setAll(set int) {
	n := b.ways
	for i := range b.levels {
		l := &b.levels[i]
		row := l.bits[set*l.words : (set+1)*l.words]
		for j := range row {
			row[j] = ^uint64(0)
		}
		if n&63 != 0 {
			row[len(row)-1] = 1<<(n&63) - 1
		}
		n = l.words
	}
}
