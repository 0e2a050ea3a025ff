package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// implicitRoot is an implicit region over the whole address space.
func implicitRoot() *key.Region {
	return &key.Region{Key: key.Make(1, 0), PD: domain, Rights: allRights, Kind: key.Implicit, Length: 1 << 47, PageShift: model.Shift4K}
}

// implicitly is a host of one adapter with an implicit region.
func implicitly(s Spec, regions []Region) setting {
	return setting{spec: s, regions: regions, configs: []AdapterConfig{{Shift: model.Shift4K, Scheme: ODP, Root: implicitRoot()}}}
}

// inGiBs are regions of so many pages each, one a GiB from the first on.
func inGiBs(n, pages int) (list []Region) {
	for i := range n {
		list = append(list, Region{VA: model.VA(i+1)<<30 + 0x10000, Length: uint64(pages) * 4096, FirstPage: uint32(i * pages),
			FirstEntry: uint64(i)<<18 + 0x10, Writable: true})
	}
	return list
}

func implicitKeys(root *key.Region) *key.Table {
	if root == nil {
		return nil
	}
	table, err := key.NewTable(1 << 16)
	if err == nil {
		err = table.RegisterAs(root.Key, *root)
	}
	if err != nil {
		panic(err)
	}
	return table
}

// changeTable executes a key command on the table.
func (n *nic) changeTable(c *msg.KeyChange) error {
	switch c.Op {
	case msg.KeyRegister:
		return n.keys.RegisterAs(c.Key, c.Region)
	case msg.KeyDeregister:
		return n.keys.Deregister(c.Key)
	case msg.KeyBind:
		r := &c.Region
		return n.keys.Bind(c.Key, c.Under, r.PD, r.QP, r.Rights, r.Base, r.Length)
	case msg.KeyInvalidate:
		return n.keys.Invalidate(c.Key)
	case msg.KeyEntry:
		return n.keys.SetEntry(c.Key, c.Region.Base, c.Under)
	}
	return key.ErrKind
}

// leads tells whether an implicit region, if there is one, leads an access to
// its entry.
func (n *nic) leads(a *access) bool {
	if n.keys == nil {
		return true
	}
	p, v := n.keys.Resolve(implicitRoot().Key, domain, 0, model.OpWrite, a.va, 8)
	return v == key.OK && p.Region.MTT+p.Region.Page(a.va) == a.entry
}

// reach adds a QP that stores, from an instant on, to pages of a region.
func (w *world) reach(at clocked.Time, region int, pages ...uint32) *qp {
	q, r := &qp{}, &w.kernel.regions[region]
	for _, p := range pages {
		q.script = append(q.script, access{entry: r.FirstEntry + uint64(p), page: r.FirstPage + p, write: true, at: at, va: r.VA + model.VA(p)<<12})
	}
	w.nics[0].qps = append(w.nics[0].qps, q)
	return q
}

// keyOps are the key commands that adapters have executed: what, of which key,
// and of an entry the child.
func (w *world) keyOps() (ops []keyOp) {
	for _, e := range w.keys {
		ops = append(ops, keyOp{e.op, e.key, e.under})
	}
	return ops
}

type keyOp struct {
	op         msg.KeyOp
	key, under key.Key
}
