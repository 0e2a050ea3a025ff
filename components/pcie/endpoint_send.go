package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// transmit sends the next TLP if the link is free and one may go.
func (u *Endpoint) transmit(now clocked.Time) bool {
	u.offer()
	class, ok := u.tx.grant(now)
	switch {
	case !ok:
		return false
	case class == msg.Posted:
		u.sendWrite(now)
	default:
		u.sendRead(now)
	}
	return true
}

// offer shows the transmitter the front of both queues.
func (u *Endpoint) offer() {
	if o := &u.tx.offers[msg.Posted]; !o.ready && u.writes.Len() > 0 {
		w := u.writes.Front()
		n := requestPiece(w.dma.PA+model.PA(w.offset), w.dma.Len-w.offset, u.mps)
		*o = offer{ready: true, payload: n, prefix: prefixOf(w.dma.Address.PASID), since: w.since}
	}
	if u.reads.Len() == 0 {
		return
	}
	r := &u.jobs[*u.reads.Front()]
	u.tx.offers[msg.NonPosted] = offer{ready: true, prefix: prefixOf(r.dma.Address.PASID), since: r.since}
	switch {
	case len(u.tagsFree) == 0:
		u.tx.hold = StallTag
	case u.space < u.readPiece(r):
		u.tx.hold = StallBuffer
	default:
		u.tx.hold = stallNone
	}
}

func (u *Endpoint) readPiece(r *read) uint32 {
	return requestPiece(r.dma.PA+model.PA(r.offset), r.dma.Len-r.offset, u.mrrs)
}

// sendWrite sends the next MWr of the oldest write, or its message. Body goes
// with the last one, so that it arrives once; the ledger stays here.
func (u *Endpoint) sendWrite(now clocked.Time) {
	w := u.writes.Front()
	d := &w.dma
	n := u.tx.offers[msg.Posted].payload
	p, bytes, end := u.tx.launch(now, msg.Posted, d.Kind)
	p.TLP = msg.TLP{Type: msg.Posted, Kind: d.Kind, Payload: n > 0, Len: n,
		PA: d.PA + model.PA(w.offset), Cookie: d.Cookie, Counts: d.Counts, Oracle: d.Oracle, Address: d.Address}
	count(d.Counts, bytes)
	w.offset += n
	if w.offset < d.Len {
		return
	}
	p.Last, p.Body = true, d.Body
	if d.Ledger != nil {
		d.Ledger.Charge(end, measure.CauseDMAQueue)
	}
	if d.Notify {
		u.answer(now, w.client, end+u.clock.Period(), msg.DMADone{Kind: d.Kind, Write: true, Cookie: d.Cookie})
	}
	u.writes.Pop()
}

// sendRead sends the next MRd of the oldest read with a tag and completion
// space of its own. Body and ledger go with the last one.
func (u *Endpoint) sendRead(now clocked.Time) {
	job := *u.reads.Front()
	r := &u.jobs[job]
	d := &r.dma
	n := u.readPiece(r)
	last := len(u.tagsFree) - 1
	id := u.tagsFree[last]
	u.tagsFree = u.tagsFree[:last]
	u.tags[id] = tag{job: job, busy: true, left: n}
	u.space -= n

	p, bytes, _ := u.tx.launch(now, msg.NonPosted, d.Kind)
	p.TLP = msg.TLP{Type: msg.NonPosted, Kind: d.Kind, Tag: id, Len: n,
		PA: d.PA + model.PA(r.offset), Cookie: d.Cookie, Counts: d.Counts, Oracle: d.Oracle, Address: d.Address}
	count(d.Counts, bytes)
	r.offset += n
	r.tags++
	if r.offset < d.Len {
		return
	}
	p.Last, p.Body, p.Ledger = true, d.Body, d.Ledger
	if d.Ledger != nil {
		d.Ledger.Charge(now, measure.CauseDMAQueue)
	}
	u.reads.Pop()
}
