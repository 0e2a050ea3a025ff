package protocol

import (
	"rnicmmu/model/mtt"
	"rnicmmu/model/pcie"
)

// lookup is an access's look-up: a cached entry answers, a miss joins or begins a
// table read.
func (s *tableState) lookup(i uint8) {
	x := &s.accesses[i]
	a := &s.adapters[x.adapter]
	if c := a.cached[x.page].word(); c.Present() {
		s.resolve(i, c)
		return
	}
	x.phase = accessWalking
	if w := &a.walks[x.page]; !w.busy {
		*w = walk{busy: true, value: a.entries[x.page]}
	}
}

// walked ends a table read, unless a command overtook it.
func (s *tableState) walked(a, p uint8) bool {
	d := &s.adapters[a]
	w := &d.walks[p]
	if !w.busy || w.stale {
		return false
	}
	found := w.value
	*w = walk{}
	if found.word().Present() {
		d.cached[p] = found
	}
	for i := range s.accesses {
		if x := &s.accesses[i]; x.phase == accessWalking && x.adapter == a && x.page == p {
			s.resolve(uint8(i), found.word())
		}
	}
	return true
}

// reread has a table read that a command overtook read again.
func (s *tableState) reread(a, p uint8) bool {
	d := &s.adapters[a]
	if !d.walks[p].stale {
		return false
	}
	d.walks[p] = walk{busy: true, value: d.entries[p]}
	return true
}

// resolve goes on with what an access met.
func (s *tableState) resolve(i uint8, w mtt.Word) {
	x := &s.accesses[i]
	switch w.Meets(x.write) {
	case mtt.Granted:
		x.phase, x.frame = accessGiven, compress(w).frame()
		if s.pages[x.page].hold == holdOn {
			s.broken = ruleHeld
		}
	case mtt.Held:
		x.phase = accessWaiting
	default:
		x.phase, x.fault = accessFaulted, faultSent
	}
}

// send puts a message on an adapter's way to the host.
func (s *tableState) send(a uint8, m message) {
	if !s.adapters[a].up.push(m) {
		s.broken = ruleBound
	}
}

// upClass is the class of an adapter's message.
func upClass(what uint8) pcie.Class {
	if what == upRead {
		return pcie.NonPosted
	}
	return pcie.Posted
}

// begin is an access, the environment's.
func (s *tableState) begin(i, a, p uint8, write bool) {
	s.accesses[i] = access{adapter: a, page: p, write: write}
	s.lookup(i)
}

// retry comes again after a suspended entry.
func (s *tableState) retry(i uint8) bool {
	x := &s.accesses[i]
	if x.phase != accessWaiting || s.adapters[x.adapter].entries[x.page].word().Meets(x.write) == mtt.Held {
		return false // it would meet the same
	}
	s.lookup(i)
	return true
}

// issue sends the DMA of an access. A posted write needs its translation no more;
// a read does until it is answered.
func (s *tableState) issue(i uint8) bool {
	x := &s.accesses[i]
	if x.phase != accessGiven {
		return false
	}
	if x.write {
		x.phase, x.marked = accessWriting, false
		s.send(x.adapter, message{upWrite, i})
	} else {
		x.phase = accessReading
		s.send(x.adapter, message{upRead, i})
	}
	return true
}

// giveBack returns a translation that was called back, unused.
func (s *tableState) giveBack(i uint8) bool {
	x := &s.accesses[i]
	if x.phase != accessGiven || !x.marked {
		return false
	}
	x.marked, x.frame = false, 0
	s.lookup(i)
	return true
}

// execute does the command at the front.
func (s *tableState) execute(a uint8) (done command, ok bool) {
	d := &s.adapters[a]
	if d.queued == 0 || d.draining {
		return command{}, false
	}
	c := d.queue[0]
	if c.op == cmdResume {
		s.pop(a)
		s.resume(c.which)
		return c, true
	}
	p := c.which
	s.change(d, c)
	d.cached[p] = 0
	if w := &d.walks[p]; w.busy {
		w.stale = true
	}
	switch c.op {
	case cmdFill:
		s.pop(a)
		s.accesses[c.token].fault = faultFilled
	case cmdRefill, cmdUnsuspend:
		s.pop(a)
	default:
		d.draining = true
		s.revoke(a, p)
	}
	return c, true
}

// change makes a command's change to the table.
func (s *tableState) change(d *tableAdapter, c command) {
	e := &d.entries[c.which]
	w := e.word()
	switch c.op {
	case cmdFill, cmdRefill:
		w = entryFor(c.frame, c.write).WithSuspended(d.held[c.which] > 0)
	case cmdZap, cmdMoveZap:
		w = w.Zapped(c.op == cmdMoveZap)
	case cmdProtect:
		w = w.Protected()
	case cmdSuspend, cmdHold:
		d.held[c.which]++
		w = w.Held()
	case cmdUnsuspend:
		if d.held[c.which] == 0 {
			s.broken = ruleStrayOpen
			return
		}
		if d.held[c.which]--; d.held[c.which] == 0 {
			w = w.Opened()
		}
	}
	*e = compress(w)
}

// revoke calls the translations of a page back.
func (s *tableState) revoke(a, p uint8) {
	for i := range s.accesses {
		x := &s.accesses[i]
		if (x.phase == accessGiven || x.phase == accessReading) && x.adapter == a && x.page == p {
			x.marked = true
		}
	}
}

// drained acknowledges the command at the front when all that it called back has
// come back; the acknowledgement is a posted write behind the writes that used
// old translations.
func (s *tableState) drained(a uint8) bool {
	d := &s.adapters[a]
	if !d.draining {
		return false
	}
	for i := range s.accesses {
		if x := &s.accesses[i]; x.marked && x.adapter == a {
			return false
		}
	}
	c := s.pop(a)
	d.draining = false
	what := upAck
	if c.op == cmdHold {
		what = upHeld
	}
	s.send(a, message{what, c.which})
	return true
}

func (s *tableState) pop(a uint8) command {
	d := &s.adapters[a]
	c := d.queue[0]
	copy(d.queue[:d.queued-1], d.queue[1:d.queued])
	d.queued--
	d.queue[d.queued] = command{}
	return c
}

// resume ends a fault: the access looks up anew.
func (s *tableState) resume(i uint8) {
	x := &s.accesses[i]
	if x.phase != accessFaulted || x.fault != faultResume {
		s.broken = ruleStrayResume
		return
	}
	x.fault = 0
	s.lookup(i)
}
