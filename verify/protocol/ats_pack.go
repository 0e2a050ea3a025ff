package protocol

import (
	"math/bits"

	"rnicmmu/verify/protocol/explore"
)

// pack writes a state with its pages and accesses in an order.
func (t *ATS) pack(s *atsState, o *order) explore.Key {
	w := packer{order: o, frames: frames{keep: o == &identity}}
	w.put(uint8(s.broken), ruleBits)
	w.flag(s.dead)
	for p := range t.Pages {
		w.atsPage(s, o.pages[p])
	}
	for i := range t.Accesses {
		w.group(&s.accesses[o.accesses[i]])
	}
	for n := range t.ITags {
		g := &s.tags[n]
		if w.put(g.state, 2); g.state != tagFree {
			w.put(o.pageAt[g.page], pageBits)
			w.put(g.came, 1)
		}
	}
	w.put(s.ring, 2)
	w.put(s.credits, 2)
	w.flag(s.draining)
	w.list(s.queue, func(m message) uint8 { return w.which(m.what != queueRespond, m.which) }, 2)
	for tc := range t.Completions {
		w.list(s.up[tc], w.about, 3)
	}
	w.list(s.down, w.about, 3)
	w.list(s.invs, w.about, 3)
	return w.key
}

// about renames what a message is about.
func (w *packer) about(m message) uint8 {
	switch m.what {
	case atsComplete, atsInvalidate:
		n, p := untagged(m.which)
		return tagged(n, w.order.pageAt[p])
	case atsTranslate, atsTranslated:
		return w.order.pageAt[m.which]
	}
	return w.order.accessAt[m.which]
}

func (w *packer) list(c channel, about func(message) uint8, width uint) {
	if width == 3 {
		c.settle(atsClass, func(m message) uint8 { return m.what<<2 | about(m) })
	}
	w.put(c.n, countBits)
	for i := range c.n {
		w.put(c.list[i].what, width)
		w.put(about(c.list[i]), 2)
	}
}

func (w *packer) atsPage(s *atsState, p uint8) {
	pg := &s.pages[p]
	w.put(pg.state, 2)
	w.flag(pg.kept)
	w.entries(s.iotlb[p])
	c := &s.copies[p]
	w.flag(c.valid)
	if c.valid {
		w.entries(c.value)
	}
	r := &s.requests[p]
	w.flag(r.busy)
	if r.busy {
		w.flag(r.stale)
		w.flag(r.store)
		w.flag(r.answered)
		w.entries(r.value)
	}
	if pg.state == pageAbsent {
		return
	}
	w.frame(pg.frame)
	w.flag(pg.store)
	w.flag(pg.dirty)
	if pg.state == pageLeaving {
		w.put(pg.why, 2)
		w.frame(pg.target)
		w.flag(pg.fenced)
		w.put(pg.waits, 2)
		w.flag(pg.timedOut)
	}
}

func (w *packer) group(x *access) {
	w.put(x.phase, 3)
	if x.phase == accessIdle {
		return
	}
	w.put(w.order.pageAt[x.page], pageBits)
	w.flag(x.write)
	switch {
	case x.phase >= accessGiven:
		w.frame(x.frame)
		w.flag(x.marked)
	case x.phase == accessFaulted:
		w.put(x.fault, 3)
	}
}

// unpack reads what pack has written.
func (t *ATS) unpack(k explore.Key) (s atsState) {
	r := reader{key: k}
	s.broken = rule(r.get(ruleBits))
	s.dead = r.flag()
	for p := range t.Pages {
		r.atsPage(&s, uint8(p))
	}
	for i := range t.Accesses {
		r.group(&s.accesses[i])
	}
	for n := range t.ITags {
		g := &s.tags[n]
		if g.state = r.get(2); g.state != tagFree {
			g.page = r.get(pageBits)
			g.came = r.get(1)
		}
	}
	s.ring = r.get(2)
	s.credits = r.get(2)
	s.draining = r.flag()
	r.list(&s.queue, 2)
	for tc := range t.Completions {
		r.list(&s.up[tc], 3)
	}
	r.list(&s.down, 3)
	r.list(&s.invs, 3)
	return s
}

func (r *reader) list(c *channel, width uint) {
	c.n = r.get(countBits)
	for i := range c.n {
		c.list[i].what = r.get(width)
		c.list[i].which = r.get(2)
	}
}

func (r *reader) atsPage(s *atsState, p uint8) {
	pg := &s.pages[p]
	pg.state = r.get(2)
	pg.kept = r.flag()
	s.iotlb[p] = r.entry()
	if s.copies[p].valid = r.flag(); s.copies[p].valid {
		s.copies[p].value = r.entry()
	}
	q := &s.requests[p]
	if q.busy = r.flag(); q.busy {
		q.stale = r.flag()
		q.store = r.flag()
		q.answered = r.flag()
		q.value = r.entry()
	}
	if pg.state == pageAbsent {
		return
	}
	pg.frame = r.get(frameBits)
	pg.store = r.flag()
	pg.dirty = r.flag()
	if pg.state == pageLeaving {
		pg.why = r.get(2)
		pg.target = r.get(frameBits)
		pg.fenced = r.flag()
		pg.waits = r.get(2)
		pg.timedOut = r.flag()
	}
}

func (r *reader) group(x *access) {
	if x.phase = r.get(3); x.phase == accessIdle {
		return
	}
	x.page = r.get(pageBits)
	x.write = r.flag()
	switch {
	case x.phase >= accessGiven:
		x.frame = r.get(frameBits)
		x.marked = r.flag()
	case x.phase == accessFaulted:
		x.fault = r.get(3)
	}
}

// Canonical is the state that stands for all that are alike.
func (t *ATS) Canonical(k explore.Key) explore.Key {
	s := t.unpack(k)
	return t.canon(&s)
}

// canon tries the orders of what looks alike, and takes the least key. Accesses of
// different traffic classes are never alike.
func (t *ATS) canon(s *atsState) (least explore.Key) {
	if t.plain {
		return t.pack(s, &identity)
	}
	var pageMarks, accessMarks [maxAccesses]uint32
	for p := range t.Pages {
		pg := &s.pages[p]
		pageMarks[p] = uint32(pg.state) | uint32(pg.why)<<2 | when(pg.kept)<<4 | when(pg.dirty)<<5 | when(pg.store)<<6 | when(pg.fenced)<<7 |
			when(s.copies[p].valid)<<8 | when(s.requests[p].busy)<<9 | when(s.requests[p].stale)<<10 | uint32(bits.OnesCount8(uint8(s.iotlb[p]&15)))<<11
	}
	for i := range t.Accesses {
		x := &s.accesses[i]
		accessMarks[i] = x.mark()
		if x.phase != accessIdle {
			pageMarks[x.page] += 1 << 16 << x.phase
		}
	}
	first := true
	for _, pages := range permutations[t.Pages] {
		if !sorted(pages, pageMarks[:]) {
			continue
		}
		for n, accesses := range permutations[t.Accesses] {
			if t.Completions > 1 {
				if n > 0 {
					break
				}
			} else if !sorted(accesses, accessMarks[:]) {
				continue
			}
			o := arrange(identity.adapters[:], pages, accesses)
			if k := t.pack(s, &o); first || less(&k, &least) {
				least, first = k, false
			}
		}
	}
	return least
}
