package mrc

import "math/bits"

// LRU counts the references of a fully associative LRU cache by stack
// distance, for every size at once.
func LRU(refs *References) *Histogram {
	s := newStack(refs.Pages())
	h := &Histogram{counts: make([]uint64, refs.Pages()+1)}
	for _, id := range refs.ids {
		if d := s.reference(id); d > 0 {
			h.counts[d]++
		} else {
			h.far++
		}
	}
	return h
}

// stack is an LRU stack that tells depths. A page is live at the time of its
// last use. The tree covers the words before the one that holds now, so only
// whole words are ever added to it.
type stack struct {
	now   uint32   // time of the next reference
	depth uint32   // pages on the stack
	last  []uint32 // by id: time of the last use + 1; 0 = never
	owner []uint32 // by time: id referenced
	live  []uint64 // by time/64: bit set while the time is its owner's last
	tree  []uint32 // Fenwick tree of live bits a word, from 1
}

func newStack(pages int) *stack {
	// Twice the pages or more make renumbering rare, a power of two ends the
	// tree's walks at the same node.
	words := 1 << bits.Len(uint(2*pages/64))
	return &stack{
		last:  make([]uint32, pages),
		owner: make([]uint32, words*64), live: make([]uint64, words), tree: make([]uint32, words+1),
	}
}

// reference moves a page to the top and returns the depth at which it was,
// from 1, or 0 for a page that was not on the stack.
func (s *stack) reference(id uint32) uint32 {
	if int(s.now) == len(s.owner) {
		s.renumber()
	}
	distance := uint32(0)
	if t := s.last[id]; t > 0 {
		t--
		if t+1 == s.now {
			return 1
		}
		distance = s.depth - s.before(t)
		s.kill(t)
	} else {
		s.depth++
	}
	s.push(id)
	return distance
}

func (s *stack) push(id uint32) {
	w := s.now >> 6
	s.live[w] |= 1 << (s.now & 63)
	s.owner[s.now] = id
	s.now++
	s.last[id] = s.now
	if s.now&63 == 0 {
		count := uint32(bits.OnesCount64(s.live[w]))
		for i := int(w) + 1; i < len(s.tree); i += i & -i {
			s.tree[i] += count
		}
	}
}

// before counts the pages last used before time t.
func (s *stack) before(t uint32) uint32 {
	w := t >> 6
	n := uint32(bits.OnesCount64(s.live[w] & (1<<(t&63) - 1)))
	for i := w; i > 0; i &= i - 1 {
		n += s.tree[i]
	}
	return n
}

func (s *stack) kill(t uint32) {
	w := t >> 6
	s.live[w] &^= 1 << (t & 63)
	if w == s.now>>6 {
		return
	}
	for i := int(w) + 1; i < len(s.tree); i += i & -i {
		s.tree[i]--
	}
}

// renumber gives the pages on the stack the times from 0, in order.
func (s *stack) renumber() {
	old := s.now
	s.now = 0
	clear(s.tree)
	for w := range old >> 6 {
		word := s.live[w]
		s.live[w] = 0
		for ; word != 0; word &= word - 1 {
			// A page's new time is never later than its old one, so the words
			// still to be read are not written.
			s.push(s.owner[w<<6+uint32(bits.TrailingZeros64(word))])
		}
	}
}
