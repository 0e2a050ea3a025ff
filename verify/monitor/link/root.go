package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// root is a root port.
type root struct {
	up, down *direction
	net      *network
	source   source
}

// combined is the most that a doorbell's TLP carries, in bytes.
const combined = 64

// ring is an MMIO write of software, or a message, that the root port takes.
func (u *root) ring(now clocked.Time, m *msg.Doorbell) {
	switch {
	case m.Disable:
		if e := u.net.endpoint(m.Adapter); e != nil {
			e.disabled = true
		}
		return
	case now >= u.down.down:
		return
	}
	a := asked{kind: msg.KindDoorbell, len: m.Len, limit: combined, body: m.Body, cookie: m.Cookie, ready: now, rule: rules.Packet{Sender: host}}
	if m.Message {
		a.kind, a.rule.Requester = msg.KindMessage, m.Adapter
		a.len = 0
		switch b := m.Body.(type) {
		case *msg.Invalidate:
			a.len, a.rule.PASID = 8, b.PASID
		case *msg.PageResponse:
			a.rule.PASID = b.PASID
		}
	} else {
		a.pa = pcie.Window(m.Adapter, m.Client)
	}
	u.source.add(msg.Posted, a)
}

// answer is an answer of memory, or of the IOMMU, that the root port takes.
func (u *root) answer(now clocked.Time, m *msg.MemDone) {
	if now >= u.down.down {
		return
	}
	u.source.add(msg.Completion, asked{kind: m.Kind, status: m.Status, pa: m.PA, len: m.Len, limit: uint32(u.down.spec.MPS), ready: now,
		rule: rules.Packet{Sender: host, Requester: m.Adapter, Tag: m.Tag, Relaxed: m.Relaxed}})
}

// rung tells whether a posted TLP is the next part of an MMIO write or message.
func rung(a *asked, p *pcie.Shown) bool {
	if a.kind != p.Kind || p.Len > min(combined, a.len-a.offset) {
		return false
	}
	if p.Kind == msg.KindMessage {
		return a.rule.Requester == p.To && a.body == p.Body && a.cookie == p.Cookie
	}
	return a.pa+model.PA(a.offset) == p.PA
}

func (u *root) sent(now clocked.Time, d *direction, p *pcie.Shown) {
	same := rung
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
	d.attributes(now, p, a.rule.Relaxed, false, host, a.rule.PASID)
	u.source.leave(now, d, a, p, whole)
}

func (u *root) accepted(clocked.Time, *direction, *pcie.Shown) {}

// drained notes what the root port refuses: requests of disabled adapters, which
// nobody answers, and those for an adapter's window.
func (u *root) drained(now clocked.Time, d *direction, p *pcie.Shown) {
	d.release(now, p.Type, need(p))
	if p.Type != msg.NonPosted {
		return
	}
	e := u.net.endpoint(p.Rule.Sender)
	if e != nil && e.disabled {
		e.requests.drop(p.Tag)
		return
	}
	if _, ok := windowOf(p.PA); ok {
		u.source.add(msg.Completion, reply(now, p, host, msg.StatusUnsupported, d.spec))
	}
}

func (u *root) waiting(d *direction) (since clocked.Time, what msg.TLPType, ok bool) {
	a, class := u.source.waiting(d, 0)
	if a == nil {
		return 0, 0, false
	}
	return a.ready, class, true
}

func (u *root) mayAsk(*direction, *asked) bool { return true }

func (u *root) finish(now clocked.Time) { u.down.unsent(now, &u.source) }
