package mrc

import (
	"fmt"

	"rnicmmu/model/cache"
)

// MaxEntries is the largest cache that is simulated or split in sets; it takes
// about 3 GiB.
const MaxEntries = 1 << 26

// searchWays is the most ways that SetLRU searches one by one; above it, a
// cache with an index is faster though it serves one size only.
const searchWays = 64

// Point is the number of misses at one size.
type Point struct {
	Entries int // capacity in table entries of one page
	Misses  uint64
}

// DefaultEntries are the sizes at which a curve is drawn by default: powers of
// two (more exactly ways times powers of two; ways 0 is fully associative) from
// 64 entries up to the first that holds all pages.
func DefaultEntries(pages, ways int) []int {
	size := max(ways, 1)
	for size < 64 {
		size *= 2
	}
	list := []int{size}
	for size < pages {
		size *= 2
		list = append(list, size)
	}
	return list
}

// Check tells why Curve cannot draw these sizes, or nil: the policy is neither
// LRU nor FIFO, or a size does not make a power of two of sets of that many
// ways (0: fully associative), or passes MaxEntries.
func Check(policy cache.Policy, ways int, entries []int) error {
	if policy != cache.LRU && policy != cache.FIFO {
		return fmt.Errorf("policy %s: lru or fifo is due", policy)
	}
	for _, n := range entries {
		if err := geometry(policy, ways, n).Validate(); err != nil {
			return err
		}
		if ways > 0 && n > MaxEntries {
			return fmt.Errorf("%d entries: at most %d in sets of %d ways", n, MaxEntries, ways)
		}
	}
	return nil
}

func geometry(policy cache.Policy, ways, entries int) cache.Geometry {
	return cache.Geometry{Entries: entries, Ways: ways, Line: 1, Policy: policy}
}

// Curve counts the misses at each of the sizes, in their order, or gives the
// error of Check.
func Curve(refs *References, policy cache.Policy, ways int, entries []int) ([]Point, error) {
	if err := Check(policy, ways, entries); err != nil {
		return nil, err
	}
	points := make([]Point, len(entries))
	var full *Histogram
	if ways == 0 && policy == cache.LRU {
		full = LRU(refs)
	}
	for i, n := range entries {
		points[i].Entries = n
		if full != nil {
			points[i].Misses = full.Misses(n)
			continue
		}
		var err error
		if points[i].Misses, err = missesAt(refs, geometry(policy, ways, n)); err != nil {
			return nil, err
		}
	}
	return points, nil
}

func missesAt(refs *References, g cache.Geometry) (uint64, error) {
	switch {
	case g.Ways == 0 && g.Entries >= refs.Pages():
		return uint64(refs.Pages()), nil
	case g.Ways == 1, g.Policy == cache.LRU && g.Ways > 0 && g.Ways <= searchWays:
		return SetLRU(refs, g.Entries/g.Ways, g.Ways).Misses(g.Ways), nil
	}
	return Simulate(refs, g)
}
