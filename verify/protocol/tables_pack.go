package protocol

import (
	"math/bits"

	"rnicmmu/verify/protocol/explore"
)

// ruleBits is the width of the broken rule, which comes first in every key.
const ruleBits = 4

const countBits = 4 // of a queue or channel

// pack writes a state with its actors in an order.
func (t *Tables) pack(s *tableState, o *order) explore.Key {
	w := packer{order: o, frames: frames{keep: o == &identity}}
	w.put(uint8(s.broken), ruleBits)
	for p := range t.Pages {
		w.page(&s.pages[o.pages[p]], t.Nested)
	}
	for i := range t.Accesses {
		w.access(&s.accesses[o.accesses[i]])
	}
	for a := range t.Adapters {
		w.adapter(&s.adapters[o.adapters[a]], t)
	}
	return w.key
}

type packer struct {
	writer
	order *order
	frames
}

func (w *packer) frame(f uint8)   { w.put(w.rename(f), frameBits) }
func (w *packer) entries(e entry) { w.put(uint8(w.frames.entry(e)), frameBits+flagBits) }

func (w *packer) page(p *tablePage, nested bool) {
	w.put(p.state, 2)
	w.flag(p.kept)
	if nested {
		w.put(p.hold, 2)
		if p.hold == holdTelling {
			w.put(w.order.mask(p.holdAcks), maxAdapters)
		}
	}
	if p.state == pageAbsent {
		return
	}
	w.frame(p.frame)
	w.put(w.order.mask(p.mapped), maxAdapters)
	w.put(w.order.mask(p.writable), maxAdapters)
	w.flag(p.store)
	w.flag(p.dirty)
	if p.state == pageLeaving {
		w.put(p.why, 2)
		w.frame(p.target)
		w.put(w.order.mask(p.acks), maxAdapters)
		w.put(w.order.mask(p.told), maxAdapters)
	}
}

func (w *packer) access(x *access) {
	w.put(x.phase, 3)
	if x.phase == accessIdle {
		return
	}
	w.put(w.order.adapterAt[x.adapter], adapterBits)
	w.put(w.order.pageAt[x.page], pageBits)
	w.flag(x.write)
	switch {
	case x.phase >= accessGiven:
		w.frame(x.frame)
		w.flag(x.marked)
	case x.phase == accessFaulted:
		w.put(x.fault, 3)
		if x.fault == faultUpdate {
			w.frame(x.noted)
			w.flag(x.changed)
		}
	}
}

func (w *packer) adapter(d *tableAdapter, t *Tables) {
	for p := range t.Pages {
		q := w.order.pages[p]
		w.entries(d.entries[q])
		w.flag(d.cached[q] == d.entries[q])
		if d.cached[q] != d.entries[q] {
			w.entries(d.cached[q])
		}
		w.flag(d.walks[q].busy)
		if d.walks[q].busy {
			w.entries(d.walks[q].value)
			w.flag(d.walks[q].stale)
		}
		if t.Suspend {
			w.put(d.held[q], 2)
		}
	}
	w.flag(d.draining)
	w.put(d.queued, countBits)
	for i := range d.queued {
		w.command(&d.queue[i])
	}
	up := d.up
	up.settle(upClass, func(m message) uint8 { return w.order.accessAt[m.which] })
	w.put(up.n, countBits)
	for i := range up.n {
		m := up.list[i]
		w.put(m.what, 2)
		w.put(w.which(m.what >= upAck, m.which), accessBits)
	}
}

func (w *packer) which(page bool, n uint8) uint8 {
	if page {
		return w.order.pageAt[n]
	}
	return w.order.accessAt[n]
}

func (w *packer) command(c *command) {
	w.put(c.op, 4)
	w.put(w.which(c.op != cmdResume, c.which), accessBits)
	if c.op == cmdFill {
		w.put(w.order.accessAt[c.token], accessBits)
	}
	if c.op <= cmdRefill {
		w.frame(c.frame)
		w.flag(c.write)
	}
}

// Canonical is the state that stands for all that are alike.
func (t *Tables) Canonical(k explore.Key) explore.Key {
	s := t.unpack(k)
	return t.canon(&s)
}

// canon tries the orders of what looks alike, and takes the least key.
func (t *Tables) canon(s *tableState) (least explore.Key) {
	if t.plain {
		return t.pack(s, &identity)
	}
	var marks struct {
		adapters, pages, accesses [maxAccesses]uint32
	}
	for p := range t.Pages {
		marks.pages[p] = s.pages[p].mark()
	}
	for i := range t.Accesses {
		x := &s.accesses[i]
		marks.accesses[i] = x.mark()
		if x.phase != accessIdle {
			marks.pages[x.page] += 1 << 16 << x.phase
			marks.adapters[x.adapter] += 1 << 16 << x.phase
		}
	}
	for a := range t.Adapters {
		d := &s.adapters[a]
		marks.adapters[a] += uint32(d.queued)<<8 | uint32(d.up.n)<<4 | uint32(bits.OnesCount8(uint8(d.entries[0]&15))+bits.OnesCount8(uint8(d.entries[1]&15)))
	}
	first := true
	for _, pages := range permutations[t.Pages] {
		if !sorted(pages, marks.pages[:]) {
			continue
		}
		for _, adapters := range permutations[t.Adapters] {
			if !sorted(adapters, marks.adapters[:]) {
				continue
			}
			for _, accesses := range permutations[t.Accesses] {
				if !sorted(accesses, marks.accesses[:]) {
					continue
				}
				o := arrange(adapters, pages, accesses)
				if k := t.pack(s, &o); first || less(&k, &least) {
					least, first = k, false
				}
			}
		}
	}
	return least
}

func (p *tablePage) mark() uint32 {
	return uint32(p.state) | uint32(p.why)<<2 | uint32(p.hold)<<4 | when(p.kept)<<6 | when(p.dirty)<<7 | when(p.store)<<8 |
		uint32(bits.OnesCount8(p.mapped))<<9 | uint32(bits.OnesCount8(p.writable))<<11 | uint32(bits.OnesCount8(p.acks))<<13
}

func (x *access) mark() uint32 {
	return uint32(x.phase) | uint32(x.fault)<<3 | when(x.write)<<6 | when(x.changed)<<7 | when(x.marked)<<8
}

func when(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}

func less(a, b *explore.Key) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// arrange makes an order of permutations.
func arrange(adapters, pages, accesses []uint8) (o order) {
	for i, old := range adapters {
		o.adapters[i], o.adapterAt[old] = old, uint8(i)
	}
	for i, old := range pages {
		o.pages[i], o.pageAt[old] = old, uint8(i)
	}
	for i, old := range accesses {
		o.accesses[i], o.accessAt[old] = old, uint8(i)
	}
	return o
}
