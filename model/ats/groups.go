package ats

// MaxGroups is the number of page request group (PRG) indexes, of 9 bits.
const MaxGroups = 512

// Groups are the page request groups of one adapter that wait for a response,
// and its credits. A group takes the credits of all its requests at once, so
// that two groups cannot each wait for the other's.
type Groups struct {
	credits    int // requests that may be sent
	next       uint16
	pending    int
	groups     [MaxGroups]group
	disabled   bool
	unexpected uint64
}

type group struct {
	owner, pasid uint32
	requests     int // 0: the index is free
}

// NewGroups is for an adapter that may have as many page requests outstanding
// as were allocated to it; whether [PCIe] counts requests or groups is recalled.
func NewGroups(allocation int) *Groups { return &Groups{credits: allocation} }

// Open takes an index and credits for a group of page requests, 1 or more, that
// are to be sent now, the last one with Last. ok is false while credits or
// indexes lack, and for ever after a ResponseFailure. Indexes go round, so that
// one is used again as late as can be.
func (g *Groups) Open(pasid, owner uint32, requests int) (index uint16, ok bool) {
	if g.disabled || requests < 1 || requests > g.credits || g.pending == MaxGroups {
		return 0, false
	}
	for g.groups[g.next].requests > 0 {
		g.next = (g.next + 1) % MaxGroups
	}
	index = g.next
	g.next = (g.next + 1) % MaxGroups
	g.groups[index] = group{owner: owner, pasid: pasid, requests: requests}
	g.credits -= requests
	g.pending++
	return index, true
}

// Close ends the group that a response names and gives its credits back; owner
// is who opened it. ok is false for a response to no pending group or to one of
// another PASID (0 fits all), which changes nothing but a count. A code other
// than ResponseSuccess and ResponseInvalid disables page requests, and every
// later response is unexpected ([riscv-iommu] iommu_ats.h): the caller has to
// Abandon what is still pending.
func (g *Groups) Close(r PageResponse) (owner uint32, ok bool) {
	x := &g.groups[r.Group%MaxGroups]
	if g.disabled || r.Group >= MaxGroups || x.requests == 0 || r.PASID != 0 && r.PASID != x.pasid {
		g.unexpected++
		return 0, false
	}
	g.disabled = r.Code.Fails()
	return g.free(x), true
}

func (g *Groups) free(x *group) (owner uint32) {
	g.credits += x.requests
	g.pending--
	x.requests = 0
	return x.owner
}

// Abandon gives up the pending group of the lowest index once page requests are
// disabled; ok is false when there is none.
func (g *Groups) Abandon() (owner uint32, ok bool) {
	if !g.disabled || g.pending == 0 {
		return 0, false
	}
	i := 0
	for g.groups[i].requests == 0 {
		i++
	}
	return g.free(&g.groups[i]), true
}

// Disabled tells whether a response has turned page requests off.
func (g *Groups) Disabled() bool { return g.disabled }

// Pending is the number of groups that wait for a response.
func (g *Groups) Pending() int { return g.pending }

// Credits is the number of page requests that may still be sent.
func (g *Groups) Credits() int { return g.credits }

// Unexpected counts responses to no pending group.
func (g *Groups) Unexpected() uint64 { return g.unexpected }
