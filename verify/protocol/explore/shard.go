package explore

const (
	shards    = 64
	shardBits = 6
)

// shard holds the states whose hash ends in its number. A state's number is its
// place here and, in the low bits, the shard.
type shard struct {
	keys    []Key
	parents []uint32
	index   []uint32 // open addressing: place + 1
	levels  []int    // states at the end of each level
}

func (s *shard) grow() {
	s.index = make([]uint32, max(64, 2*len(s.index)))
	for at := range s.keys {
		s.index[s.free(&s.keys[at])] = uint32(at) + 1
	}
}

func (s *shard) free(k *Key) uint64 {
	mask := uint64(len(s.index) - 1)
	i := k.hash() >> shardBits & mask
	for s.index[i] != 0 {
		i = (i + 1) & mask
	}
	return i
}

// add finds a state or adds it.
func (s *shard) add(k *Key, hash uint64, parent uint32) (at uint32, fresh bool) {
	if 2*len(s.keys) >= len(s.index) {
		s.grow()
	}
	mask := uint64(len(s.index) - 1)
	i := hash >> shardBits & mask
	for ; s.index[i] != 0; i = (i + 1) & mask {
		if at = s.index[i] - 1; s.keys[at] == *k {
			return at, false
		}
	}
	at = uint32(len(s.keys))
	s.keys = append(s.keys, *k)
	s.parents = append(s.parents, parent)
	s.index[i] = at + 1
	return at, true
}
