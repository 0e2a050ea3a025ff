package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// endpoint is an adapter's end of its link.
type endpoint struct {
	id       uint16
	up, down *direction
	source   source
	requests requests
	disabled bool  // the host takes nothing from it any more
	unpaid   []int // by client: DMAs accepted that have to be answered and are not
}

// accept is a DMA that the endpoint takes of a client.
func (u *endpoint) accept(now clocked.Time, m *msg.DMA, client int) {
	if !m.Write || m.Notify {
		u.unpaid[client]++
	}
	if now >= u.up.down {
		return
	}
	a := asked{kind: m.Kind, addr: m.Address, pa: m.PA, len: m.Len, limit: uint32(u.up.spec.MPS), cookie: m.Cookie, ready: now,
		rule: rules.Packet{Sender: u.id, PASID: m.Address.PASID}}
	class := msg.NonPosted
	switch {
	case m.Kind == msg.KindMessage:
		class, a.len = msg.Posted, 0
	case m.Write:
		class = msg.Posted
	case m.Kind == msg.KindATS:
		a.pa &^= block - 1
	}
	u.source.add(class, a)
}

// answer is a DMADone that the endpoint gives a client.
func (u *endpoint) answer(now clocked.Time, m *msg.DMADone, client int) {
	u.unpaid[client]--
	if u.unpaid[client] < 0 {
		u.up.log.Report(Answered, now, "%s: client %d gets an answer (%v) that it has not asked for", u.up.name, client, m.Kind)
		u.unpaid[client] = 0
	}
}

// part tells whether a request is the next part of a DMA.
func part(a *asked, p *pcie.Shown) bool {
	return a.kind == p.Kind && a.pa+model.PA(a.offset) == p.PA && a.cookie == p.Cookie && a.addr == p.Address && p.Len <= a.len-a.offset
}

func (u *endpoint) sent(now clocked.Time, d *direction, p *pcie.Shown) {
	same := part
	if p.Type == msg.Completion {
		same = answered
	}
	a := u.source.find(p, same)
	if a == nil {
		d.stray(now, p)
		return
	}
	whole := a.offset+p.Len == a.len
	if p.Type == msg.Completion {
		whole = ends(a, p)
	}
	d.last(now, p, whole)
	u.attributes(now, d, p, a)
	if p.Type == msg.NonPosted {
		u.requests.ask(now, d, p)
	}
	u.source.leave(now, d, a, p, whole)
}

// attributes checks that only payload may pass what went before, and that a TLP
// says who sends it, for which process.
func (u *endpoint) attributes(now clocked.Time, d *direction, p *pcie.Shown, a *asked) {
	relaxed, ordered := false, false
	switch {
	case p.Type == msg.Completion:
		relaxed = a.rule.Relaxed
	case p.Kind == msg.KindData:
		relaxed, ordered = d.spec.Relaxed, d.spec.IDOrdered
	}
	d.attributes(now, p, relaxed, ordered, u.id, p.Address.PASID)
}

// attributes compares what the ordering table looks at with what is due.
func (d *direction) attributes(now clocked.Time, p *pcie.Shown, relaxed, ordered bool, sender uint16, pasid uint32) {
	r := &p.Rule
	told := p.Relaxed == r.Relaxed
	if r.Relaxed != relaxed || r.IDOrdered != ordered || r.Sender != sender || r.PASID != pasid || !told {
		d.log.Report(Attributes, now, "%s: %s TLP %d (%v) of %d, PASID %d, has RO %v, IDO %v; of %d, PASID %d, RO %v, IDO %v are due",
			d.name, classNames[p.Type], p.Seq, p.Kind, r.Sender, r.PASID, r.Relaxed, r.IDOrdered, sender, pasid, relaxed, ordered)
	}
}

// stray reports a TLP that nobody asked for.
func (d *direction) stray(now clocked.Time, p *pcie.Shown) {
	d.log.Report(Asked, now, "%s: %s TLP %d (%v, %d bytes at %#x, tag %d, %v) is no next part of anything that was asked for",
		d.name, classNames[p.Type], p.Seq, p.Kind, p.Len, uint64(p.PA), p.Tag, p.Status)
}

// last checks that the last TLP of a transfer says so, and no other.
func (d *direction) last(now clocked.Time, p *pcie.Shown, whole bool) {
	if p.Last != whole {
		d.log.Report(Asked, now, "%s: %s TLP %d (%v, %d bytes at %#x) is the last of its transfer: %v; it says %v",
			d.name, classNames[p.Type], p.Seq, p.Kind, p.Len, uint64(p.PA), whole, p.Last)
	}
}

func (u *endpoint) accepted(clocked.Time, *direction, *pcie.Shown) {}

// drained checks completions, and notes requests of others, which are answered at
// once.
func (u *endpoint) drained(now clocked.Time, d *direction, p *pcie.Shown) {
	d.release(now, p.Type, need(p))
	switch p.Type {
	case msg.Completion:
		rcb := uint64(128) // of what is no root complex
		if p.Rule.Sender == host {
			rcb = uint64(d.net.root.RCB)
		}
		u.requests.complete(now, d, p, u.id, rcb)
	case msg.NonPosted:
		status := msg.StatusUnsupported
		if adapter, ok := windowOf(p.PA); ok && adapter == u.id && p.Kind != msg.KindATS && uint64(p.PA)%(1<<40)>>32 < uint64(len(u.unpaid)) {
			status = msg.StatusSuccess
		}
		u.source.add(msg.Completion, reply(now, p, u.id, status, d.spec))
	}
}

// reply is an answer that a unit gives of itself.
func reply(now clocked.Time, p *pcie.Shown, completer uint16, status msg.Status, s *pcie.Spec) asked {
	return asked{kind: p.Kind, status: status, pa: p.PA, len: p.Len, limit: uint32(s.MPS), ready: now,
		rule: rules.Packet{Sender: completer, Requester: p.Rule.Sender, Tag: p.Tag, Relaxed: p.Relaxed}}
}

func (u *endpoint) waiting(d *direction) (since clocked.Time, what msg.TLPType, ok bool) {
	a, class := u.source.waiting(d, 0)
	if a == nil {
		return 0, 0, false
	}
	return max(a.ready, u.requests.freed), class, true
}

func (u *endpoint) mayAsk(d *direction, a *asked) bool {
	r := &u.requests
	return r.open < r.most && r.reserved+min(uint64(a.len-a.offset), uint64(d.spec.MRRS)) <= uint64(d.spec.CompletionBuffer)
}

// finish reports at rest what was left undone.
func (u *endpoint) finish(now clocked.Time) {
	u.up.unsent(now, &u.source)
	u.requests.finish(now, u.up)
	for i, n := range u.unpaid {
		if n > 0 {
			u.up.log.Report(Answered, now, "%s: %d DMAs of client %d have no answer", u.up.name, n, i)
		}
	}
}

// unsent reports what a unit has accepted and not sent.
func (d *direction) unsent(now clocked.Time, s *source) {
	if n := s.len(); n > 0 {
		d.log.Report(Left, now, "%s: %d transfers were accepted and not sent whole", d.name, n)
	}
}
