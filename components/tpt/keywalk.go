package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

func (u *Unit) keyMiss(tag uint64) *keyMiss {
	for i := range u.keyMisses {
		if k := &u.keyMisses[i]; k.busy && k.tag == tag {
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

// parkOnKey makes the slot wait for an entry; the caller has made sure that a
// register is there.
func (u *Unit) parkOnKey(now clocked.Time, i int32, tag uint64, counted bool, a *measure.Access) {
	if k := u.keyMiss(tag); k != nil {
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
	*k = keyMiss{busy: true, fresh: counted, tag: tag, qp: u.slots[i].req.QP, list: noWaiters}
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
	_, hit := u.mpt.second.Lookup(k.tag, k.tag)
	u.mpt.countSecond(k.fresh, hit)
	if !hit {
		u.readKey(now, n)
		return
	}
	u.mpt.fillFirst(k.qp, k.tag, k.tag, nil, false)
	u.serveKey(now, k)
}

// readKey reads the entry.
func (u *Unit) readKey(now clocked.Time, n int) {
	k := &u.keyMisses[n]
	k.stale = false
	pa, bytes := u.placeOf(k.tag)
	u.readTable(now, msg.KindMPT, pa, bytes, cookie(cookieMPT, n), u.accessOf(k.list))
}

// placeOf is where the entry of a tag lies, and its size.
func (u *Unit) placeOf(tag uint64) (pa model.PA, bytes uint32) {
	if tag >= listTags {
		return u.layout.Address(2 * (tag - listTags)), key.IndirectBytes
	}
	return u.config.Place.MPT + model.PA(tag*key.EntryBytes), key.EntryBytes
}

// finishKey fills the MPT cache and lets the waiting requests go on. An entry
// that was changed meanwhile is read again; who waits for one that could not be
// read fails.
func (u *Unit) finishKey(now clocked.Time, n int, status msg.Status) {
	k := &u.keyMisses[n]
	if status != msg.StatusSuccess {
		u.Stats.TableErrors++
		k.busy = false
		u.fail(now, k.list, measure.CauseMPTMiss)
		return
	}
	if k.stale {
		u.Stats.MPT.Stales++
		u.readKey(now, n)
		return
	}
	if u.names(k) {
		u.mpt.fill(k.qp, k.tag, k.tag, nil, false)
	}
	u.serveKey(now, k)
}

// names tells whether what was read can be cached: a key that is registered, or
// an entry that is not null.
func (u *Unit) names(k *keyMiss) bool {
	if k.tag < listTags {
		return u.keys.Lookup(key.Make(uint32(k.tag), 0)) != nil
	}
	m := &u.slots[k.list.head].req
	root := u.keys.Lookup(key.Key(m.Key))
	return root != nil && root.Entry(m.VA) != 0
}

func (u *Unit) serveKey(now clocked.Time, k *keyMiss) {
	k.busy = false
	list, tag := k.list, k.tag // another miss may begin here
	for list.head != none {
		i := u.dequeue(&list)
		m := &u.slots[i].req
		m.Ledger.Charge(now, measure.CauseMPTMiss)
		u.served(&u.slots[i], tag)
		u.protect(now, i, m)
	}
}
