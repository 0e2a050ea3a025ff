package kernel

import (
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// encode makes the command that fills a region's entries of a run of resident
// pages under the same regions, which count as mapped from now on under the
// region's bit.
func (k *Kernel) encode(c *msg.Command, r *Region, bit uint16, first, count uint32, write bool) {
	k.begin(c, r, first, write)
	for p := first; p < first+count; p++ {
		k.add(c, r, bit, p, write)
	}
	c.Count = uint32(len(c.PA))
}

// begin makes an empty fill of a region's entries from those of a page on.
func (k *Kernel) begin(c *msg.Command, r *Region, first uint32, write bool) {
	c.Op, c.Adapter, c.Write = msg.CmdFill, uint16(r.Adapter), write
	c.Entry, _, _ = k.entriesOf(r, first)
}

// add adds the entries of the next page to a fill.
func (k *Kernel) add(c *msg.Command, r *Region, bit uint16, p uint32, write bool) {
	a, pg := &k.adapters[r.Adapter], &k.pages[p]
	_, n, skip := k.entriesOf(r, p)
	for e := range n {
		c.PA = append(c.PA, k.busAddress(a, p, pg.frame)+skip+model.PA(e)<<a.shift)
	}
	k.mapIn(r, bit, p)
	if write {
		pg.writable |= bit
	}
}
