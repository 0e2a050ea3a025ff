package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
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
	*k = keyMiss{busy: true, fresh: counted, index: index, qp: u.slots[i].req.QP, list: noWaiters}
	u.enqueue(&k.list, i)
	if u.mpt.second != nil {
		u.ask(now, u.mpt, cookie(cookieMPT2, n))
		return
	}
	u.readKey(now, n)
}

// finishKeyLookup is the answer of the second level.
func (u *Unit) finishKeyLookup(now clocked.Time, n int) {
	k := &u.keyMisses[n]
	index := uint64(k.index)
	_, hit := u.mpt.second.Lookup(index, index)
	u.mpt.countSecond(k.fresh, hit)
	if !hit {
		u.readKey(now, n)
		return
	}
	u.mpt.fillFirst(k.qp, index, index, nil, false)
	u.serveKey(now, k)
}

// readKey reads the entry.
func (u *Unit) readKey(now clocked.Time, n int) {
	k := &u.keyMisses[n]
	k.stale = false
	u.readTable(now, msg.KindMPT, u.mptEntry(k.index), key.EntryBytes, cookie(cookieMPT, n), u.accessOf(k.list))
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
		u.Stats.MPT.Stales++
		u.readKey(now, n)
		return
	}
	if u.keys.Lookup(key.Make(k.index, 0)) != nil {
		u.mpt.fill(k.qp, uint64(k.index), uint64(k.index), nil, false)
	}
	u.serveKey(now, k)
}

func (u *Unit) serveKey(now clocked.Time, k *keyMiss) {
	k.busy = false
	for k.list.head != none {
		i := u.dequeue(&k.list)
		m := &u.slots[i].req
		m.Ledger.Charge(now, measure.CauseMPTMiss)
		u.protect(now, i, m)
	}
}
