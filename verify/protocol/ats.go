package protocol

import (
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/mtt"
	"rnicmmu/model/pcie"
)

// Phases of a fault under ATS.
const (
	groupWanted   uint8 = iota // waits for a credit
	groupSent                  // its page request is under way
	groupRing                  // the request is in the ring
	groupMap                   // the handler makes the page present
	groupAnswered              // its response is under way
)

// atsPage is a page as the kernel keeps it. Its entry in the page table is there
// while it is resident, and while it loses the right to store.
type atsPage struct {
	state, why    uint8
	frame, target uint8
	store         bool
	dirty         bool
	kept          bool
	fenced        bool  // the fence of its invalidation was reached
	waits         uint8 // ITags that the fence waits for
	timedOut      bool  // one of them was given up
}

// request is a translation request that accesses to a page wait for.
type request struct {
	busy, stale bool
	store       bool // with the right to store
	answered    bool // its completion is under way
	value       entry
}

// copied is a translation that the adapter keeps.
type copied struct {
	valid bool
	value entry
}

// States of an ITag.
const (
	tagFree uint8 = iota
	tagBusy
	tagQuarantined
)

// itag is an ITag: for which page it is, and the completions that have come.
type itag struct{ state, page, came uint8 }

// Commands to the IOMMU.
const (
	queueIOTLB uint8 = iota
	queueDevTLB
	queueFence
	queueRespond
)

// Messages of the adapter, and to it.
const (
	atsWrite       uint8 = iota // DMA of an access
	atsRead                     // DMA of an access
	atsTranslate                // translation request for a page
	atsPageRequest              // page request of an access
	atsComplete                 // Invalidate Completion, of ITag and page

	atsInvalidate // Invalidate Request, of ITag and page
	atsRespond    // page response, of an access
	atsTranslated // translation completion, of a page
)

func tagged(tag, page uint8) uint8           { return tag | page<<1 }
func untagged(which uint8) (tag, page uint8) { return which & 1, which >> 1 }

func atsClass(what uint8) pcie.Class {
	switch what {
	case atsRead, atsTranslate:
		return pcie.NonPosted
	case atsTranslated:
		return pcie.Completion
	}
	return pcie.Posted
}

const maxTCs = 2

// atsState is a state of the system.
type atsState struct {
	broken   rule
	dead     bool // the adapter was cut off
	pages    [maxPages]atsPage
	iotlb    [maxPages]entry
	tags     [2]itag
	queue    channel // commands to the IOMMU: in order
	ring     uint8   // places taken
	up       [maxTCs]channel
	down     channel
	copies   [maxPages]copied
	requests [maxPages]request
	invs     channel // Invalidate Requests that have arrived: in order
	draining bool
	credits  uint8 // taken
	accesses [maxAccesses]access
}

// ATS is the protocol of an adapter with a translation cache, the IOMMU and the
// kernel.
type ATS struct {
	Bounds
	plain, each bool
}

// lookup answers from the cache, or joins or makes a translation request. What was
// asked for without the right to store does not tell that a store is forbidden.
func (s *atsState) lookup(i uint8) {
	x := &s.accesses[i]
	if c := &s.copies[x.page]; c.valid && c.value.word().Allows(x.write) {
		s.resolve(i, c.value.word())
		return
	}
	x.phase = accessWalking
	if r := &s.requests[x.page]; !r.busy {
		s.ask(x.page, x.write)
	}
}

// ask sends a translation request.
func (s *atsState) ask(p uint8, store bool) {
	s.requests[p] = request{busy: true, store: store}
	s.send(0, message{atsTranslate, p})
}

func (s *atsState) send(tc int, m message) {
	if !s.up[tc].push(m) {
		s.broken = ruleBound
	}
}

func (s *atsState) tell(m message) {
	if !s.down.push(m) {
		s.broken = ruleBound
	}
}

