package scoreboard

import (
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// host is the golden memory: which frame is which page's, and the bytes.
type host struct {
	shift   model.PageShift
	blocks  uint32    // of a page
	owner   []uint32  // page, by frame; NoPage: nobody's
	orphan  []uint32  // page that a registration which outlived it keeps the frame for, by frame
	frame   []uint32  // by page; NoPage: none
	inSlot  []bool    // by page: its swap slot holds something
	golden  []content // by block of a page
	shadow  []content // by block of a frame
	slots   []content // by block of a swap slot
	pending []msg.PageOp
}

func (h *host) init(shift model.PageShift, setup kernel.Setup) {
	h.shift, h.blocks = shift, 1<<(shift-blockShift)
	for _, r := range setup.Swapped {
		for i := range r.Count {
			h.growPages(r.First + i)
			h.inSlot[r.First+i] = true
		}
	}
	for _, r := range setup.Resident {
		for i := range r.Count {
			h.growPages(r.First + i)
			h.growFrames(r.Frame + i)
			h.give(r.Frame+i, r.First+i)
		}
	}
}

func grow[T any](s []T, n uint32, fill T) []T {
	for uint32(len(s)) < n {
		s = append(s, fill)
	}
	return s
}

func (h *host) growPages(p uint32) {
	if p != msg.NoPage {
		h.frame, h.inSlot = grow(h.frame, p+1, msg.NoPage), grow(h.inSlot, p+1, false)
		h.golden, h.slots = grow(h.golden, (p+1)*h.blocks, nil), grow(h.slots, (p+1)*h.blocks, nil)
	}
}

func (h *host) growFrames(f uint32) {
	if f != msg.NoPage {
		h.owner, h.orphan = grow(h.owner, f+1, msg.NoPage), grow(h.orphan, f+1, msg.NoPage)
		h.shadow = grow(h.shadow, (f+1)*h.blocks, nil)
	}
}

// give makes a frame a page's, and tells whether both were free for it.
func (h *host) give(f, p uint32) bool {
	free := h.owner[f] == msg.NoPage
	h.owner[f], h.orphan[f], h.frame[p] = p, msg.NoPage, f
	return free
}

// take makes a frame nobody's.
func (h *host) take(f uint32) {
	if p := h.owner[f]; p != msg.NoPage && h.frame[p] == f {
		h.frame[p] = msg.NoPage
	}
	h.owner[f] = msg.NoPage
}

func (h *host) page(p uint32) []content { return h.golden[p*h.blocks : (p+1)*h.blocks] }
func (h *host) of(f uint32) []content   { return h.shadow[f*h.blocks : (f+1)*h.blocks] }
func (h *host) slot(p uint32) []content { return h.slots[p*h.blocks : (p+1)*h.blocks] }

func assign(to, from []content) {
	for i := range to {
		to[i] = from[i].clone(to[i])
	}
}

func zero(c []content) {
	for i := range c {
		c[i] = c[i][:0]
	}
}

// pageOpSent: the kernel takes a frame away, or will use one otherwise.
func (b *Scoreboard) pageOpSent(now clocked.Time, m *msg.PageOp) {
	h := &b.host
	h.growPages(m.Page)
	h.growFrames(m.Frame)
	taken := msg.NoPage
	switch m.Kind {
	case msg.PageIn:
		h.growPages(m.Slot)
	case msg.PageOut, msg.PageFree, msg.PageDiscard:
		taken = m.Frame
	case msg.PageCopy:
		taken = m.Slot
	}
	if taken != msg.NoPage && !b.deferred {
		b.unused(now, taken)
	}
	h.pending = append(h.pending, *m)
}

// unused reports adapters that may still use a frame that is taken.
func (b *Scoreboard) unused(now clocked.Time, f uint32) {
	for i := range b.adapters {
		a := &b.adapters[i]
		if a.table && a.direct && !a.dead && a.mayUse(msg.FramePA(f, b.host.shift), b.host.shift.Bytes()) {
			b.log.Report(ruleTaken, now, "frame %d of page %d is taken while adapter %d may use it", f, b.host.owner[f], i)
		}
	}
}

// pageOpDone: memory has done what the kernel asked.
func (b *Scoreboard) pageOpDone(now clocked.Time, d *msg.PageDone) {
	h := &b.host
	i := slices.IndexFunc(h.pending, func(m msg.PageOp) bool { return m.Kind == d.Kind && m.Cookie == d.Cookie })
	if i < 0 {
		return
	}
	m := h.pending[i]
	h.pending = slices.Delete(h.pending, i, i+1)
	b.apply(now, &m)
}

func (b *Scoreboard) apply(now clocked.Time, m *msg.PageOp) {
	h := &b.host
	f, p := m.Frame, m.Page
	switch m.Kind {
	case msg.PageFree:
		h.take(f)
		h.orphan[f] = msg.NoPage
		return
	case msg.PageDiscard, msg.PageOrphan:
		if f != msg.NoPage {
			h.take(f)
			if m.Kind == msg.PageOrphan {
				h.orphan[f] = p
			}
		}
		zero(h.page(p))
		h.inSlot[p] = false
		return
	case msg.PageOut:
		assign(h.slot(m.Slot), h.of(f))
		h.inSlot[p] = true
	case msg.PageZero:
		b.gives(now, f, p)
		zero(h.of(f))
	case msg.PageIn:
		b.gives(now, f, p)
		assign(h.of(f), h.slot(m.Slot))
	case msg.PageCopy:
		b.gives(now, f, p)
		assign(h.of(f), h.of(m.Slot))
	case msg.PageCPUWrite:
		s := span{at: 0, end: 64, origin: ^m.Write}
		h.page(p)[0].store(s)
		h.of(f)[0].store(s)
	}
	b.same(now, p, h.of(f), "frame", f)
}

// gives: a frame becomes a page's.
func (b *Scoreboard) gives(now clocked.Time, f, p uint32) {
	if was := b.host.owner[f]; !b.host.give(f, p) {
		b.log.Report(ruleOwner, now, "frame %d is given to page %d while it is page %d's", f, p, was)
	}
}

// same compares a page with what is meant to hold it.
func (b *Scoreboard) same(now clocked.Time, p uint32, held []content, what string, number uint32) {
	b.Stats.Pages++
	for i, want := range b.host.page(p) {
		if at, same := equal(want, held[i], 0, blockBytes); !same {
			b.log.Report(ruleContent, now, "%s %d does not hold page %d from byte %d on", what, number, p, uint32(i)<<blockShift+at)
			return
		}
	}
}

// finishPages compares every page with its frame or its swap slot.
func (b *Scoreboard) finishPages(now clocked.Time) {
	h := &b.host
	for p := range uint32(len(h.frame)) {
		switch f := h.frame[p]; {
		case f != msg.NoPage:
			b.same(now, p, h.of(f), "frame", f)
		case h.inSlot[p]:
			b.same(now, p, h.slot(p), "swap slot", p)
		default:
			b.same(now, p, make([]content, h.blocks), "nothing, zeros for page", p)
		}
	}
}
