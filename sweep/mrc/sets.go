package mrc

import "rnicmmu/model/cache"

// SetLRU counts the references of a set-associative LRU cache by distance
// within their set, for every number of ways up to maxWays at once. sets must
// be a power of two, maxWays 1 or more.
func SetLRU(refs *References, sets, maxWays int) *Histogram {
	h := &Histogram{counts: make([]uint64, maxWays+1)}
	stacks := make([]uint32, sets*maxWays) // id+1, the last used first; 0 = none
	mask := uint64(sets - 1)
	for _, id := range refs.ids {
		first := int(refs.pages[id].number&mask) * maxWays
		if d := toFront(stacks[first:first+maxWays], id+1); d > 0 {
			h.counts[d]++
		} else {
			h.far++
		}
	}
	return h
}

// toFront moves v to the front and returns its position from 1; when it is not
// there, the last falls off and the position is 0.
func toFront(list []uint32, v uint32) int {
	carry := v
	for i, x := range list {
		list[i] = carry
		if x == v {
			return i + 1
		}
		carry = x
	}
	return 0
}

// Simulate counts the misses in one cache.
func Simulate(refs *References, g cache.Geometry) (uint64, error) {
	c, err := cache.New(g)
	if err != nil {
		return 0, err
	}
	misses := uint64(0)
	for _, id := range refs.ids {
		page := refs.pages[id].number
		if _, hit := c.Lookup(page, uint64(id)); !hit {
			c.Fill(page, uint64(id))
			misses++
		}
	}
	return misses, nil
}