// resolve goes on with what an access met.
func (s *atsState) resolve(i uint8, w mtt.Word) {
	x := &s.accesses[i]
	if w.Meets(x.write) == mtt.Granted {
		x.phase, x.frame = accessGiven, compress(w).frame()
		return
	}
	x.phase, x.fault = accessFaulted, groupWanted
}

// report sends the page request of a fault while credits are left.
func (t *ATS) report(s *atsState, i uint8) bool {
	x := &s.accesses[i]
	if x.phase != accessFaulted || x.fault != groupWanted || int(s.credits) >= t.Credits {
		return false
	}
	s.credits++
	x.fault = groupSent
	s.send(0, message{atsPageRequest, i})
	return true
}

// translated takes a translation completion: it is kept where it grants what was
// asked, unless an invalidation has overtaken it; then it is asked for again.
func (s *atsState) translated(p uint8) {
	r := &s.requests[p]
	if r.stale {
		s.ask(p, r.store)
		return
	}
	got := *r
	*r = request{}
	w := got.value.word()
	granted := ats.Translation{PA: w.PA(), Shift: model.Shift4K, Read: w.Allows(false), Write: w.Allows(true)}
	if granted.Cacheable() && granted.Allows(got.store) {
		s.copies[p] = copied{true, got.value}
	}
	for i := range s.accesses {
		x := &s.accesses[i]
		if x.phase != accessWalking || x.page != p {
			continue
		}
		if x.write && !got.store && w.Allows(false) && !w.Allows(true) {
			if !r.busy {
				s.ask(p, true) // the right to store was not asked for
			}
			continue
		}
		s.resolve(uint8(i), w)
	}
}

// invalidated executes the Invalidate Request at the front: the copy goes, a
// request under way is made void, translations given out are called back.
func (s *atsState) invalidated() bool {
	if s.invs.n == 0 || s.draining {
		return false
	}
	_, p := untagged(s.invs.list[0].which)
	s.copies[p] = copied{}
	if s.requests[p].busy {
		s.requests[p].stale = true
	}
	for i := range s.accesses {
		if x := &s.accesses[i]; (x.phase == accessGiven || x.phase == accessReading) && x.page == p {
			x.marked = true
		}
	}
	s.draining = true
	return true
}

// drained answers it when all that was called back has come back, in each traffic
// class behind the writes that used old translations.
func (t *ATS) drained(s *atsState) bool {
	if !s.draining {
		return false
	}
	for i := range s.accesses {
		if s.accesses[i].marked {
			return false
		}
	}
	m := s.invs.take(0)
	s.draining = false
	for tc := range t.Completions {
		s.send(tc, message{atsComplete, m.which})
	}
	return true
}

// issue sends the DMA of an access in its traffic class.
func (t *ATS) issue(s *atsState, i uint8) {
	x := &s.accesses[i]
	tc := int(i) % t.Completions
	if x.write {
		x.phase, x.marked = accessWriting, false
		s.send(tc, message{atsWrite, i})
	} else {
		x.phase = accessReading
		s.send(tc, message{atsRead, i})
	}
}

// giveBack returns a translation that was called back, unused.
func (s *atsState) giveBack(i uint8) bool {
	x := &s.accesses[i]
	if x.phase != accessGiven || !x.marked {
		return false
	}
	x.marked, x.frame = false, 0
	s.lookup(i)
	return true
}

// receive takes a message off the way to the adapter.
func (s *atsState) receive(n uint8) message {
	m := s.down.take(n)
	switch m.what {
	case atsTranslated:
		s.translated(m.which)
	case atsInvalidate:
		s.invs.push(m)
	case atsRespond:
		s.responded(m.which)
	}
	return m
}

// responded ends the group of an access: it asks for its translation anew.
func (s *atsState) responded(i uint8) {
	x := &s.accesses[i]
	if x.phase != accessFaulted || x.fault == groupWanted {
		s.broken = ruleStrayResponse
		return
	}
	s.credits--
	x.fault = 0
	s.lookup(i)
}
