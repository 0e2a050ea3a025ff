package protocol

// order is a renaming of actors: what stands at each place (of), and where each
// has gone (at).
type order struct {
	adapters, adapterAt [maxAdapters]uint8
	pages, pageAt       [maxPages]uint8
	accesses, accessAt  [maxAccesses]uint8
}

var identity = order{
	adapters: [maxAdapters]uint8{0, 1}, adapterAt: [maxAdapters]uint8{0, 1},
	pages: [maxPages]uint8{0, 1}, pageAt: [maxPages]uint8{0, 1},
	accesses: [maxAccesses]uint8{0, 1, 2}, accessAt: [maxAccesses]uint8{0, 1, 2},
}

// permutations of up to three.
var permutations = [4][][]uint8{
	0: {{}},
	1: {{0}},
	2: {{0, 1}, {1, 0}},
	3: {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}},
}

// sorted tells whether a permutation puts things into the order of what marks
// them, so that only things that are marked alike are tried in every order.
func sorted(permutation []uint8, mark []uint32) bool {
	for i := 1; i < len(permutation); i++ {
		if mark[permutation[i-1]] > mark[permutation[i]] {
			return false
		}
	}
	return true
}

// mask renames the adapters of a mask.
func (o *order) mask(m uint8) (renamed uint8) {
	for a := range uint8(maxAdapters) {
		if m>>a&1 != 0 {
			renamed |= 1 << o.adapterAt[a]
		}
	}
	return renamed
}

// frames numbers frames in the order in which they are first met.
type frames struct {
	keep bool
	at   [maxFrames + 1]uint8
	n    uint8
}

func (f *frames) rename(frame uint8) uint8 {
	if frame == 0 || f.keep {
		return frame
	}
	if f.at[frame] == 0 {
		f.n++
		f.at[frame] = f.n
	}
	return f.at[frame]
}

func (f *frames) entry(e entry) entry {
	return entry(f.rename(e.frame()))<<flagBits | e&(1<<flagBits-1)
}
