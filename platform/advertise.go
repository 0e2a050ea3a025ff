package platform

import (
	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Policies of advertising more memory than is reserved.
const (
	advertiseWarn     = "warn"
	advertiseRefuse   = "refuse"
	advertiseThrottle = "throttle"
)

// AdvertiseSpec is the promise made to peers.
type AdvertiseSpec struct {
	Bytes     model.Bytes  `key:"bytes" default:"0B" min:"0B" max:"64TiB" zero:"all that the policy lets out" doc:"bytes of buffers that peers were told of; classes absent pages" source:"any"`
	Policy    string       `key:"policy" default:"allow" oneof:"allow,warn,refuse,throttle" doc:"buffers beyond the memory that backs them are advertised, advertised with a warning, never advertised, or advertised in turn, as many at a time as are backed" source:"any"`
	Buffer    model.Bytes  `key:"buffer" default:"64KiB" min:"4KiB" max:"1GiB" pow2:"true" doc:"refuse, throttle: bytes of one advertised buffer" source:"assumption: a large message"`
	GrantTime clocked.Time `key:"grant_time" default:"10us" min:"0ns" max:"1s" doc:"refuse, throttle: until a peer that asks for a buffer has the host's word: that it may not, or, from when the host can back the buffer, that it may, withdrawing another included" source:"assumption: two messages between the hosts' software"`
}

// advertiser is the host's software that tells peers which buffers they may
// use. Peers that wait are served in order.
type advertiser struct {
	spec    AdvertiseSpec
	space   *Space
	first   []int32 // by region: number of its first buffer
	buffers []buffer
	limit   int      // buffers that the reserve backs
	granted int      // buffers advertised
	nodes   lruNodes // by buffer
	idle    lruList  // advertised buffers without users
	waiting clocked.FIFO[*passport]
	coming  clocked.FIFO[grant]
}

// buffer is a part of a region that is advertised as one.
type buffer struct {
	granted bool
	users   int32 // accesses that were let through and are not complete
}

// grant is an access on whose buffers the host's word is under way.
type grant struct {
	at clocked.Time
	p  *passport
}

// newAdvertiser divides the regions into buffers. It is nil where the policy
// lets every buffer out. reserved is in bytes.
func newAdvertiser(spec AdvertiseSpec, space *Space, reserved uint64) *advertiser {
	if spec.Policy != advertiseRefuse && spec.Policy != advertiseThrottle {
		return nil
	}
	a := &advertiser{spec: spec, space: space, idle: emptyList}
	n := int32(0)
	for i := range space.Regions {
		a.first = append(a.first, n)
		n += int32((space.Regions[i].Len + uint64(spec.Buffer) - 1) / uint64(spec.Buffer))
	}
	a.buffers, a.nodes = make([]buffer, n), make(lruNodes, n)
	a.limit = int(min(reserved/uint64(spec.Buffer), uint64(n)))
	if spec.Policy == advertiseRefuse {
		for i := range a.limit {
			a.buffers[i].granted = true
		}
		a.granted = a.limit
	}
	return a
}

// refused is the number of buffers that are never advertised.
func (a *advertiser) refused() uint64 {
	if a.spec.Policy == advertiseRefuse {
		return uint64(len(a.buffers) - a.limit)
	}
	return 0
}

// bytes is the most that is advertised at a time.
func (a *advertiser) bytes() uint64 { return uint64(a.limit) * uint64(a.spec.Buffer) }

// ask tells whether a peer may use the buffers that an access falls in without
// asking the host. One that must ask comes back from due: with buffers that it
// uses, or without and refused.
func (a *advertiser) ask(now clocked.Time, p *passport) bool {
	first, count := a.span(p)
	missing := a.missing(first, count)
	switch {
	case count == 0, a.spec.Policy == advertiseRefuse && missing == 0:
		return true
	case a.spec.Policy == advertiseRefuse || int(count) > a.limit:
		*a.coming.Push() = grant{now + a.spec.GrantTime, p}
		return false
	case a.waiting.Len() == 0 && missing == 0:
		a.use(p, first, count)
		return true
	}
	*a.waiting.Push() = p
	return false
}

// span is the run of buffers that an access falls in; none where the access
// names no registered memory.
func (a *advertiser) span(p *passport) (first, count int32) {
	if p.region == nobody || p.wqe.Len == 0 {
		return 0, 0
	}
	from := uint64(p.wqe.VA - a.space.Regions[p.region].Placed)
	to := from + uint64(p.wqe.Len) - 1
	each := uint64(a.spec.Buffer)
	return a.first[p.region] + int32(from/each), int32(to/each - from/each + 1)
}

// missing counts the buffers of a run that are not advertised.
func (a *advertiser) missing(first, count int32) (n int) {
	for i := first; i < first+count; i++ {
		if !a.buffers[i].granted {
			n++
		}
	}
	return n
}

// use advertises a run of buffers and notes an access as user of each.
func (a *advertiser) use(p *passport, first, count int32) {
	p.buffers = true
	for i := first; i < first+count; i++ {
		b := &a.buffers[i]
		if b.granted && b.users == 0 {
			a.idle.remove(a.nodes, i)
		}
		if !b.granted {
			b.granted = true
			a.granted++
		}
		b.users++
	}
}

// serve grants the buffers of the accesses that have waited longest, as far as
// idle ones can be withdrawn for them.
func (a *advertiser) serve(now clocked.Time) {
	for a.waiting.Len() > 0 {
		p := *a.waiting.Front()
		first, count := a.span(p)
		need := a.granted + a.missing(first, count) - a.limit
		if !a.withdrawable(first, count, need) {
			return
		}
		for i := a.idle.oldest; need > 0; need-- {
			for i >= first && i < first+count {
				i = a.nodes[i].next
			}
			next := a.nodes[i].next
			a.idle.remove(a.nodes, i)
			a.buffers[i].granted = false
			a.granted--
			i = next
		}
		a.use(p, first, count)
		a.waiting.Pop()
		*a.coming.Push() = grant{now + a.spec.GrantTime, p}
	}
}

// withdrawable tells whether so many idle buffers outside a run exist.
func (a *advertiser) withdrawable(first, count int32, need int) bool {
	for i := a.idle.oldest; i != nobody && need > 0; i = a.nodes[i].next {
		if i < first || i >= first+count {
			need--
		}
	}
	return need <= 0
}

// due is the next access whose peer has the host's word at now, or nil.
func (a *advertiser) due(now clocked.Time) *passport {
	if a.coming.Len() == 0 || a.coming.Front().at > now {
		return nil
	}
	return a.coming.Pop().p
}

// next is when the next word arrives.
func (a *advertiser) next() clocked.Time {
	if a.coming.Len() == 0 {
		return clocked.Never
	}
	return a.coming.Front().at
}

// done ends an access's use of its buffers.
func (a *advertiser) done(p *passport) {
	first, count := a.span(p)
	for i := first; i < first+count; i++ {
		if a.buffers[i].users--; a.buffers[i].users == 0 {
			a.idle.push(a.nodes, i)
		}
	}
}
