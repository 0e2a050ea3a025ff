package memory

import (
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/frame"
)

// newContent is the oracle of a host's frames, or nil for a host without.
func newContent(c Config) (*frame.Oracle, error) {
	if c.Frames == 0 {
		return nil, nil
	}
	return frame.New(c.Frames, c.Pages, c.Slots)
}

func (m *Memory) frameOf(pa model.PA) frame.ID {
	return frame.ID(min(uint64(pa)>>m.config.Shift, uint64(msg.NoPage)))
}

// checkWrite stores a device's write where its address says, and counts it as
// stale when that is not the page that the access meant.
func (m *Memory) checkWrite(pa model.PA, oracle msg.Oracle) {
	if oracle.Page == msg.NoPage || m.content == nil {
		return
	}
	f, offset := m.frameOf(pa), uint32(uint64(pa)&(m.config.Shift.Bytes()-1))
	if m.excused(f, oracle.Page) {
		return
	}
	m.content.Store(f, oracle.Write, offset)
	if m.orphaned(f, frame.Page(oracle.Page)) { // and the process sees none of it
		m.stats.StaleDeferred++
		return
	}
	m.content.Expect(frame.Page(oracle.Page), oracle.Write, offset)
	if m.content.Owner(f) != frame.Page(oracle.Page) {
		m.stats.StaleDMA++
	}
}

// excused tells whether DMA uses a translation whose flush the kernel put off,
// and counts it. Neither frame nor page takes it in the model: the harm to both
// is this count.
func (m *Memory) excused(f frame.ID, page uint32) bool {
	if m.config.Excused == nil || !m.config.Excused(page, uint32(f)) {
		return false
	}
	m.stats.StaleDeferred++
	return true
}

// checkRead tells whether a device's read took another page than it meant, and
// counts content that the process must not see.
func (m *Memory) checkRead(pa model.PA, page uint32) (stale bool) {
	if page == msg.NoPage || m.content == nil {
		return false
	}
	if m.excused(m.frameOf(pa), page) {
		return true
	}
	switch m.content.Check(m.frameOf(pa), frame.Page(page)) {
	case frame.Good:
		return false
	case frame.Corrupt:
		m.stats.LostWrites++
		return false
	}
	if m.orphaned(m.frameOf(pa), frame.Page(page)) {
		m.stats.StaleDeferred++
		return false
	}
	m.stats.StaleDMA++
	return true
}

// orphaned tells whether a registration that outlived the mapping of a page
// keeps the frame. The look-up is made for frames that nobody owns only.
func (m *Memory) orphaned(f frame.ID, p frame.Page) bool {
	if m.content.Owner(f) != frame.NoPage {
		return false
	}
	old, kept := m.orphans[f]
	return kept && old == p
}

// discard forgets a page with its frame and its swap slot.
func (m *Memory) discard(op *msg.PageOp) (lost bool) {
	f, p := frame.ID(op.Frame), frame.Page(op.Page)
	if op.Frame != msg.NoPage && m.content.Free(f) != nil {
		return true
	}
	if op.Kind == msg.PageOrphan {
		if m.orphans == nil {
			m.orphans = map[frame.ID]frame.Page{}
		}
		m.orphans[f] = p
	}
	return m.content.FreeSlot(frame.Slot(op.Slot)) != nil || m.content.Forget(p) != nil
}

// apply changes content as a page operation does, and tells whether what it
// saw or left behind is not what the process must see.
func (m *Memory) apply(op *msg.PageOp) (lost bool) {
	o, f, p, slot := m.content, frame.ID(op.Frame), frame.Page(op.Page), frame.Slot(op.Slot)
	if o == nil {
		return true
	}
	switch op.Kind {
	case msg.PageFree:
		if _, kept := m.orphans[f]; kept {
			delete(m.orphans, f)
			return false
		}
		return o.Free(f) != nil
	case msg.PageDiscard, msg.PageOrphan:
		return m.discard(op)
	case msg.PageZero:
		if err := o.Assign(f, p); err != nil {
			return true
		}
		o.Zero(f)
	case msg.PageIn:
		if err := o.Assign(f, p); err != nil || o.CopyIn(slot, f) != nil {
			return true
		}
	case msg.PageOut:
		if o.CopyOut(f, slot) != nil {
			return true
		}
	case msg.PageCopy:
		if err := o.Assign(f, p); err != nil || o.CopyFrame(frame.ID(op.Slot), f) != nil {
			return true
		}
	case msg.PageCPUWrite:
		o.Store(f, op.Write, 0)
		o.Expect(p, op.Write, 0)
	}
	return o.Check(f, p) != frame.Good
}

// swapHas tells whether a page-out is in vain: its slot, or a page of zeros,
// is what the process must see.
func (m *Memory) swapHas(op *msg.PageOp) bool {
	p := frame.Page(op.Page)
	return m.content != nil && (m.content.CheckSlot(frame.Slot(op.Slot), p) == frame.Good ||
		m.content.CheckUnwritten(p) == frame.Good)
}

// Preload makes a frame hold a page, zeroed, before time 0 and at no cost. It
// tells whether the frame was free.
func (m *Memory) Preload(f, page uint32) bool {
	return !m.apply(&msg.PageOp{Kind: msg.PageZero, Frame: f, Page: page})
}

// PreloadSwapped makes a swap slot hold a page, never written, before time 0.
// Frame 0 must be free.
func (m *Memory) PreloadSwapped(slot, page uint32) bool {
	return m.Preload(0, page) &&
		!m.apply(&msg.PageOp{Kind: msg.PageOut, Page: page, Slot: slot}) &&
		!m.apply(&msg.PageOp{Kind: msg.PageFree})
}
