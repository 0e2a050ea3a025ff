package protocol

import "rnicmmu/verify/protocol/explore"

type emitter = func(*explore.Step[[]Event])

// tableSteps emits what can happen in a state.
type tableSteps struct {
	*Tables
	from      *tableState
	next      tableState
	canonical bool
	step      explore.Step[[]Event]
	emit      emitter
}

// Expand calls emit for each step from a state, with what follows from it at once.
func (t *Tables) Expand(k explore.Key, canonical bool, emit func(*explore.Step[[]Event])) {
	from := t.unpack(k)
	if from.broken != ruleNone {
		return
	}
	e := tableSteps{Tables: t, from: &from, next: from, canonical: canonical, emit: emit}
	for i := range uint8(t.Accesses) {
		e.ofAccess(i)
	}
	for a := range uint8(t.Adapters) {
		e.ofAdapter(a)
	}
	for p := range uint8(t.Pages) {
		e.ofPage(p)
	}
	if !t.each {
		return
	}
	for n := range t.candidates() {
		if event, ok := t.candidate(&e.next, n); ok {
			e.out(event, false)
		}
	}
}

// out emits the step that led to next, and starts another.
func (e *tableSteps) out(event Event, environment bool) {
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

// of is a step of an access.
func of(s *tableState, kind Kind, i uint8) Event {
	x := &s.accesses[i]
	return Event{Kind: kind, Adapter: uint16(x.adapter), Page: uint32(x.page), Frame: uint32(max(x.frame, x.noted)), Token: uint32(i), Write: x.write}
}

func (e *tableSteps) ofAccess(i uint8) {
	n := &e.next
	switch x := &e.from.accesses[i]; x.phase {
	case accessIdle:
		if i > 0 && e.from.accesses[i-1].phase == accessIdle {
			return // another idle one does as well
		}
		e.begins(i)
	case accessWaiting:
		if n.retry(i) {
			e.out(of(e.from, Retry, i), false)
		}
	case accessGiven:
		n.issue(i)
		e.out(of(e.from, DMAIssued, i), false)
		if n.giveBack(i) {
			e.out(of(e.from, Returned, i), false)
		}
	case accessFaulted:
		if n.update(i) {
			e.out(of(e.from, Update, i), false)
		}
		if e.scarce(n, i) && e.find(n, i) {
			e.out(of(e.from, Lookup, i), false)
		}
	}
}

func (e *tableSteps) begins(i uint8) {
	for a := range uint8(e.Adapters) {
		for p := range uint8(e.Pages) {
			for _, write := range [2]bool{false, true} {
				e.next.begin(i, a, p, write)
				e.out(Event{Kind: Access, Adapter: uint16(a), Page: uint32(p), Token: uint32(i), Write: write}, true)
			}
		}
	}
}

func (e *tableSteps) ofAdapter(a uint8) {
	n, d := &e.next, &e.from.adapters[a]
	if d.queued > 0 && !gives(d.queue[0].op) {
		if c, ok := n.execute(a); ok {
			e.out(done(e.from, a, c), false)
		}
	}
	for p := range uint8(e.Pages) {
		if n.walked(a, p) {
			e.out(Event{Kind: Walked, Adapter: uint16(a), Page: uint32(p), Frame: uint32(d.walks[p].value.frame())}, false)
		}
	}
	for i := range d.up.n {
		if m := d.up.list[i]; m.what <= upRead && d.up.mayArrive(i, upClass) {
			e.arrive(n, a, i)
			e.out(of(e.from, DMAArrived, m.which), false)
		}
	}
}

func (e *tableSteps) ofPage(p uint8) {
	n, pg := &e.next, &e.from.pages[p]
	out := func(kind Kind, environment bool) {
		e.out(Event{Kind: kind, Page: uint32(p), Frame: uint32(pg.frame)}, environment)
	}
	if e.reclaim(n, p) {
		out(Reclaim, false)
	}
	if e.Nested && e.unhold(n, p) {
		out(Release, false)
	}
	if e.Nested && e.hold(n, p) {
		out(Hold, true)
	}
	if pg.state != pageResident {
		return
	}
	e.invalidate(n, p, toSwap)
	out(Evict, true)
	if f := e.freeFrame(n); f != 0 {
		n.pages[p].target = f
		e.invalidate(n, p, toFrame)
		out(Move, true)
	}
	if pg.store {
		e.invalidate(n, p, toProtect)
		out(Protect, true)
	}
}

// Rest tells whether nothing is under way.
func (t *Tables) Rest(k explore.Key) bool {
	s := t.unpack(k)
	for i := range s.accesses {
		if s.accesses[i].phase != accessIdle {
			return false
		}
	}
	for a := range s.adapters {
		if s.adapters[a].queued > 0 || s.adapters[a].up.n > 0 {
			return false
		}
	}
	for p := range s.pages {
		if s.pages[p].state == pageLeaving || s.pages[p].hold != holdNone {
			return false
		}
	}
	return true
}

// Broken names the rule that a state breaks.
func (t *Tables) Broken(k explore.Key) string { return rules[k[0]&(1<<ruleBits-1)] }

// Initial is all pages absent, with zeros for content.
func (t *Tables) Initial() explore.Key {
	var s tableState
	for p := range t.Pages {
		s.pages[p].kept = true
	}
	return t.pack(&s, &identity)
}
