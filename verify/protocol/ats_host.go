package protocol

import (
	"rnicmmu/model/ats"
)

// arrive takes a message of the adapter off its way.
func (t *ATS) arrive(s *atsState, tc int, n uint8) message {
	m := s.up[tc].take(n)
	switch m.what {
	case atsWrite, atsRead:
		s.place(m.which)
	case atsTranslate:
		s.translate(m.which)
	case atsPageRequest:
		t.requested(s, m.which)
	case atsComplete:
		t.completed(s, m.which)
	}
	return m
}

// place is DMA that reaches memory.
func (s *atsState) place(i uint8) {
	x := &s.accesses[i]
	p := &s.pages[x.page]
	switch {
	case x.frame != p.frame:
		s.broken = ruleStaleDMA
	case x.write && !p.store:
		s.broken = ruleProtectedDMA
	}
	if x.write {
		p.kept = false
	}
	*x = access{}
}

// inTable tells whether the page table maps a page, and with the right to store.
func (p *atsPage) inTable() (present, store bool) {
	switch {
	case p.state == pageResident:
		return true, p.store
	case p.state == pageLeaving && p.why == toProtect:
		return true, false
	}
	return false, false
}

// translate answers a translation request, from the IOTLB or by a walk, which for
// a store sets the dirty bit.
func (s *atsState) translate(p uint8) {
	r, pg := &s.requests[p], &s.pages[p]
	r.answered = true
	if w := s.iotlb[p].word(); w.Allows(r.store) {
		r.value = compress(entryFor(s.iotlb[p].frame(), r.store))
	} else if present, store := pg.inTable(); present {
		store = store && r.store
		pg.dirty = pg.dirty || store
		r.value = compress(entryFor(pg.frame, store))
		s.iotlb[p] = r.value
	}
	s.tell(message{atsTranslated, p})
}

// requested puts a page request into the ring. One that finds it full is answered
// at once: the adapter tries again.
func (t *ATS) requested(s *atsState, i uint8) {
	if int(s.ring) < t.Ring {
		s.ring++
		s.accesses[i].fault = groupRing
		return
	}
	s.accesses[i].fault = groupAnswered
	s.respond(i)
}

// respond sends the response of a group.
func (s *atsState) respond(i uint8) { s.tell(message{atsRespond, i}) }

// tagsOf is the ITags as the model keeps them.
func (t *ATS) tagsOf(s *atsState) *ats.Tags {
	tags := ats.NewTags(t.ITags)
	for n := range t.ITags {
		tags.Allocate(uint32(s.tags[n].page))
	}
	for n := range t.ITags {
		g := &s.tags[n]
		c := ats.InvalidateCompletion{ITags: 1 << n, Count: 1}
		switch g.state {
		case tagFree:
			tags.Complete(c)
			continue
		case tagQuarantined:
			tags.TimeOut(uint8(n))
		}
		c.Count = uint8(t.Completions)
		for range g.came {
			tags.Complete(c)
		}
	}
	return tags
}

// completed books an Invalidate Completion.
func (t *ATS) completed(s *atsState, which uint8) {
	n, page := untagged(which)
	tags := t.tagsOf(s)
	done, unexpected := tags.Complete(ats.InvalidateCompletion{ITags: 1 << n, Count: uint8(t.Completions)})
	g := &s.tags[n]
	switch {
	case unexpected != 0:
		s.broken = ruleITag
	case done != 0:
		if g.page != page {
			s.broken = ruleITag
		}
		*g = itag{}
		s.closed(n)
	case (tags.Busy()|tags.Quarantined())>>n&1 == 0:
		*g = itag{}
	default:
		g.came++
	}
}

// closed: nobody waits for the request of an ITag any more.
func (s *atsState) closed(n uint8) {
	for p := range s.pages {
		s.pages[p].waits &^= 1 << n
	}
}

// timeOut gives the request of an ITag up.
func (t *ATS) timeOut(s *atsState, n uint8) bool {
	g := &s.tags[n]
	if g.state != tagBusy {
		return false
	}
	tags := t.tagsOf(s)
	tags.TimeOut(n)
	s.pages[g.page].timedOut = true
	if tags.Quarantined()>>n&1 != 0 {
		g.state = tagQuarantined
	} else {
		*g = itag{}
	}
	s.closed(n)
	return true
}

// execute does the IOMMU's command at the front.
func (t *ATS) execute(s *atsState) (m message, ok bool) {
	if s.queue.n == 0 {
		return m, false
	}
	m = s.queue.list[0]
	switch m.what {
	case queueIOTLB:
		s.iotlb[m.which] = 0
	case queueDevTLB:
		if !t.sendInvalidate(s, m.which) {
			return m, false
		}
	case queueFence:
		p := &s.pages[m.which]
		p.fenced = true
		for n := range t.ITags {
			if s.tags[n].state == tagBusy {
				p.waits |= 1 << n
			}
		}
	case queueRespond:
		if !s.dead {
			s.respond(m.which)
		}
	}
	s.queue.take(0)
	return m, true
}

// sendInvalidate sends an Invalidate Request, or tells that the queue waits for a
// tag. Where all are lost, or the adapter is, the request is given up.
func (t *ATS) sendInvalidate(s *atsState, p uint8) bool {
	n, ok := t.tagsOf(s).Allocate(uint32(p))
	switch {
	case s.dead:
		return true
	case ok:
		s.tags[n] = itag{state: tagBusy, page: p}
		s.tell(message{atsInvalidate, tagged(n, p)})
		return true
	}
	for n := range t.ITags {
		if s.tags[n].state == tagBusy {
			return false
		}
	}
	s.pages[p].timedOut = true
	return true
}
