// Package host watches what the kernel does with frames, by its orders to
// memory, beside what adapters can reach.
//
//	kernel ──PageOp──▶ memory        adapter's tables ──Reach, Leave──▶ Frames
//	                                 responder ──Wrote──▶
package host

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/verify/monitor/dense"
	"rnicmmu/verify/rule"
)

// The rules that this package watches for.
var (
	Reached = &rule.Rule{ID: "FRM-ACK-01", Title: "A frame is taken when no adapter reaches it",
		Meaning: "When the kernel saves, copies or frees a frame, no adapter has a table entry or a cached translation that leads to it: each has acknowledged the invalidation.",
		Source:  "INV-2; [Linux] mm/mmu_notifier.c", Example: "CmdFill(frame 1) at adapters 0 and 1; CmdInvalidate at both; CQE of adapter 0; PageOut(frame 1)"}
	Owned = &rule.Rule{ID: "FRM-OWN-01", Title: "A frame is one page's at a time",
		Meaning: "A frame is given to a page only when it is nobody's.",
		Source:  "INV-2", Example: "PageZero(frame 1, page 2); PageZero(frame 1, page 3)"}
	Kept = &rule.Rule{ID: "FRM-DIRTY-01", Title: "what was stored to is saved",
		Meaning: "A frame that an adapter has stored to is freed only behind a PageOut or PageCopy of what it holds, unless the process gave the page up.",
		Source:  "INV-8; [Linux] mlx5/odp.c", Example: "DMA write to frame 1; PageFree(frame 1)"}
)

// Rules are those of this package.
func Rules() []*rule.Rule { return []*rule.Rule{Reached, Owned, Kept} }

// Frames watches the frames of host memory.
type Frames struct {
	log      *rule.Log
	shift    model.PageShift
	adapters []reach
	frames   dense.Table[frame]
}

// reach is how many entries or translations of an adapter lead to each frame.
type reach struct {
	dead   bool
	shift  model.PageShift
	frames dense.Table[uint32]
}

type frame struct {
	page  uint32 // + 1; 0: nobody's
	dirty bool
}

// New watches memory with frames of a size, and adapters with pages of theirs.
func New(shift model.PageShift, pages []model.PageShift, log *rule.Log) *Frames {
	f := &Frames{log: log, shift: shift}
	for _, s := range pages {
		f.adapters = append(f.adapters, reach{shift: s})
	}
	return f
}

// Resident tells that a frame holds a page before the run.
func (f *Frames) Resident(at, page uint32) { f.frames.At(uint64(at)).page = page + 1 }

// span is the frames of an adapter's page.
func (f *Frames) span(a *reach, pa model.PA) (first, last uint64) {
	return uint64(pa) >> f.shift, (uint64(pa) + a.shift.Bytes() - 1) >> f.shift
}

// Reach tells that an adapter's page can be reached by it once more.
func (f *Frames) Reach(adapter int, pa model.PA) {
	a := &f.adapters[adapter]
	first, last := f.span(a, pa)
	for i := first; i <= last; i++ {
		*a.frames.At(i)++
	}
}

// Leave undoes a Reach.
func (f *Frames) Leave(adapter int, pa model.PA) {
	a := &f.adapters[adapter]
	first, last := f.span(a, pa)
	for i := first; i <= last; i++ {
		*a.frames.At(i)--
	}
}

// CutOff tells that an adapter reaches nothing any more.
func (f *Frames) CutOff(adapter int) { f.adapters[adapter].dead = true }

// Wrote sees a store of an adapter to user memory, by physical address.
func (f *Frames) Wrote(d *msg.DMA) {
	if d.Kind == msg.KindData && d.Write && d.Oracle.Page != msg.NoPage {
		if x := f.frames.Get(uint64(d.PA) >> f.shift); x != nil {
			x.dirty = true
		}
	}
}

// PageOp sees an order of the kernel's to memory.
func (f *Frames) PageOp(now clocked.Time, op *msg.PageOp) {
	switch op.Kind {
	case msg.PageZero, msg.PageIn:
		f.assign(now, op.Frame, op.Page)
	case msg.PageCopy:
		f.unreached(now, op.Slot)
		f.assign(now, op.Frame, op.Page)
		from, to := f.frames.At(uint64(op.Slot)), f.frames.At(uint64(op.Frame))
		to.dirty, from.dirty = from.dirty, false
	case msg.PageOut:
		f.unreached(now, op.Frame)
		f.frames.At(uint64(op.Frame)).dirty = false
	case msg.PageFree:
		f.unreached(now, op.Frame)
		x := f.frames.At(uint64(op.Frame))
		if x.dirty && op.Page != msg.NoPage { // what an old registration kept is nobody's
			f.log.Report(Kept, now, "frame %d of page %d was stored to by an adapter, and goes unsaved", op.Frame, op.Page)
		}
		*x = frame{}
	case msg.PageDiscard:
		if op.Frame != msg.NoPage {
			f.unreached(now, op.Frame)
			*f.frames.At(uint64(op.Frame)) = frame{}
		}
	case msg.PageOrphan: // an old registration keeps the frame
		f.frames.At(uint64(op.Frame)).dirty = false
	}
}

func (f *Frames) assign(now clocked.Time, at, page uint32) {
	x := f.frames.At(uint64(at))
	if x.page != 0 {
		f.log.Report(Owned, now, "frame %d goes to page %d and is page %d's", at, page, x.page-1)
	}
	x.page = page + 1
}

func (f *Frames) unreached(now clocked.Time, at uint32) {
	for i := range f.adapters {
		a := &f.adapters[i]
		if n := a.frames.Get(uint64(at)); n != nil && *n > 0 && !a.dead {
			f.log.Report(Reached, now, "frame %d is taken, and adapter %d reaches it by %d translations", at, i, *n)
		}
	}
}
