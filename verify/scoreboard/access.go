package scoreboard

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// access is what a request means, and what has been done for it.
type access struct {
	known     bool
	op        model.Op
	adapter   uint16
	len       uint32
	base      model.VA // of its first byte, where the host has it
	page      uint32   // of that; NoPage: the receiver chooses
	covered   cover    // bytes stored to memory, or read from it
	sent      cover    // bytes of a READ sent back
	stores    uint32
	poisoned  bool // some of its data were marked bad on their way
	completed bool
}

// accesses are those that are asked for and not yet both complete and whole, by
// number. One lives at its number modulo the length.
type accesses struct {
	ring  []access
	first uint64 // none below is there
	next  uint64 // none from here on was asked for
}

// number is the access that an identity of data names.
func number(write uint64) uint64 { return write>>24 - 1 }

// at is an access that lives, or nil.
func (s *accesses) at(id uint64) *access {
	if id < s.first || id >= s.next {
		return nil
	}
	if a := s.slot(id); a.known {
		return a
	}
	return nil
}

func (s *accesses) slot(id uint64) *access { return &s.ring[id%uint64(len(s.ring))] }

// open makes room up to an access.
func (s *accesses) open(id uint64) *access {
	for s.first < s.next && !s.slot(s.first).known {
		s.first++
	}
	if s.first == s.next && id >= s.next {
		s.first = id
	}
	if need := max(id+1, s.next) - min(s.first, id); need > uint64(len(s.ring)) {
		s.resize(2 * max(need, 32))
	}
	s.first, s.next = min(s.first, id), max(s.next, id+1)
	return s.slot(id)
}

func (s *accesses) resize(n uint64) {
	old := *s
	s.ring = make([]access, n)
	for id := old.first; id < old.next; id++ {
		*s.slot(id) = *old.slot(id)
	}
}

// asked: a request is on its way.
func (s *accesses) asked(p *msg.Packet, shift model.PageShift) {
	if p.Write>>24 == 0 || p.Access == nil || p.Response {
		return
	}
	id := number(p.Write)
	if id != p.Access.ID || s.at(id) != nil {
		return
	}
	a := s.open(id)
	covered, sent := a.covered.content[:0], a.sent.content[:0]
	*a = access{known: true, op: p.Op, adapter: p.Access.Adapter, len: p.Access.Len, base: p.VA - model.VA(p.Offset), page: p.Page,
		covered: cover{covered}, sent: cover{sent}}
	if p.Page != msg.NoPage { // of the packet's first byte
		a.page -= uint32(p.VA>>shift - a.base>>shift)
	}
}

// place is the page and the offset in it where byte x of an access belongs.
func (a *access) place(x uint32, shift model.PageShift) (page, offset uint32) {
	va := a.base + model.VA(x)
	return a.page + uint32(va>>shift-a.base>>shift), uint32(uint64(va) & (shift.Bytes() - 1))
}

// store: a request to store data has come to memory.
func (b *Scoreboard) store(now clocked.Time, m *msg.MemReq) {
	b.Stats.Stores++
	a := b.accesses.at(number(m.Oracle.Write))
	if a != nil {
		a.poisoned = a.poisoned || m.Poisoned
		a.covered.add(m.Oracle.Offset, m.Oracle.Offset+m.Len)
		a.stores++
		b.placed(now, a, m)
	}
	if m.Poisoned || !b.owns(now, m) {
		return
	}
	h := &b.host
	at := uint32(m.PA) & (blockBytes - 1)
	s := span{at: at, end: at + m.Len, from: m.Oracle.Offset, origin: m.Oracle.Write >> 24}
	h.shadow[uint64(m.PA)>>blockShift].store(s)
	offset := uint32(uint64(m.PA) & (h.shift.Bytes() - 1))
	page := m.Oracle.Page
	if a != nil && a.page != msg.NoPage {
		page, offset = a.place(m.Oracle.Offset, h.shift)
	}
	s.at = offset & (blockBytes - 1)
	s.end = s.at + m.Len
	h.page(page)[offset>>blockShift].store(s)
}

// placed judges where bytes of an access go to or come from.
func (b *Scoreboard) placed(now clocked.Time, a *access, m *msg.MemReq) {
	if a.page == msg.NoPage {
		return
	}
	page, offset := a.place(m.Oracle.Offset, b.host.shift)
	at := uint32(uint64(m.PA) & (b.host.shift.Bytes() - 1))
	if page != m.Oracle.Page || offset != at || m.Oracle.Offset+m.Len > a.len {
		b.log.Report(rulePlace, now, "access %d: bytes %d to %d of %d belong to page %d from byte %d on, not to page %d from byte %d on",
			number(m.Oracle.Write), m.Oracle.Offset, m.Oracle.Offset+m.Len, a.len, page, offset, m.Oracle.Page, at)
	}
}

