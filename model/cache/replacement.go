package cache

import "math/bits"

// replacement orders the valid lines of each set: a set here is what competes for
// the same ways, in a partitioned cache one tenant's. Only the fields of the
// policy in use are allocated.
type replacement struct {
	kind Policy
	sets int
	ways int

	list  []link  // LRU, FIFO: by slot, the set's lines from newest to oldest
	heads []int32 // newest slot of a set, or -1
	tails []int32 // oldest

	nodes  []bool // TreePLRU: leaves-1 a set, heap order from 1; true = victim to the right
	leaves int    // ways rounded up to a power of two

	clean      bitmap  // NRU: ways whose reference bit is clear
	referenced []int32 // NRU: how many bits of a set are set

	predicted [distances]bitmap // SRRIP: ways by predicted distance, turned by ages
	class     []uint8           // SRRIP: by slot, which of the bitmaps has it
	ages      []uint8           // SRRIP: how often a set has aged, modulo distances

	random splitmix64
}

type link struct{ newer, older int32 }

func newReplacement(g Geometry, sets, ways int) replacement {
	r := replacement{kind: g.Policy, sets: sets, ways: ways}
	switch g.Policy {
	case LRU, FIFO:
		r.list = make([]link, sets*ways)
		r.heads = make([]int32, sets)
		r.tails = make([]int32, sets)
	case TreePLRU:
		r.leaves = 1 << bits.Len(uint(ways-1))
		r.nodes = make([]bool, sets*r.leaves)
	case NRU:
		r.clean = newBitmap(sets, ways)
		r.referenced = make([]int32, sets)
	case SRRIP:
		for i := range r.predicted {
			r.predicted[i] = newBitmap(sets, ways)
		}
		r.class = make([]uint8, sets*ways)
		r.ages = make([]uint8, sets)
	case Random:
		r.random = newStream(g.Seed, g.Stream)
	}
	for s := range r.heads {
		r.heads[s], r.tails[s] = -1, -1
	}
	for s := range r.referenced {
		r.clean.setAll(s)
	}
	return r
}

// touch notes the use of a line that is present.
func (r *replacement) touch(set, slot int) {
	switch r.kind {
	case LRU:
		if r.heads[set] != int32(slot) {
			r.unlink(set, slot)
			r.push(set, slot)
		}
	case TreePLRU:
		r.pointAway(set, slot-set*r.ways)
	case NRU:
		r.reference(set, slot-set*r.ways)
	case SRRIP:
		r.forget(set, slot)
		r.predict(set, slot, near)
	}
}

// filled notes a new line.
func (r *replacement) filled(set, slot int) {
	switch r.kind {
	case LRU, FIFO:
		r.push(set, slot)
	case SRRIP:
		r.predict(set, slot, long)
	default:
		r.touch(set, slot)
	}
}

// removed notes that a line is gone.
func (r *replacement) removed(set, slot int) {
	switch r.kind {
	case LRU, FIFO:
		r.unlink(set, slot)
	case NRU:
		way := slot - set*r.ways
		if !r.clean.has(set, way) {
			r.clean.set(set, way)
			r.referenced[set]--
		}
	case SRRIP:
		r.forget(set, slot)
	}
}

// victim is the slot to evict from a set without invalid ways.
func (r *replacement) victim(set int) int {
	switch r.kind {
	case TreePLRU:
		return set*r.ways + r.treeVictim(set)
	case NRU:
		// One way alone is always referenced; it is its own victim.
		return set*r.ways + max(r.clean.first(set), 0)
	case SRRIP:
		return set*r.ways + r.mostDistant(set)
	case Random:
		return set*r.ways + r.random.below(r.ways)
	}
	return int(r.tails[set])
}

func (r *replacement) push(set, slot int) {
	head := r.heads[set]
	r.list[slot] = link{newer: -1, older: head}
	if head >= 0 {
		r.list[head].newer = int32(slot)
	} else {
		r.tails[set] = int32(slot)
	}
	r.heads[set] = int32(slot)
}

func (r *replacement) unlink(set, slot int) {
	l := r.list[slot]
	if l.newer >= 0 {
		r.list[l.newer].older = l.older
	} else {
		r.heads[set] = l.older
	}
	if l.older >= 0 {
		r.list[l.older].newer = l.newer
	} else {
		r.tails[set] = l.newer
	}
}

func (r *replacement) pointAway(set, way int) {
	nodes := r.nodes[set*r.leaves : (set+1)*r.leaves]
	for n := r.leaves + way; n > 1; n >>= 1 {
		nodes[n>>1] = n&1 == 0
	}
}

func (r *replacement) treeVictim(set int) int {
	nodes := r.nodes[set*r.leaves : (set+1)*r.leaves]
	way := 0
	for n, half := 1, r.leaves>>1; half > 0; half >>= 1 {
		right := nodes[n] && way+half < r.ways
		n <<= 1
		if right {
			n++
			way += half
		}
	}
	return way
}

func (r *replacement) reference(set, way int) {
	if !r.clean.has(set, way) {
		return
	}
	if int(r.referenced[set])+1 == r.ways {
		r.clean.setAll(set)
		r.referenced[set] = 0
	}
	r.clean.clear(set, way)
	r.referenced[set]++
}
