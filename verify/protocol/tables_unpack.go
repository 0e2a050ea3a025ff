package protocol

import "rnicmmu/verify/protocol/explore"

// unpack reads what pack has written.
func (t *Tables) unpack(k explore.Key) (s tableState) {
	r := reader{key: k}
	s.broken = rule(r.get(ruleBits))
	for p := range t.Pages {
		r.page(&s.pages[p], t.Nested)
	}
	for i := range t.Accesses {
		r.access(&s.accesses[i])
	}
	for a := range t.Adapters {
		r.adapter(&s.adapters[a], t)
	}
	return s
}

func (r *reader) entry() entry { return entry(r.get(frameBits + flagBits)) }

func (r *reader) page(p *tablePage, nested bool) {
	p.state = r.get(2)
	p.kept = r.flag()
	if nested {
		if p.hold = r.get(2); p.hold == holdTelling {
			p.holdAcks = r.get(maxAdapters)
		}
	}
	if p.state == pageAbsent {
		return
	}
	p.frame = r.get(frameBits)
	p.mapped = r.get(maxAdapters)
	p.writable = r.get(maxAdapters)
	p.store = r.flag()
	p.dirty = r.flag()
	if p.state == pageLeaving {
		p.why = r.get(2)
		p.target = r.get(frameBits)
		p.acks = r.get(maxAdapters)
		p.told = r.get(maxAdapters)
	}
}

func (r *reader) access(x *access) {
	if x.phase = r.get(3); x.phase == accessIdle {
		return
	}
	x.adapter = r.get(adapterBits)
	x.page = r.get(pageBits)
	x.write = r.flag()
	switch {
	case x.phase >= accessGiven:
		x.frame = r.get(frameBits)
		x.marked = r.flag()
	case x.phase == accessFaulted:
		if x.fault = r.get(3); x.fault == faultUpdate {
			x.noted = r.get(frameBits)
			x.changed = r.flag()
		}
	}
}

func (r *reader) adapter(d *tableAdapter, t *Tables) {
	for p := range t.Pages {
		d.entries[p] = r.entry()
		if d.cached[p] = d.entries[p]; !r.flag() {
			d.cached[p] = r.entry()
		}
		if d.walks[p].busy = r.flag(); d.walks[p].busy {
			d.walks[p].value = r.entry()
			d.walks[p].stale = r.flag()
		}
		if t.Suspend {
			d.held[p] = r.get(2)
		}
	}
	d.draining = r.flag()
	d.queued = r.get(countBits)
	for i := range d.queued {
		r.command(&d.queue[i])
	}
	d.up.n = r.get(countBits)
	for i := range d.up.n {
		m := &d.up.list[i]
		m.what = r.get(2)
		m.which = r.get(accessBits)
	}
}

func (r *reader) command(c *command) {
	c.op = r.get(4)
	c.which = r.get(accessBits)
	if c.op == cmdFill {
		c.token = r.get(accessBits)
	}
	if c.op <= cmdRefill {
		c.frame = r.get(frameBits)
		c.write = r.flag()
	}
}
