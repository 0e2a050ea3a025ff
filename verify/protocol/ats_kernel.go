package protocol

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
