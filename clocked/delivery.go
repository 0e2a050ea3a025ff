package clocked

import "github.com/sarchlab/akita/v3/sim"

// Handle delivers what is due.
func (c *Connection) Handle(ev sim.Event) error {
	due := ev.(*delivery)
	now, sec := due.at, due.Time()
	if now == c.armed { // else an earlier delivery took its place
		c.armed = Never
		for again := true; again; {
			again = false
			for d := range c.ends {
				again = c.serve(d, now, sec) || again
			}
		}
		c.armNext()
	}
	c.spare = append(c.spare, due) // last: hooks still look at its time
	return nil
}

// serve delivers everything due for one destination, one message a source in
// turn, and tells whether there was any: it may uncover messages for others.
func (c *Connection) serve(dst int, now Time, sec sim.VTimeInSec) (progress bool) {
	d := &c.ends[dst]
	for k := 0; k < len(c.ends) && !d.full && d.open <= now; k++ {
		s := d.next + k
		if s >= len(c.ends) {
			s -= len(c.ends)
		}
		if h := c.ends[s].first(); h == nil || h.dst != dst || h.at > now {
			continue
		}
		if !c.deliver(&c.ends[s], d, sec) {
			break
		}
		progress = true
		d.next = s + 1
		if d.next == len(c.ends) {
			d.next = 0
		}
		k = -1
	}
	return progress
}

func (c *Connection) deliver(s, d *connEnd, sec sim.VTimeInSec) bool {
	msg := s.first().msg
	msg.Meta().RecvTime = sec
	if d.port.Recv(msg) != nil {
		d.full = true
		return false
	}
	s.slots[s.head].msg = nil
	s.head = (s.head + 1) % len(s.slots)
	s.count--
	c.invoke(sim.HookPosConnDeliver, msg)
	if s.starved {
		s.starved = false
		s.port.NotifyAvailable(sec)
	}
	return true
}

func (e *connEnd) first() *transit {
	if e.count == 0 {
		return nil
	}
	return &e.slots[e.head]
}

func (c *Connection) armNext() {
	for i := range c.ends {
		if h := c.ends[i].first(); h != nil && !c.ends[h.dst].full {
			c.arm(max(h.at, c.ends[h.dst].open))
		}
	}
}
