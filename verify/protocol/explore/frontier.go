package explore

// frontier hands out the states of the level that was closed last.
type frontier struct {
	shard    int
	next     int
	from, to [shards]int
}

func (f *frontier) start(all *[shards]shard) {
	for i := range all {
		n := len(all[i].levels)
		f.to[i] = all[i].levels[n-1]
		if n > 1 {
			f.from[i] = all[i].levels[n-2]
		}
	}
	f.next = f.from[0]
}

// fill fills chunks with states and returns how many it could.
func (f *frontier) fill(chunks *[batchChunks]chunk) (n int) {
	for ; n < batchChunks; n++ {
		c := &chunks[n]
		c.from = c.from[:0]
		for len(c.from) < chunkStates && f.shard < shards {
			if f.next == f.to[f.shard] {
				if f.shard++; f.shard < shards {
					f.next = f.from[f.shard]
				}
				continue
			}
			c.from = append(c.from, uint32(f.next)<<shardBits|uint32(f.shard))
			f.next++
		}
		if len(c.from) == 0 {
			return n
		}
	}
	return n
}
