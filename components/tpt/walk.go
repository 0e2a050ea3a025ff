package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model/mtt"
)

// accessOf is the access of the first of those who wait; nil: none.
func (u *Unit) accessOf(list waiters) *measure.Access {
	if list.head == none {
		return nil
	}
	return u.slots[list.head].req.Access
}

func (u *Unit) walkOf(line uint64) int {
	for i := range u.walks {
		if w := &u.walks[i]; w.busy && w.line == line {
			return i
		}
	}
	return -1
}

func (u *Unit) freeWalk() int {
	for i := range u.walks {
		if !u.walks[i].busy {
			return i
		}
	}
	return -1
}

// parkOnWalk joins the walk of the slot's line or starts one; a slot that finds
// no register queues for it. The miss is counted when its walk is known.
func (u *Unit) parkOnWalk(now clocked.Time, i int32, line, first uint64) {
	if !u.join(now, i, line, first) {
		u.enqueue(&u.stalled, i)
	}
}

// join puts the slot on the walk of its line, and tells whether it could.
func (u *Unit) join(now clocked.Time, i int32, line, first uint64) bool {
	s := &u.slots[i]
	n := u.walkOf(line)
	if n >= 0 {
		u.claim(&u.walks[n])
		u.countMiss(s, true)
		u.enqueue(&u.walks[n].list, i)
		return true
	}
	if n = u.freeWalk(); n < 0 {
		return false
	}
	fresh := u.countMiss(s, false)
	w := &u.walks[n]
	*w = walk{busy: true, demand: true, store: s.req.Write, fresh: fresh, qp: s.req.QP, line: line, first: first,
		set: u.setOf(&s.req, line), list: noWaiters}
	u.enqueue(&w.list, i)
	u.Stats.Walked.Begun++
	u.startWalk(now, n)
	if u.prefetcher != prefetchNone {
		u.prefetch(now, s, line)
	}
	return true
}

// startWalk looks in the second level first, where there is one.
func (u *Unit) startWalk(now clocked.Time, n int) {
	if u.mtt.second != nil {
		u.ask(now, u.mtt, cookie(cookieMTT2, n))
		return
	}
	u.fetchLine(now, n)
}

func (u *Unit) fetchLine(now clocked.Time, n int) {
	if u.config.Mode == ATC {
		u.requestTranslation(now, n)
	} else {
		u.readLevel(now, n)
	}
}

// finishLookup is the answer of the second level for a miss. It holds what the
// table holds: a command that touches a line has dropped it there.
func (u *Unit) finishLookup(now clocked.Time, n int) {
	w := &u.walks[n]
	if u.dropped(w, false) {
		return
	}
	at, hit := u.mtt.second.Lookup(w.line, w.line)
	if hit {
		copy(w.words[:], u.mtt.at2(at))
		hit = u.suits(w)
	}
	if w.demand {
		u.mtt.countSecond(w.fresh, hit)
	}
	if !hit {
		for i := w.list.head; i != none; i = u.slots[i].next {
			u.slots[i].req.Ledger.Charge(now, measure.CauseMTTMiss)
		}
		u.fetchLine(now, n)
		return
	}
	u.Stats.Walked.Second++
	u.mtt.fillFirst(w.qp, w.set, w.line, w.words[:u.mtt.line], w.prefetch)
	u.serveWalk(now, w)
}

// suits tells whether the line has what all who wait for it need, as cached.
func (u *Unit) suits(w *walk) bool {
	for i := w.list.head; i != none; i = u.slots[i].next {
		s := &u.slots[i]
		if word := w.words[s.entry-w.first]; !word.Present() || u.config.Mode == ATC && !word.Allows(s.req.Write) {
			return false
		}
	}
	return true
}

// countMiss books a miss with the walk that it starts or joins, and tells
// whether it counts.
func (u *Unit) countMiss(s *slot, merged bool) bool {
	m := &s.req
	fresh := !s.counted && !m.Replay
	if fresh {
		if !merged {
			u.Stats.MTT.Walks++
		} else if u.Stats.MTT.Merged++; m.Access != nil {
			m.Access.Counts.MTTMerged++
		}
	}
	u.countMTT(s, m, false)
	return fresh
}

