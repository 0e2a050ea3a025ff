package protocol

// arrive takes a message of an adapter off its way.
func (t *Tables) arrive(s *tableState, a, n uint8) (m message) {
	m = s.adapters[a].up.take(n)
	bit := uint8(1) << a
	switch m.what {
	case upWrite, upRead:
		s.place(m.which)
	case upAck:
		s.pages[m.which].acks &^= bit
		t.leave(s, m.which)
	case upHeld:
		p := &s.pages[m.which]
		if p.holdAcks &^= bit; p.holdAcks == 0 {
			p.hold = holdOn
		}
		t.leave(s, m.which)
	}
	return m
}

// place is DMA that reaches memory.
func (s *tableState) place(i uint8) {
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

// reported is a fault's event, or the completion of its fill, that arrives.
func (s *tableState) reported(i uint8) bool {
	x := &s.accesses[i]
	switch {
	case x.phase != accessFaulted:
		return false
	case x.fault == faultSent:
		x.fault = faultMap
		return true
	case x.fault == faultFilled:
		s.answer(i)
		return true
	}
	return false
}

// answer ends a fault by a resume command.
func (s *tableState) answer(i uint8) {
	x := &s.accesses[i]
	x.fault, x.noted, x.changed = faultResume, 0, false
	s.order(x.adapter, command{op: cmdResume, which: i})
}

// order puts a command into an adapter's queue.
func (s *tableState) order(a uint8, c command) {
	d := &s.adapters[a]
	if d.queued == most {
		s.broken = ruleBound
		return
	}
	d.queue[d.queued] = c
	d.queued++
}

// freeFrame is the lowest frame that no page has; 0: none.
func (t *Tables) freeFrame(s *tableState) uint8 {
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

// find makes the page of a fault present, with the right wanted, and notes what
// it found. It waits while the page is being invalidated.
func (t *Tables) find(s *tableState, i uint8) bool {
	x := &s.accesses[i]
	p := &s.pages[x.page]
	if x.phase != accessFaulted || x.fault != faultMap || p.state == pageLeaving {
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
	x.fault, x.noted, x.changed = faultUpdate, p.frame, false
	return true
}

// reclaim invalidates a page where a fault waits for a frame and none is on its
// way.
func (t *Tables) reclaim(s *tableState, p uint8) bool {
	wanted := false
	for i := range t.Accesses {
		x := &s.accesses[i]
		wanted = wanted || x.phase == accessFaulted && x.fault == faultMap && s.pages[x.page].state == pageAbsent
	}
	if !wanted || s.pages[p].state != pageResident || t.freeFrame(s) != 0 {
		return false
	}
	for q := range t.Pages {
		if x := &s.pages[q]; x.state == pageLeaving && x.why != toProtect {
			return false
		}
	}
	t.invalidate(s, p, toSwap)
	return true
}

// update fills the entry if no invalidation of the page has begun since it was
// looked up; else it is looked up again. Another fault's fill may do.
func (s *tableState) update(i uint8) bool {
	x := &s.accesses[i]
	if x.phase != accessFaulted || x.fault != faultUpdate || x.overtaken() {
		return false
	}
	p, bit := &s.pages[x.page], uint8(1)<<x.adapter
	if p.mapped&bit != 0 && (!x.write || p.writable&bit != 0) {
		s.answer(i)
		return true
	}
	s.order(x.adapter, command{op: cmdFill, which: x.page, token: i, frame: x.noted, write: x.write})
	p.mapped |= bit
	if x.write {
		p.writable |= bit
	}
	x.fault, x.noted = faultFill, 0
	return true
}

// overtaken tells whether an invalidation has begun since the page was looked up.
func (x *access) overtaken() bool { return x.changed }

// again looks a page up again whose sequence number has changed.
func (s *tableState) again(i uint8) bool {
	x := &s.accesses[i]
	if !x.overtaken() {
		return false
	}
	x.fault, x.noted, x.changed = faultMap, 0, false
	return true
}

// bump makes all faults that have noted a page look again.
func (s *tableState) bump(p uint8) {
	for i := range s.accesses {
		if x := &s.accesses[i]; x.phase == accessFaulted && x.fault == faultUpdate && x.page == p {
			x.changed = true
		}
	}
}

// invalidate starts to take a page from the adapters.
func (t *Tables) invalidate(s *tableState, p, why uint8) {
	pg := &s.pages[p]
	pg.state, pg.why = pageLeaving, why
	s.bump(p) // also where no adapter has it
	concerned := pg.mapped
	if why == toProtect {
		concerned = pg.writable
	}
	for a := range uint8(t.Adapters) {
		if concerned>>a&1 == 0 {
			continue
		}
		op := cmdZap
		switch {
		case why == toProtect:
			op = cmdProtect
		case t.Suspend:
			op = cmdSuspend
			pg.told |= 1 << a
		case why == toFrame:
			op = cmdMoveZap
		}
		pg.acks |= 1 << a
		s.order(a, command{op: op, which: p})
	}
	t.leave(s, p)
}

// leave ends an invalidation when all adapters have acknowledged: what they could
// store to is dirty, and only now the frame is anybody's.
func (t *Tables) leave(s *tableState, p uint8) {
	pg := &s.pages[p]
	if pg.state != pageLeaving || pg.acks != 0 || pg.holdAcks != 0 {
		return
	}
	if pg.writable != 0 {
		pg.dirty = true
	}
	if pg.why == toProtect {
		pg.state, pg.why, pg.writable, pg.store = pageResident, 0, 0, false
		return
	}
	old := pg.frame
	if s.usable(p, old) {
		s.broken = ruleFrameInUse
	}
	told, writable := pg.told, pg.writable
	pg.mapped, pg.writable, pg.told = 0, 0, 0
	if pg.why == toFrame {
		pg.state, pg.why, pg.frame, pg.target = pageResident, 0, pg.target, 0
		t.reopen(s, p, told, writable)
		return
	}
	if pg.dirty {
		pg.kept = true
	}
	if !pg.kept {
		s.broken = ruleLostWrite
	}
	pg.state, pg.frame, pg.dirty, pg.store = pageAbsent, 0, false, false
	t.reopen(s, p, told, writable)
}

// reopen programs the new frame of a page into the entries that were suspended,
// if it has one, and ends the suspensions.
func (t *Tables) reopen(s *tableState, p, told, writable uint8) {
	pg := &s.pages[p]
	for a := range uint8(t.Adapters) {
		bit := uint8(1) << a
		if told&bit == 0 {
			continue
		}
		if pg.frame != 0 {
			s.order(a, command{op: cmdRefill, which: p, frame: pg.frame, write: writable&bit != 0})
			pg.mapped |= bit
			pg.writable |= writable & bit
		}
		s.order(a, command{op: cmdUnsuspend, which: p})
	}
}

// usable tells whether an adapter can reach a frame as a page.
func (s *tableState) usable(p, frame uint8) bool {
	for i := range s.accesses {
		if x := &s.accesses[i]; x.page == p && x.frame == frame && x.phase >= accessGiven {
			return true
		}
	}
	for a := range s.adapters {
		d := &s.adapters[a]
		w := &d.walks[p]
		if d.entries[p].frame() == frame || d.cached[p].frame() == frame || w.busy && !w.stale && w.value.frame() == frame {
			return true
		}
	}
	return false
}

// hold suspends a page on all adapters for a while; no more than one page at once.
func (t *Tables) hold(s *tableState, p uint8) bool {
	for q := range t.Pages {
		if s.pages[q].hold != holdNone {
			return false
		}
	}
	pg := &s.pages[p]
	s.bump(p)
	pg.hold, pg.holdAcks = holdTelling, 1<<t.Adapters-1
	pg.dirty = pg.dirty || pg.writable != 0
	pg.mapped, pg.writable = 0, 0
	for a := range uint8(t.Adapters) {
		s.order(a, command{op: cmdHold, which: p})
	}
	return true
}

// unhold ends it.
func (t *Tables) unhold(s *tableState, p uint8) bool {
	pg := &s.pages[p]
	if pg.hold != holdOn {
		return false
	}
	pg.hold = holdNone
	for a := range uint8(t.Adapters) {
		s.order(a, command{op: cmdUnsuspend, which: p})
	}
	return true
}
