package ats

// Part is a page request as the kernel keeps it.
type Part struct {
	PageRequest
	Ref uint32 // the kernel's own, of the request
}

// Collector gathers the page requests of all adapters into groups for the
// kernel. What has not come whole is kept until its last request comes or
// Discard is called.
type Collector struct {
	partial []part // in order of arrival
	group   []Part // as returned
}

type part struct {
	adapter uint16
	Part
}

// Add takes a request off the ring. It returns the group that the request is
// the last of, in order of arrival and valid until the next Add, else nil: only
// a group that is returned is to be answered, and once. A page that is asked
// for twice stands in it once, with the rights of both. What came of the group
// before its last request is all that it holds: parts may be lost where the
// ring overflowed, and the adapter asks again for what is still absent
// ([Linux] io-pgfault.c). A request for no right asks for nothing, and with
// Last it is a stop marker: neither is kept or answered.
func (c *Collector) Add(adapter uint16, p Part) (group []Part) {
	if !p.Read && !p.Write {
		return nil
	}
	if !p.Last {
		c.partial = append(c.partial, part{adapter, p})
		return nil
	}
	c.group = c.group[:0]
	kept := c.partial[:0]
	for i := range c.partial {
		q := &c.partial[i]
		if q.adapter == adapter && q.PASID == p.PASID && q.Group == p.Group {
			c.merge(q.Part)
		} else {
			kept = append(kept, *q)
		}
	}
	c.partial = kept
	c.merge(p)
	return c.group
}

// merge adds a request to the group, or its rights to the one for its page.
func (c *Collector) merge(p Part) {
	for i := range c.group {
		if q := &c.group[i]; q.VA == p.VA {
			q.Read, q.Write, q.Last = q.Read || p.Read, q.Write || p.Write, q.Last || p.Last
			return
		}
	}
	c.group = append(c.group, p)
}

// Discard drops what has not come whole, after an overflow of the ring, and
// returns how many requests that were.
func (c *Collector) Discard() int {
	n := len(c.partial)
	c.partial = c.partial[:0]
	return n
}

// Partial is the number of requests kept of groups that are not whole.
func (c *Collector) Partial() int { return len(c.partial) }
