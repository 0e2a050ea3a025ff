package scoreboard

import "sort"

// block is the unit in which content is kept: that of a memory request.
const (
	blockShift = 12
	blockBytes = 1 << blockShift
)

// span is a run of bytes within a block that came from one source: byte x is
// byte from+(x-at) of it. Bytes in no span are zeros.
type span struct {
	at, end uint32
	from    uint32
	origin  uint64 // the access; of a CPU's store: its own number, complemented
}

// precedes tells whether two runs are one.
func (s *span) precedes(n *span) bool {
	return s.end == n.at && s.origin == n.origin && s.from+(s.end-s.at) == n.from
}

// content is what a block holds: spans in order, none empty, no two of which are
// one. So contents are equal when their spans are.
type content []span

// store puts a run of bytes over what was there.
func (c *content) store(n span) {
	if n.at >= n.end {
		return
	}
	s := *c
	i := sort.Search(len(s), func(k int) bool { return s[k].end > n.at })
	j := i
	for j < len(s) && s[j].at < n.end {
		j++
	}
	var pieces [3]span
	k := 0
	add := func(p span) {
		if k > 0 && pieces[k-1].precedes(&p) {
			pieces[k-1].end = p.end
			return
		}
		pieces[k] = p
		k++
	}
	if i < j && s[i].at < n.at {
		left := s[i]
		left.end = n.at
		add(left)
	} else if i > 0 && s[i-1].precedes(&n) {
		i--
		add(s[i])
	}
	add(n)
	if i < j && s[j-1].end > n.end {
		right := s[j-1]
		right.from += n.end - right.at
		right.at = n.end
		add(right)
	} else if j < len(s) && n.precedes(&s[j]) {
		add(s[j])
		j++
	}
	*c = splice(s, i, j, pieces[:k])
}

// splice puts pieces, at most three, where s[i:j] was.
func splice(s content, i, j int, pieces []span) content {
	d := len(pieces) - (j - i)
	switch {
	case d > 0:
		var room [3]span
		s = append(s, room[:d]...)
		copy(s[j+d:], s[j:len(s)-d])
	case d < 0:
		s = append(s[:j+d], s[j:]...)
	}
	copy(s[i:], pieces)
	return s
}

// clone is a copy in the memory of an old content.
func (c content) clone(old content) content { return append(old[:0], c...) }

// equal compares the bytes [at, end) of two blocks, and gives the first that
// differs.
func equal(a, b content, at, end uint32) (differs uint32, same bool) {
	i := sort.Search(len(a), func(k int) bool { return a[k].end > at })
	j := sort.Search(len(b), func(k int) bool { return b[k].end > at })
	for at < end {
		x, xEnd := piece(a, i, at, end)
		y, yEnd := piece(b, j, at, end)
		if x != y {
			return at, false
		}
		at = min(xEnd, yEnd)
		for i < len(a) && a[i].end <= at {
			i++
		}
		for j < len(b) && b[j].end <= at {
			j++
		}
	}
	return 0, true
}

// identity is where one byte came from; zeros came from nowhere.
type identity struct {
	origin uint64
	from   uint32
}

// piece is the identity of byte at, and the end of the run in which the others
// follow it. Span i is the first that ends behind it.
func piece(c content, i int, at, end uint32) (id identity, until uint32) {
	if i == len(c) || c[i].at >= end {
		return identity{}, end
	}
	s := &c[i]
	if s.at > at {
		return identity{}, s.at
	}
	return identity{s.origin, s.from + (at - s.at)}, min(s.end, end)
}

// cover is a set of bytes of a message.
type cover struct{ content }

func (c *cover) add(at, end uint32) { c.store(span{at: at, end: end, from: at, origin: 1}) }

// has tells whether all of [at, end) is in the set.
func (c *cover) has(at, end uint32) bool {
	i := sort.Search(len(c.content), func(k int) bool { return c.content[k].end > at })
	return at >= end || i < len(c.content) && c.content[i].at <= at && c.content[i].end >= end
}
