package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

func (u *Unit) keyMiss(index uint32) *keyMiss {
	for i := range u.keyMisses {
		if k := &u.keyMisses[i]; k.busy && k.index == index {
			return k
		}
	}
	return nil
}

func (u *Unit) freeKeyMiss() int {
	for i := range u.keyMisses {
		if !u.keyMisses[i].busy {
			return i
		}
	}
	return -1
}

// parkOnKey makes the slot wait for its MPT entry; accept has made sure that a
// register is there.
func (u *Unit) parkOnKey(now clocked.Time, i int32, index uint32, counted bool, a *measure.Access) {
	if k := u.keyMiss(index); k != nil {
		if counted {
			u.Stats.MPT.Merged++
		}
		u.enqueue(&k.list, i)
		return
	}
	if counted {
		u.Stats.MPT.Walks++
	}
	n := u.freeKeyMiss()
	k := &u.keyMisses[n]
	*k = keyMiss{busy: true, index: index, list: noWaiters}
	u.enqueue(&k.list, i)
	u.readTable(now, msg.KindMPT, u.mptEntry(index), key.EntryBytes, cookie(cookieMPT, n), a)
}

// mptEntry is where the entry of a key lies.
func (u *Unit) mptEntry(index uint32) model.PA {
	return u.config.Place.MPT + model.PA(uint64(index)*key.EntryBytes)
}

// finishKey fills the MPT cache and lets the waiting requests go on. An entry
// that was changed meanwhile is read again.
func (u *Unit) finishKey(now clocked.Time, n int) {
	k := &u.keyMisses[n]
	if k.stale {
		k.stale = false
		u.Stats.MPT.Stales++
		a := u.slots[k.list.head].req.Access
		u.readTable(now, msg.KindMPT, u.mptEntry(k.index), key.EntryBytes, cookie(cookieMPT, n), a)
		return
	}
	if u.keys.Lookup(key.Make(k.index, 0)) != nil {
		_, _, evicted := u.mpt.Fill(uint64(k.index), uint64(k.index))
		u.Stats.MPT.Fills++
		if evicted {
			u.Stats.MPT.Evictions++
		}
	}
	k.busy = false
	for k.list.head != none {
		i := u.dequeue(&k.list)
		m := &u.slots[i].req
		m.Ledger.Charge(now, measure.CauseMPTMiss)
		u.protect(now, i, m)
	}
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
		u.countMiss(s, true)
		u.enqueue(&u.walks[n].list, i)
		return true
	}
	if n = u.freeWalk(); n < 0 {
		return false
	}
	u.countMiss(s, false)
	w := &u.walks[n]
	*w = walk{busy: true, store: s.req.Write, line: line, first: first, set: u.setOf(&s.req, line), list: noWaiters}
	u.enqueue(&w.list, i)
	if u.config.Mode == ATC {
		u.requestTranslation(now, n)
	} else {
		u.readLevel(now, n)
	}
	return true
}

// countMiss books a miss with the walk that it starts or joins.
func (u *Unit) countMiss(s *slot, merged bool) {
	m := &s.req
	if fresh := !s.counted && !m.Replay; fresh {
		if !merged {
			u.Stats.MTT.Walks++
		} else if u.Stats.MTT.Merged++; m.Access != nil {
			m.Access.Counts.MTTMerged++
		}
	}
	u.countMTT(s, m, false)
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
	a := u.slots[w.list.head].req.Access
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
func (u *Unit) finishWalk(now clocked.Time, n int) {
	w := &u.walks[n]
	if w.level < u.spec.MTT.Levels-1 {
		w.level++
		u.readLevel(now, n)
		return
	}
	if w.stale {
		u.Stats.MTT.Stales++
		u.readLevel(now, n)
		return
	}
	u.fill(w)
	w.busy = false
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

// fill caches the line unless no entry of it is present.
func (u *Unit) fill(w *walk) {
	le := u.spec.MTT.LineEntries
	present := false
	for _, word := range w.words[:le] {
		present = present || word.Present()
	}
	if !present {
		return
	}
	at, _, evicted := u.mtt.Fill(w.set, w.line)
	copy(u.words[at*le:(at+1)*le], w.words[:le])
	u.Stats.MTT.Fills++
	if evicted {
		u.Stats.MTT.Evictions++
	}
}
