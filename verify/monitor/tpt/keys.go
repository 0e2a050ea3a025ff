package tpt

import (
	"rnicmmu/components/msg"
	"rnicmmu/components/tpt"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/verify/monitor/dense"
	"rnicmmu/verify/rule"
)

// region is an entry of the golden protection table.
type region struct {
	used, valid bool
	kind        key.Kind
	key, pd, qp uint32
	rights      key.Rights
	base        model.VA
	length      uint64
	mtt         uint64
	shift       model.PageShift
	suspends    int
	under       uint32   // key: of a bound window
	children    []uint32 // keys: of an implicit region
}

func regionOf(r *key.Region) region {
	return region{used: true, valid: r.State == key.Valid && !r.Kind.Window() || r.Kind.Window() && r.Length > 0, kind: r.Kind,
		key: uint32(r.Key), pd: uint32(r.PD), qp: r.QP, rights: r.Rights, base: r.Base, length: r.Length, mtt: r.MTT, shift: r.PageShift}
}

// rights that operations need of their target ([IBA] by way of [Linux] rxe_resp.c).
var needs = [model.NumOps]key.Rights{model.OpWrite: key.RemoteWrite, model.OpRead: key.RemoteRead, model.OpSend: key.LocalWrite,
	model.OpCompareSwap: key.RemoteAtomic, model.OpFetchAdd: key.RemoteAtomic}

// lookup is the region at the index of a key, or nil.
func (m *Monitor) lookup(k uint32) *region {
	if i := int(k >> 8); i < len(m.keys) && m.keys[i].used {
		return &m.keys[i]
	}
	return nil
}

// judge tells which rule forbids an access by a key, or nil.
func (m *Monitor) judge(r *region, k, pd, qp uint32, op model.Op, va model.VA, n uint32) *rule.Rule {
	switch {
	case r == nil || r.key != k || !r.valid:
		return Dead
	case r.kind == key.Window2A || r.kind == key.Window2B:
		if r.qp != qp || r.kind == key.Window2B && r.pd != pd {
			return Domain
		}
	case r.pd != pd:
		return Domain
	}
	switch {
	case !r.rights.Has(needs[op]):
		return Permitted
	case va < r.base || uint64(va-r.base) > r.length || uint64(n) > r.length-uint64(va-r.base):
		return Bounded
	case m.suspended(r):
		return Open
	}
	return nil
}

func (m *Monitor) suspended(r *region) bool {
	if r.suspends > 0 {
		return true
	}
	u := m.lookup(r.under)
	return r.kind.Window() && u != nil && u.suspends > 0
}

// child is the region behind an implicit one for an address, or nil.
func (m *Monitor) child(r *region, va model.VA) *region {
	i := uint64(va)>>30 - uint64(r.base)>>30
	if i >= uint64(len(r.children)) || r.children[i] == 0 {
		return nil
	}
	return m.lookup(r.children[i])
}

// pages is the range of entries, or without a table of pages, behind a region.
func (m *Monitor) pages(r *region) (first, last uint64) {
	first = m.entryOf(r, r.base)
	if r.length == 0 {
		return first, first
	}
	return first, first + m.config.Shift.Number(r.base+model.VA(r.length-1)) - m.config.Shift.Number(r.base)
}

func (m *Monitor) entryOf(r *region, va model.VA) uint64 {
	if m.config.Mode != tpt.Table {
		return m.config.Shift.Number(va)
	}
	return r.mtt + m.config.Shift.Number(va) - m.config.Shift.Number(r.base)
}

// changeKey makes a completed change of the protection table.
func (m *Monitor) changeKey(c *msg.KeyChange) {
	r := dense.Slot(&m.keys, uint64(c.Key.Index()))
	n := &c.Region
	switch c.Op {
	case msg.KeyRegister:
		*r = regionOf(n)
		r.key, r.suspends = uint32(c.Key), 0
		if r.valid = !n.Kind.Window(); !r.valid {
			r.rights, r.base, r.length = 0, 0, 0
		}
	case msg.KeyDeregister:
		*r = region{}
	case msg.KeyFastRegister:
		r.key, r.rights, r.base, r.length, r.valid = uint32(c.Key), n.Rights, n.Base, n.Length, true
	case msg.KeyInvalidate:
		r.valid = false
	case msg.KeyBind:
		m.bind(r, c)
	case msg.KeyEntry:
		i := uint64(n.Base)>>30 - uint64(r.base)>>30
		*dense.Slot(&r.children, i) = uint32(c.Under)
	}
}

func (m *Monitor) bind(w *region, c *msg.KeyChange) {
	n, r := &c.Region, m.lookup(uint32(c.Under))
	*w = region{used: true, kind: w.kind, key: uint32(c.Key), pd: w.pd}
	if n.Length == 0 || r == nil {
		return
	}
	w.valid, w.rights, w.base, w.length, w.qp, w.under = true, n.Rights&(key.RemoteWrite|key.RemoteRead|key.RemoteAtomic), n.Base, n.Length, n.QP, uint32(c.Under)
	w.shift, w.mtt = r.shift, r.mtt+m.config.Shift.Number(n.Base)-m.config.Shift.Number(r.base)
}
