package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// via is how far a request has got on its way through an implicit region.
type via struct {
	root  uint32  // index of the region's key; 0: the request names memory of its own
	read  bool    // the list's entry is looked up
	child key.Key // whose protection entry is looked up
}

// listTags is where the tags of implicit regions' lists begin in the MPT cache,
// behind those of the keys. A list lies among the translation entries, from the
// region's MTT on, each of its entries in the place of two.
const listTags = key.MaxRegions

// listEntry is the tag of the entry of an implicit region's list for an address.
func listEntry(root *key.Region, va model.VA) uint64 {
	return listTags + root.MTT/2 + key.ChildIndex(va) - key.ChildIndex(root.Base)
}

// noEntry is the translation entry of an address without a child.
const noEntry = ^uint64(0)

// leads tells whether the unit can translate by a key of the kind.
func (u *Unit) leads(r *key.Region) bool {
	return r.Kind.Direct() || r.Kind == key.Implicit && u.config.Mode == Table
}

// descend finds the child behind the key of an implicit region: the list's entry
// is looked up, then the child that it names. It returns nil where the request
// waits or was answered; a null entry is as an absent page, and counts as a walk
// that found one. What was looked up before rights were taken away is looked up
// again.
func (u *Unit) descend(now clocked.Time, i int32, m *msg.Translate, root *key.Region) *key.Region {
	s := &u.slots[i]
	v := &s.via
	if v.root == 0 || s.epoch != u.epoch {
		*v = via{root: root.Key.Index()}
		s.epoch = u.epoch
	}
	v.read = v.read || u.found(now, i, m, listEntry(root, m.VA))
	if !v.read {
		return nil
	}
	child := root.Entry(m.VA)
	switch {
	case child == 0:
		s.entry, s.key = noEntry, v.root
		u.countMiss(s, false)
		u.Stats.Walked.Begun++
		u.Stats.Walked.Absent++
		u.absent(now, i, m, msg.OutcomeAbsent)
		return nil
	case v.child != child && !u.found(now, i, m, uint64(child.Index())):
		return nil
	}
	v.child = child
	r := u.keys.Lookup(child)
	if why := key.Check(r, child, key.PD(m.PD), m.QP, m.Op, m.VA, uint64(m.Len)); why != key.OK {
		u.deny(now, i, m, why)
		return nil
	}
	return r
}

// found looks up what an implicit region leads to; on a miss the request waits,
// in turn if there is no register.
func (u *Unit) found(now clocked.Time, i int32, m *msg.Translate, tag uint64) bool {
	if _, hit := u.mpt.Peek(tag, tag); !hit && u.keyMiss(tag) == nil && u.freeKeyMiss() < 0 {
		u.park(now, i, m)
		u.enqueue(&u.keyless, i)
		return false
	}
	if u.mptHit(m, tag) {
		return true
	}
	u.park(now, i, m)
	u.parkOnKey(now, i, tag, !m.Replay, m.Access)
	return false
}

// retryKeyless goes on with requests that found no register for a key.
func (u *Unit) retryKeyless(now clocked.Time) {
	for u.keyless.head != none && u.freeKeyMiss() >= 0 {
		i := u.dequeue(&u.keyless)
		m := &u.slots[i].req
		m.Ledger.Charge(now, measure.CauseMSHR)
		u.protect(now, i, m)
	}
}

// served notes what a request behind an implicit region has waited for.
func (u *Unit) served(s *slot, tag uint64) {
	switch v := &s.via; {
	case v.root == 0:
	case tag >= listTags:
		v.read = true
	default:
		if r := u.keys.Lookup(key.Make(uint32(tag), 0)); r != nil {
			v.child = r.Key
		}
	}
}

// park keeps a request until what it waits for is there.
func (u *Unit) park(now clocked.Time, i int32, m *msg.Translate) {
	if s := &u.slots[i]; s.phase != slotParked {
		s.req, s.phase = *m, slotParked
		m.Ledger.Charge(now, measure.CauseTranslate)
	}
}

// changeEntry executes a change of an implicit region's list. What was
// translated through a child that it names no more is drained with the child.
func (u *Unit) changeEntry(now clocked.Time, c *msg.KeyChange) {
	if err := u.keys.SetEntry(c.Key, c.Region.Base, c.Under); err != nil {
		u.refuse(now, err)
		return
	}
	u.Stats.KeyChanges++
	tag := listEntry(u.keys.Lookup(c.Key), c.Region.Base)
	u.forgetTags(tag, tag)
	u.writeKey(tag)
	u.complete(now)
}
