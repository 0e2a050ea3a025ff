package protocol

import "rnicmmu/verify/protocol/explore"

// atsSteps emits what can happen in a state.
type atsSteps struct {
	*ATS
	from      *atsState
	next      atsState
	canonical bool
	step      explore.Step[[]Event]
	emit      emitter
}

// Expand calls emit for each step from a state, with what follows from it at once.
func (t *ATS) Expand(k explore.Key, canonical bool, emit func(*explore.Step[[]Event])) {
	from := t.unpack(k)
	if from.broken != ruleNone {
		return
	}
	e := atsSteps{ATS: t, from: &from, next: from, canonical: canonical, emit: emit}
	for i := range uint8(t.Accesses) {
		e.ofAccess(i)
	}
	for tc := range t.Completions {
		e.ofChannel(tc)
	}
	for i := range from.down.n {
		if from.down.mayArrive(i, atsClass) {
			m := e.next.receive(i)
			e.out(e.about(&from, m), false)
		}
	}
	for n := range uint8(t.ITags) {
		if e.next.tags[n].state == tagBusy && t.timeOut(&e.next, n) {
			e.out(Event{Kind: TimedOut, Page: uint32(from.tags[n].page)}, !from.dead)
		}
	}
	if m, ok := from.queue.first(); ok && m.what == queueIOTLB {
		t.execute(&e.next)
		e.out(Event{Kind: IOTLBDropped, Page: uint32(m.which)}, false)
	}
	for p := range uint8(t.Pages) {
		e.ofPage(p)
	}
	for n := 0; t.each && n < t.candidates(); n++ {
		if event, ok := t.candidate(&e.next, n); ok {
			e.out(event, false)
		}
	}
}

// out emits the step that led to next, and starts another.
func (e *atsSteps) out(event Event, environment bool) {
	e.step = explore.Step[[]Event]{Environment: environment}
	if !e.canonical {
		e.step.Event = []Event{event}
	}
	for !e.each && e.next.broken == ruleNone {
		event, ok := e.atOnce(&e.next)
		if !ok {
			break
		}
		if !e.canonical {
			e.step.Event = append(e.step.Event, event)
		}
	}
	if e.canonical {
		e.step.To = e.canon(&e.next)
	} else {
		e.step.To = e.pack(&e.next, &identity)
	}
	e.emit(&e.step)
	e.next = *e.from
}

// ofGroup is a step of an access.
func ofGroup(s *atsState, kind Kind, i uint8) Event {
	x := &s.accesses[i]
	return Event{Kind: kind, Page: uint32(x.page), Frame: uint32(x.frame), Token: uint32(i), Write: x.write}
}

// about is the arrival of a message.
func (t *ATS) about(s *atsState, m message) Event {
	switch m.what {
	case atsWrite, atsRead:
		return ofGroup(s, DMAArrived, m.which)
	case atsPageRequest:
		return ofGroup(s, PageRequestArrived, m.which)
	case atsRespond:
		return ofGroup(s, PageResponseArrived, m.which)
	case atsTranslate:
		return Event{Kind: TranslationAsked, Page: uint32(m.which)}
	case atsTranslated:
		return Event{Kind: TranslationArrived, Page: uint32(m.which), Frame: uint32(s.requests[m.which].value.frame())}
	}
	n, p := untagged(m.which)
	kind := CompletionArrived
	if m.what == atsInvalidate {
		kind = InvalidateArrived
	}
	return Event{Kind: kind, Page: uint32(p), Token: uint32(n)}
}

func (e *atsSteps) ofAccess(i uint8) {
	n := &e.next
	switch x := &e.from.accesses[i]; x.phase {
	case accessIdle:
		if e.from.dead || e.Completions == 1 && i > 0 && e.from.accesses[i-1].phase == accessIdle {
			return // another idle one does as well
		}
		for p := range uint8(e.Pages) {
			for _, write := range [2]bool{false, true} {
				n.accesses[i] = access{page: p, write: write}
				n.lookup(i)
				e.out(Event{Kind: Access, Page: uint32(p), Token: uint32(i), Write: write}, true)
			}
		}
	case accessGiven:
		e.issue(n, i)
		e.out(ofGroup(e.from, DMAIssued, i), false)
		if n.giveBack(i) {
			e.out(ofGroup(e.from, Returned, i), false)
		}
	case accessFaulted:
		if n.take(i) {
			e.out(ofGroup(e.from, FaultArrived, i), false)
		}
		if e.rivals(n) && e.report(n, i) {
			e.out(ofGroup(e.from, FaultRaised, i), false)
		}
		if e.rivals(n) && e.find(n, i) {
			e.out(ofGroup(e.from, Lookup, i), false)
		}
	}
}

