package protocol

import "rnicmmu/model/pcie"

// most is how much a queue or channel holds; more is a broken bound.
const most = 8

// message is on its way through a link. What is its kind, of which is what it is
// about: a page or an access.
type message struct{ what, which uint8 }

// channel is one direction of a link for one traffic class, oldest first.
type channel struct {
	n    uint8
	list [most]message
}

func (c *channel) push(m message) (fits bool) {
	if c.n == most {
		return false
	}
	c.list[c.n] = m
	c.n++
	return true
}

func (c *channel) first() (m message, ok bool) { return c.list[0], c.n > 0 }

func (c *channel) take(i uint8) message {
	m := c.list[i]
	copy(c.list[i:c.n-1], c.list[i+1:c.n])
	c.n--
	c.list[c.n] = message{}
	return m
}

// packet is what the ordering table sees of a message. Each is a transaction of
// its own, of one sender and without attributes.
func packet(class pcie.Class, which uint8) pcie.Packet {
	return pcie.Packet{Class: class, Tag: uint16(which)}
}

// mayArrive tells whether message i may arrive next: it may pass all before it.
func (c *channel) mayArrive(i uint8, class func(what uint8) pcie.Class) bool {
	later := packet(class(c.list[i].what), c.list[i].which)
	for j := range i {
		earlier := packet(class(c.list[j].what), c.list[j].which)
		if pcie.MayPass(&later, &earlier) == pcie.No {
			return false
		}
	}
	return true
}

// settle brings messages that may pass each other both ways into one order, by
// rank: no receiver can tell the difference.
func (c *channel) settle(class func(what uint8) pcie.Class, rank func(message) uint8) {
	for i := uint8(1); i < c.n; i++ {
		for j := i; j > 0; j-- {
			a, b := c.list[j-1], c.list[j]
			pa, pb := packet(class(a.what), a.which), packet(class(b.what), b.which)
			if rank(a) <= rank(b) || pcie.MayPass(&pb, &pa) == pcie.No || pcie.MayPass(&pa, &pb) == pcie.No {
				break
			}
			c.list[j-1], c.list[j] = b, a
		}
	}
}
