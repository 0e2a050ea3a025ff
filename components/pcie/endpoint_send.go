package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// transmit sends the next TLP if the link is free and one may go.
func (u *Endpoint) transmit(now clocked.Time) bool {
	c, ok := u.tx.grant(now)
	switch {
	case !ok:
		return false
	case c.class == msg.Posted:
		u.sendWrite(now, c)
	case c.class == msg.Completion:
		u.sendCompletion(now, &u.tx, c)
	default:
		u.sendRead(now, c)
	}
	return true
}

// sendWrite sends the next MWr of a write, or its message. Body goes with the
// last one, so that it arrives once; the ledger stays here.
func (u *Endpoint) sendWrite(now clocked.Time, c choice) {
	o := u.tx.chosen(c)
	i, n := o.place, o.bytes
	w := &u.writes.at[i]
	d := &w.dma
	p := u.tx.place(c.class)
	*p = packet{TLP: msg.TLP{Type: msg.Posted, Kind: d.Kind, Payload: n > 0, Len: n, Relaxed: o.packet.Relaxed,
		PA: d.PA + model.PA(w.offset), Cookie: d.Cookie, Counts: d.Counts, Oracle: d.Oracle.From(w.offset), Address: d.Address}}
	if w.offset+n >= d.Len {
		p.Last, p.Body, p.written = true, d.Body, d.Len
	}
	end := u.tx.launch(now, c, p)
	count(d.Counts, p.bytes)
	w.offset += n
	if w.offset < d.Len {
		u.part(o, d, w.offset)
		return
	}
	if d.Ledger != nil {
		u.tx.charge(now, d.Ledger, &u.since[msg.Posted][i])
		d.Ledger.Charge(end, measure.CauseDMAQueue)
	}
	if d.Notify {
		u.tell(now, w.client, end+u.clock.Period(), msg.DMADone{Kind: d.Kind, Write: true, Cookie: d.Cookie})
	}
	u.tx.done(c)
	u.writes.give(i)
}

// sendRead sends the next MRd of a read with a tag and completion space of its
// own. Body and ledger go with the last one.
func (u *Endpoint) sendRead(now clocked.Time, c choice) {
	o := u.tx.chosen(c)
	i, n := o.place, o.bytes
	r := &u.reads.at[i]
	d := &r.dma
	id, t := u.tags.take()
	*t = tag{read: i, busy: true, left: n}
	u.tx.tags--
	u.tx.space -= n

	p := u.tx.place(c.class)
	*p = packet{TLP: msg.TLP{Type: msg.NonPosted, Kind: d.Kind, Tag: u.first + uint16(id), Len: n, Relaxed: o.packet.Relaxed,
		PA: d.PA + model.PA(r.offset), Cookie: d.Cookie, Counts: d.Counts, Oracle: d.Oracle.From(r.offset), Address: d.Address}}
	if r.offset+n >= d.Len {
		p.Last, p.Body, p.Ledger = true, d.Body, d.Ledger
	}
	u.tx.launch(now, c, p)
	count(d.Counts, p.bytes)
	u.watch(now, t)
	r.offset += n
	r.tags++
	if r.offset < d.Len {
		u.part(o, d, r.offset)
		return
	}
	if d.Ledger != nil {
		u.tx.charge(now, d.Ledger, &u.since[msg.NonPosted][i])
	}
	u.asking--
	u.tx.done(c)
}