// retryStalled goes on with requests that found no walk register.
func (u *Unit) retryStalled(now clocked.Time) {
	for u.stalled.head != none {
		i := u.stalled.head
		s := &u.slots[i]
		line, first := mtt.Line(s.entry, u.spec.MTT.LineEntries)
		cached := u.cached(&s.req, s.entry) // filled meanwhile by another's walk
		if !cached && u.walkOf(line) < 0 && u.freeWalk() < 0 {
			return
		}
		u.dequeue(&u.stalled)
		s.req.Ledger.Charge(now, measure.CauseMSHR)
		if !u.still(now, i) {
			continue
		}
		if cached {
			u.translate(now, i, &s.req)
			continue
		}
		u.join(now, i, line, first)
	}
}

// readLevel reads the walk's next level; at the leaf, the whole line. What the
// leaf read will find is taken when it is sent: a command that changes it
// before the walk ends marks the walk stale.
func (u *Unit) readLevel(now clocked.Time, n int) {
	w := &u.walks[n]
	a := u.accessOf(w.list)
	if w.level < u.spec.MTT.Levels-1 {
		reads := u.layout.Walk(w.first)
		u.readTable(now, msg.KindMTT, reads[w.level], mtt.EntryBytes, cookie(cookieWalk, n), a)
		return
	}
	w.stale = false
	for j := range u.spec.MTT.LineEntries {
		w.words[j] = u.table.Get(w.first + uint64(j))
	}
	bytes := uint32(u.spec.MTT.LineEntries * mtt.EntryBytes)
	u.readTable(now, msg.KindMTT, u.layout.Address(w.first), bytes, cookie(cookieWalk, n), a)
}

// finishWalk goes to the next level or fills the line and serves its waiters.
func (u *Unit) finishWalk(now clocked.Time, n int, status msg.Status) {
	w := &u.walks[n]
	failed := status != msg.StatusSuccess
	if failed {
		u.Stats.TableErrors++
	}
	switch {
	case u.dropped(w, failed):
		return
	case failed:
		u.failWalk(now, w, measure.CauseMTTMiss)
		return
	case w.level < u.spec.MTT.Levels-1:
		w.level++
		u.readLevel(now, n)
		return
	case w.stale:
		u.Stats.MTT.Stales++
		u.readLevel(now, n)
		return
	}
	u.fill(w)
	u.serveWalk(now, w)
}

// serveWalk ends a walk and resolves those who wait for it.
func (u *Unit) serveWalk(now clocked.Time, w *walk) {
	u.end(w)
	list, first, words := w.list, w.first, w.words // another walk may begin here
	for list.head != none {
		i := u.dequeue(&list)
		s := &u.slots[i]
		s.req.Ledger.Charge(now, measure.CauseMTTMiss)
		if u.still(now, i) {
			u.resolve(now, i, &s.req, words[s.entry-first])
		}
	}
}

// failWalk ends a walk, or translation request, whose answer is an error. It
// fails all who wait for it: nothing is asked for again.
func (u *Unit) failWalk(now clocked.Time, w *walk, cause measure.Cause) {
	u.Stats.Walked.Failed++
	u.end(w)
	u.fail(now, w.list, cause)
}

// fail answers those who wait for what could not be read.
func (u *Unit) fail(now clocked.Time, list waiters, cause measure.Cause) {
	for list.head != none {
		i := u.dequeue(&list)
		m := &u.slots[i].req
		m.Ledger.Charge(now, cause)
		u.dismiss(now, i, m, msg.OutcomeRemoteOp)
	}
}

// end frees the register of a walk.
func (u *Unit) end(w *walk) {
	w.busy = false
	if w.prefetch {
		w.prefetch = false
		u.prefetching--
	}
}

// fill ends a walk's reads: it caches the line unless no entry of it is present.
func (u *Unit) fill(w *walk) {
	le := u.spec.MTT.LineEntries
	present := false
	for _, word := range w.words[:le] {
		present = present || word.Present()
	}
	if !present {
		u.Stats.Walked.Absent++
		return
	}
	u.Stats.Walked.Filled++
	u.mtt.fill(w.qp, w.set, w.line, w.words[:le], w.prefetch)
}
