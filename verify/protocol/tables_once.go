package protocol

// gives tells whether a command takes nothing away.
func gives(op uint8) bool {
	switch op {
	case cmdFill, cmdRefill, cmdUnsuspend, cmdResume:
		return true
	}
	return false
}

// executed is the step of executing a command.
var executed = [numCommands]Kind{cmdFill: FillExecuted, cmdRefill: FillExecuted, cmdZap: ZapExecuted, cmdMoveZap: ZapExecuted, cmdProtect: ProtectExecuted,
	cmdSuspend: SuspendExecuted, cmdHold: SuspendExecuted, cmdUnsuspend: UnsuspendExecuted, cmdResume: ResumeExecuted}

// done is the step of a command that an adapter has executed.
func done(s *tableState, a uint8, c command) Event {
	if c.op == cmdResume {
		return of(s, ResumeExecuted, c.which)
	}
	return Event{Kind: executed[c.op], Adapter: uint16(a), Page: uint32(c.which), Frame: uint32(c.frame), Write: c.write}
}

// atOnce takes the first of the steps that need not wait, for whatever happens
// before them can as well happen after them; false: there is none. See doc.go.
func (t *Tables) atOnce(s *tableState) (event Event, ok bool) {
	for n := range t.candidates() {
		if event, ok = t.candidate(s, n); ok {
			return event, ok
		}
	}
	return Event{}, false
}

// ofOne is the number of candidates of an adapter.
func (t *Tables) ofOne() int { return 1 + t.Pages + most }

func (t *Tables) candidates() int { return t.Accesses + t.Adapters*t.ofOne() }

// candidate takes a step that need not wait, by number, if it can be taken.
func (t *Tables) candidate(s *tableState, n int) (event Event, ok bool) {
	if n < t.Accesses {
		return t.handled(s, uint8(n))
	}
	n -= t.Accesses
	a := uint8(n / t.ofOne())
	d := &s.adapters[a]
	switch n %= t.ofOne(); {
	case n == 0 && d.queued > 0:
		head := d.queue[0]
		if gives(head.op) {
			s.execute(a)
			return done(s, a, head), true
		}
		return Event{Kind: Drained, Adapter: uint16(a), Page: uint32(head.which)}, s.drained(a)
	case n == 0:
		return Event{}, false
	case n <= t.Pages:
		p := uint8(n - 1)
		return Event{Kind: Walked, Adapter: uint16(a), Page: uint32(p)}, s.reread(a, p)
	}
	i := uint8(n - 1 - t.Pages)
	if i >= d.up.n || d.up.list[i].what <= upRead || !d.up.mayArrive(i, upClass) {
		return Event{}, false
	}
	m := t.arrive(s, a, i)
	kind := AckArrived
	if m.what == upHeld {
		kind = HeldArrived
	}
	return Event{Kind: kind, Adapter: uint16(a), Page: uint32(m.which)}, true
}

// handled is a step of the handler of an access's fault.
func (t *Tables) handled(s *tableState, i uint8) (event Event, ok bool) {
	x := &s.accesses[i]
	if x.phase != accessFaulted {
		return Event{}, false
	}
	was := x.fault
	switch {
	case s.reported(i):
		if was == faultSent {
			return of(s, FaultArrived, i), true
		}
		return of(s, FilledArrived, i), true
	case s.again(i), !t.scarce(s, i) && t.find(s, i):
		return of(s, Lookup, i), true
	}
	return Event{}, false
}

// scarce tells whether the page of a fault wants a frame that another page may
// want too, so that it matters who comes first.
func (t *Tables) scarce(s *tableState, i uint8) bool {
	if s.pages[s.accesses[i].page].state != pageAbsent {
		return false
	}
	free := t.Frames
	for p := range t.Pages {
		switch {
		case s.pages[p].state == pageAbsent:
			free--
		case s.pages[p].target != 0:
			free -= 2
		default:
			free--
		}
	}
	return free < 0
}
