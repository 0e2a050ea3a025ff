package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
	"rnicmmu/verify/rule"
)

// asked is a transfer that a unit has to send: a DMA, an answer, an MMIO write, a
// message, or in a switch a TLP.
type asked struct {
	number uint64 // in the order of acceptance
	done   bool
	kind   msg.Kind
	status msg.Status
	rule   rules.Packet
	addr   msg.Address
	pa     model.PA
	offset uint32
	len    uint32
	limit  uint32 // of its TLPs, in bytes
	cookie uint64
	body   any
	ready  clocked.Time // it cannot go before
	egress int          // of a switch
	last   bool         // a TLP of a switch: it is the last of its transfer
}

// source is what a unit has accepted and not sent, in order.
type source struct {
	classes [numClasses]clocked.FIFO[asked]
	count   uint64
}

func (s *source) add(class msg.TLPType, a asked) {
	s.count++
	a.number = s.count
	*s.classes[class].Push() = a
}

func (s *source) len() (n int) {
	for c := range s.classes {
		f := &s.classes[c]
		for i := f.Head(); i != f.Tail(); i++ {
			if !f.At(i).done {
				n++
			}
		}
	}
	return n
}

// find is the oldest transfer of which a TLP is the next part.
func (s *source) find(p *pcie.Shown, same func(*asked, *pcie.Shown) bool) *asked {
	f := &s.classes[p.Type]
	for n := f.Head(); n != f.Tail(); n++ {
		if a := f.At(n); !a.done && same(a, p) {
			return a
		}
	}
	return nil
}

// leave checks that what goes may pass all that was accepted before it, and takes
// so many bytes off the transfer.
func (s *source) leave(now clocked.Time, d *direction, a *asked, p *pcie.Shown, whole bool) {
	s.passes(now, d, a, p, msg.Posted, PassedPosted)
	if p.Type == msg.Completion {
		s.passes(now, d, a, p, msg.Completion, PassedOwn)
	}
	a.offset += p.Len
	if !whole {
		return
	}
	a.done = true
	f := &s.classes[p.Type]
	for f.Len() > 0 && f.Front().done {
		f.Pop()
	}
}

func (s *source) passes(now clocked.Time, d *direction, a *asked, p *pcie.Shown, column msg.TLPType, broken *rule.Rule) {
	f := &s.classes[column]
	for n := f.Head(); n != f.Tail(); n++ {
		e := f.At(n)
		if e.number >= a.number {
			return
		}
		if !e.done && e.egress == a.egress && !mayPass(p, &e.rule, column) {
			d.log.Report(broken, now, "%s: %s TLP %d (%v at %#x) goes before a %s one that was accepted before it (%v at %#x)",
				d.name, classNames[p.Type], p.Seq, p.Kind, uint64(p.PA), classNames[column], e.kind, uint64(e.pa)+uint64(e.offset))
			return
		}
	}
}

// waiting is the oldest TLP of a class that could go by a direction: nothing
// before it keeps it, it has credits, and the replay buffer has room.
func (s *source) waiting(d *direction, egress int) (a *asked, class msg.TLPType) {
	q, b := &d.sequence, &d.spec.ReplayBuffer
	if n := q.outstanding(); n > 0 && (n >= b.TLPs || q.held+int64(d.spec.MPS)+64 > int64(b.Bytes)) {
		return nil, 0
	}
	posted := s.oldest(msg.Posted, egress)
	for class := range msg.TLPType(numClasses) {
		a := s.oldest(class, egress)
		kept := a == nil || class != msg.Posted && posted != nil && posted.number < a.number && (class != msg.Completion || !a.rule.Relaxed)
		if !kept && d.affords(class, a) && (class != msg.NonPosted || d.writer.mayAsk(d, a)) {
			return a, class
		}
	}
	return nil, 0
}

func (s *source) oldest(class msg.TLPType, egress int) *asked {
	f := &s.classes[class]
	for n := f.Head(); n != f.Tail(); n++ {
		if a := f.At(n); !a.done && a.egress == egress {
			return a
		}
	}
	return nil
}

// affords tells whether the next TLP of a transfer has credits, whatever its size.
func (d *direction) affords(class msg.TLPType, a *asked) bool {
	h, c := &d.pools[2*class], &d.pools[2*class+1]
	n := words(a.pa+model.PA(a.offset), min(a.len-a.offset, a.limit))
	n = (min(n, uint64(d.spec.MPS)) + 15) / 16
	return (h.infinite || h.spent+1 <= h.heard) && (c.infinite || c.spent+n <= c.heard)
}
