package platform

import (
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// quarantine is how many other passports must come free before one is used
// again: what outlives an access (a posted write after its ACK, a duplicate
// packet) may still add to its counters and must not add to another's.
const quarantine = 4096

// passport is one access in flight and the work request that posts it.
type passport struct {
	access  measure.Access
	wqe     msg.WQE
	bell    uint32 // bytes of its doorbell
	region  int32  // that it falls in, or nobody
	buffers bool   // it holds buffers of the advertiser

	registration int32 // that it uses, of the registrar's; nobody: none
}

// passports recycles passports, the longest free first.
type passports struct {
	all  []*passport
	free []uint32 // ring
	head int
	n    int
}

func (p *passports) get() *passport {
	if p.n <= quarantine {
		return p.grow()
	}
	slot := p.free[p.head]
	p.head = (p.head + 1) % len(p.free)
	p.n--
	x := p.all[slot]
	*x = passport{access: measure.Access{Slot: slot}}
	return x
}

func (p *passports) grow() *passport {
	x := &passport{access: measure.Access{Slot: uint32(len(p.all))}}
	p.all = append(p.all, x)
	return x
}

// of is the passport of an access in flight.
func (p *passports) of(a *measure.Access) *passport { return p.all[a.Slot] }

func (p *passports) put(a *measure.Access) {
	if p.n == len(p.free) {
		grown := make([]uint32, max(2*quarantine, 2*len(p.free)))
		for i := range p.n {
			grown[i] = p.free[(p.head+i)%len(p.free)]
		}
		p.free, p.head = grown, 0
	}
	p.free[(p.head+p.n)%len(p.free)] = a.Slot
	p.n++
}