func (e *atsSteps) ofChannel(tc int) {
	c := &e.from.up[tc]
	for i := range c.n {
		if c.mayArrive(i, atsClass) {
			m := e.arrive(&e.next, tc, i)
			e.out(e.about(e.from, m), false)
		}
	}
}

func (e *atsSteps) ofPage(p uint8) {
	n, pg := &e.next, &e.from.pages[p]
	out := func(kind Kind, environment bool) {
		e.out(Event{Kind: kind, Page: uint32(p), Frame: uint32(pg.frame)}, environment)
	}
	if pg.timedOut && n.fence(p) {
		out(CutOff, false)
	}
	if pg.state != pageResident {
		return
	}
	n.invalidate(p, toSwap)
	out(Evict, true)
	if f := e.freeFrame(n); f != 0 {
		n.pages[p].target = f
		n.invalidate(p, toFrame)
		out(Move, true)
	}
	if pg.store {
		n.invalidate(p, toProtect)
		out(Protect, true)
	}
}

// atOnce takes the first of the steps that need not wait.
func (t *ATS) atOnce(s *atsState) (event Event, ok bool) {
	for n := range t.candidates() {
		if event, ok = t.candidate(s, n); ok {
			return event, ok
		}
	}
	return Event{}, false
}

func (t *ATS) candidates() int { return 2*t.Accesses + t.Pages + 3 }

// candidate takes a step that need not wait, by number, if it can be taken.
func (t *ATS) candidate(s *atsState, n int) (event Event, ok bool) {
	switch {
	case n < t.Accesses:
		return ofGroup(s, Lookup, uint8(n)), !t.rivals(s) && t.find(s, uint8(n))
	case n < 2*t.Accesses:
		i := uint8(n - t.Accesses)
		return ofGroup(s, FaultRaised, i), !t.rivals(s) && t.report(s, i)
	}
	n -= 2 * t.Accesses
	if n < t.Pages {
		return Event{Kind: FenceArrived, Page: uint32(n)}, !s.pages[n].timedOut && s.fence(uint8(n))
	}
	switch n - t.Pages {
	case 0:
		m, ok := s.queue.first()
		if !ok || m.what == queueIOTLB {
			return Event{}, false
		}
		if m.what == queueRespond {
			event = ofGroup(s, Answered, m.which)
		} else {
			event = Event{Kind: map[uint8]Kind{queueDevTLB: DevTLBSent, queueFence: FencePassed}[m.what], Page: uint32(m.which)}
		}
		_, ok = t.execute(s)
		return event, ok
	case 1:
		m, _ := s.invs.first()
		_, p := untagged(m.which)
		return Event{Kind: ZapExecuted, Page: uint32(p)}, s.invalidated()
	}
	m, _ := s.invs.first()
	_, p := untagged(m.which)
	return Event{Kind: Drained, Page: uint32(p)}, t.drained(s)
}

// rivals tells whether several faults can go on now, so that it matters which
// comes first.
func (t *ATS) rivals(s *atsState) bool {
	found := 0
	for i := range uint8(t.Accesses) {
		try := *s
		if t.find(&try, i) || t.report(&try, i) {
			found++
		}
	}
	return found > 1
}

// Rest tells whether nothing is under way.
func (t *ATS) Rest(k explore.Key) bool {
	s := t.unpack(k)
	for i := range s.accesses {
		if s.accesses[i].phase != accessIdle {
			return false
		}
	}
	for p := range s.pages {
		if s.pages[p].state == pageLeaving || s.requests[p].busy {
			return false
		}
	}
	return s.queue.n == 0 && s.down.n == 0 && s.invs.n == 0 && s.up[0].n == 0 && s.up[1].n == 0
}

// Broken names the rule that a state breaks.
func (t *ATS) Broken(k explore.Key) string { return rules[k[0]&(1<<ruleBits-1)] }

// Initial is all pages absent, with zeros for content.
func (t *ATS) Initial() explore.Key {
	var s atsState
	for p := range t.Pages {
		s.pages[p].kept = true
	}
	return t.pack(&s, &identity)
}
