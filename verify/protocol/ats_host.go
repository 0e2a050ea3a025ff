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

// freeFrame is the lowest frame that no page has; 0: none.
func (t *ATS) freeFrame(s *atsState) uint8 {
	for f := uint8(1); f <= uint8(t.Frames); f++ {
		free := true
		for p := range t.Pages {
			free = free && s.pages[p].frame != f && s.pages[p].target != f
		}
		if free {
			return f
		}
	}
	return 0
}

// take takes a page request off the ring.
func (s *atsState) take(i uint8) bool {
	x := &s.accesses[i]
	if x.phase != accessFaulted || x.fault != groupRing {
		return false
	}
	s.ring--
	x.fault = groupMap
	return true
}

// find makes the page of a group present, with the right wanted, and has the group
// answered. It waits while the page is being invalidated.
func (t *ATS) find(s *atsState, i uint8) bool {
	x := &s.accesses[i]
	p := &s.pages[x.page]
	if x.phase != accessFaulted || x.fault != groupMap || p.state == pageLeaving {
		return false
	}
	if p.state == pageAbsent {
		f := t.freeFrame(s)
		if f == 0 {
			return false
		}
		p.state, p.frame = pageResident, f
	}
	p.store = p.store || x.write
	x.fault = groupAnswered
	s.order(message{queueRespond, i})
	return true
}

func (s *atsState) order(m message) {
	if !s.queue.push(m) {
		s.broken = ruleBound
	}
}

// invalidate takes a page out of the page table and has the IOTLB's copy dropped
// before the adapter's, and both before the fence.
func (s *atsState) invalidate(p, why uint8) {
	pg := &s.pages[p]
	pg.state, pg.why = pageLeaving, why
	s.order(message{queueIOTLB, p})
	s.order(message{queueDevTLB, p})
	s.order(message{queueFence, p})
}

// fence is complete when the Invalidate Requests before it are, or are given up. An
// adapter that did not answer is cut off before the page goes.
func (s *atsState) fence(p uint8) bool {
	pg := &s.pages[p]
	if !pg.fenced || pg.waits != 0 {
		return false
	}
	pg.fenced = false
	if pg.timedOut {
		pg.timedOut = false
		s.cutOff()
	}
	s.leave(p)
	return true
}

// cutOff takes the adapter off the bus: nothing that it sent arrives any more.
func (s *atsState) cutOff() {
	s.dead, s.draining, s.credits, s.ring = true, false, 0, 0
	s.up, s.down, s.invs = [maxTCs]channel{}, channel{}, channel{}
	s.copies, s.requests, s.accesses = [maxPages]copied{}, [maxPages]request{}, [maxAccesses]access{}
}

// leave ends an invalidation.
func (s *atsState) leave(p uint8) {
	pg := &s.pages[p]
	switch {
	case pg.why == toProtect:
		pg.state, pg.why, pg.store = pageResident, 0, false
		return
	case s.usable(p, pg.frame):
		s.broken = ruleFrameInUse
	}
	if pg.why == toFrame {
		pg.state, pg.why, pg.frame, pg.target = pageResident, 0, pg.target, 0
		return
	}
	if pg.dirty {
		pg.kept = true
	}
	if !pg.kept {
		s.broken = ruleLostWrite
	}
	*pg = atsPage{kept: pg.kept}
}

// usable tells whether the adapter can reach a frame as a page.
func (s *atsState) usable(p, frame uint8) bool {
	for i := range s.accesses {
		if x := &s.accesses[i]; x.page == p && x.frame == frame && x.phase >= accessGiven {
			return true
		}
	}
	r := &s.requests[p]
	return s.iotlb[p].frame() == frame || s.copies[p].value.frame() == frame || r.busy && !r.stale && r.value.frame() == frame
}
