package mrc

// Histogram counts references by stack distance, in lines.
type Histogram struct {
	counts []uint64 // by distance, from 1
	far    uint64   // cold, or farther than was kept
}

// Misses counts the references that miss in a cache of so many lines; for
// SetLRU, of so many ways, which must not exceed its maxWays.
func (h *Histogram) Misses(lines int) uint64 {
	n := h.far
	for d := max(lines, 0) + 1; d < len(h.counts); d++ {
		n += h.counts[d]
	}
	return n
}