// owns judges whether data meet the frame of the page that they mean, and tells
// whether their bytes count.
func (b *Scoreboard) owns(now clocked.Time, m *msg.MemReq) bool {
	h := &b.host
	f := uint32(uint64(m.PA) >> h.shift)
	h.growFrames(f)
	h.growPages(m.Oracle.Page)
	if h.owner[f] == m.Oracle.Page {
		return true
	}
	if b.deferred || h.orphan[f] == m.Oracle.Page {
		b.Stats.Excused++
		return false
	}
	if !b.adapters[m.Adapter].dead {
		b.log.Report(ruleFrame, now, "adapter %d: %s of %d bytes for page %d at frame %d, which is page %d's",
			m.Adapter, verb(m.Write), m.Len, m.Oracle.Page, f, h.owner[f])
	}
	return m.Write
}

// read is one that memory has not answered.
type read struct {
	page, offset, len uint32
	counts            bool // its bytes are to be compared
	access            uint64
	at                uint32 // of its first byte, within the message
}

// reads: memory takes a request to read data.
func (b *Scoreboard) reads(now clocked.Time, m *msg.MemReq) read {
	id := number(m.Oracle.Write)
	if a := b.accesses.at(id); a != nil {
		b.placed(now, a, m)
	}
	return read{page: m.Oracle.Page, offset: uint32(uint64(m.PA) & (b.host.shift.Bytes() - 1)), len: m.Len,
		counts: b.owns(now, m), access: id, at: m.Oracle.Offset}
}

// answered: memory answers with what it holds now.
func (b *Scoreboard) answered(now clocked.Time, r *read, m *msg.MemDone) {
	if m.Status != msg.StatusSuccess {
		return
	}
	if a := b.accesses.at(r.access); a != nil {
		a.covered.add(r.at, r.at+r.len)
	}
	if !r.counts {
		return
	}
	b.Stats.Reads++
	h := &b.host
	at := r.offset & (blockBytes - 1)
	if x, same := equal(h.page(r.page)[r.offset>>blockShift], h.shadow[uint64(m.PA)>>blockShift], at, at+r.len); !same {
		b.log.Report(ruleContent, now, "adapter %d reads page %d at 0x%x: byte %d is not the page's", m.Adapter, r.page, uint64(m.PA), x)
	}
}

// responded: a response is on its way.
func (b *Scoreboard) responded(now clocked.Time, m **msg.Packet) {
	p := *m
	if p.Access == nil || p.Payload == 0 || p.Op != model.OpRead {
		return
	}
	a := b.accesses.at(p.Access.ID)
	if a == nil {
		return
	}
	if !a.covered.has(p.Offset, p.Offset+p.Payload) {
		b.log.Report(ruleResponse, now, "access %d: bytes %d to %d are sent back, and not all of them were read", p.Access.ID, p.Offset, p.Offset+p.Payload)
	}
	a.sent.add(p.Offset, p.Offset+p.Payload)
}

// completed: an access's completion entry is in its requester's memory.
func (b *Scoreboard) completed(now clocked.Time, m *measure.Access, placed bool) {
	a := b.accesses.at(m.ID)
	if a == nil {
		return
	}
	a.completed = true
	good := m.Status == measure.StatusOK
	switch {
	case a.stores > 1 && a.op.Atomic():
		b.log.Report(ruleAtomic, now, "access %d (%v) stored to memory %d times", m.ID, m.Status, a.stores)
	case a.stores == 0 && good && a.op.Atomic():
		return // until the end: its store is posted
	case good && a.op == model.OpRead && !a.sent.has(0, a.len):
		b.log.Report(ruleWhole, now, "access %d succeeds, and of its %d bytes were read and sent back only %v", m.ID, a.len, a.sent.content)
	case good && !a.op.Responds() && !a.whole():
		if !placed {
			return // until the end
		}
		b.log.Report(ruleWhole, now, "access %d succeeds, and of its %d bytes were stored only %v", m.ID, a.len, a.covered.content)
	}
	a.known = false
}

func (a *access) whole() bool { return a.covered.has(0, a.len) }

// finishAccesses asks what was acknowledged early to be there now.
func (b *Scoreboard) finishAccesses(now clocked.Time) {
	s := &b.accesses
	for id := s.first; id < s.next; id++ {
		a := s.at(id)
		switch {
		case a == nil || !a.completed || a.poisoned || b.system.CutOff(int(a.adapter)):
		case a.op.Atomic():
			if a.stores != 1 {
				b.log.Report(ruleAtomic, now, "access %d succeeded, and stored to memory %d times", id, a.stores)
			}
		case !a.whole():
			b.log.Report(ruleWhole, now, "access %d was acknowledged, and of its %d bytes were stored only %v", id, a.len, a.covered.content)
		}
	}
}
