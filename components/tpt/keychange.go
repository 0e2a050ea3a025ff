package tpt

import (
	"errors"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

var (
	errNoChange = errors.New("no such change of the protection table")
	errOtherPD  = errors.New("the key belongs to another protection domain")
)

// changeKey executes a change of the protection table. One that takes a key
// away is acknowledged when nothing that was translated under it is still in
// use (KEY-3, FRW-1).
func (u *Unit) changeKey(now clocked.Time, c *msg.KeyChange) {
	if c.Op == msg.KeyEntry {
		u.changeEntry(now, c)
		return
	}
	var before pageRange
	old := u.keys.Lookup(c.Key)
	if old != nil {
		before = u.pagesOf(old)
		u.forgetList(old)
	}
	if err := u.changeTable(c); err != nil {
		u.refuse(now, err)
		return
	}
	u.Stats.KeyChanges++
	if c.Op == msg.KeyRegister || c.Op == msg.KeyFastRegister {
		before = u.pagesOf(u.keys.Lookup(c.Key))
	}
	u.forgetKey(c.Key, before)
	if c.Op == msg.KeyRegister || c.Op == msg.KeyFastRegister {
		u.complete(now)
		return
	}
	u.revokeKey(now, c.Key)
	u.drain(now)
}

// changeTable applies the change to the table; on error nothing has changed.
func (u *Unit) changeTable(c *msg.KeyChange) (err error) {
	switch c.Op {
	case msg.KeyRegister:
		if c.Key != 0 { // allotted by the kernel
			return u.keys.RegisterAs(c.Key, c.Region)
		}
		var k key.Key
		if k, err = u.keys.Register(c.Region); err == nil {
			c.Key = k
		}
		return err
	case msg.KeyDeregister:
		return u.keys.Deregister(c.Key)
	case msg.KeyFastRegister:
		r := &c.Region
		return u.keys.FastRegister(c.Key, r.PD, r.Rights, r.Base, r.Length)
	case msg.KeyInvalidate:
		return u.keys.Invalidate(c.Key)
	case msg.KeyBind:
		r := &c.Region
		return u.keys.Bind(c.Key, c.Under, r.PD, r.QP, r.Rights, r.Base, r.Length)
	}
	return errNoChange
}

// kill invalidates the key that a peer's SEND names, which must be of its own
// protection domain ([Linux] siw_mem.c).
func (u *Unit) kill(now clocked.Time, m *msg.Translate) {
	k := key.Key(m.Key)
	u.Stats.Kills++
	r := u.keys.Lookup(k)
	if r != nil && r.PD != key.PD(m.PD) {
		u.refuse(now, errOtherPD)
		return
	}
	if err := u.keys.Invalidate(k); err != nil {
		u.refuse(now, err)
		return
	}
	u.forgetKey(k, u.pagesOf(r))
	u.revokeKey(now, k)
	u.drain(now)
}

// forgetKey writes the changed entry of the protection table, drops cached
// copies of it and of the region's translations, makes reads of both that are
// in flight read again, and has parked requests checked again.
func (u *Unit) forgetKey(k key.Key, r pageRange) {
	index := uint64(k.Index())
	u.forgetTags(index, index)
	u.forget(r)
	u.writeKey(index)
}

// forgetTags drops cached copies of what the MPT cache holds under the tags
// first … last, makes reads of it that are in flight read again, and has parked
// requests checked again.
func (u *Unit) forgetTags(first, last uint64) {
	u.epoch++
	for i := range u.keyMisses {
		if k := &u.keyMisses[i]; k.busy && k.tag >= first && k.tag <= last {
			k.stale = true
		}
	}
	if first == last {
		u.mpt.Invalidate(first)
		return
	}
	u.mpt.dropRange(first, last)
}

// forgetList drops the cached entries of an implicit region's list.
func (u *Unit) forgetList(r *key.Region) {
	if r.Kind == key.Implicit {
		u.forgetTags(listEntry(r, r.Base), listEntry(r, r.Base+model.VA(r.Length-1)))
	}
}

// writeKey stores the changed entry of a tag where the table lives.
func (u *Unit) writeKey(tag uint64) {
	if u.spec.Tables == "onboard" {
		return
	}
	pa, bytes := u.placeOf(tag)
	*u.dma.Push() = msg.DMA{Kind: msg.KindMPT, Write: true, PA: pa, Len: bytes, Oracle: msg.Oracle{Page: msg.NoPage}}
}
