package protocol

import (
	"fmt"
	"slices"

	"rnicmmu/model"
	"rnicmmu/model/mtt"
)

// mostAdapters is how many adapters a Follower follows.
const mostAdapters = 16

// Follower follows what is seen of one page in a run of the cycle model, and tells
// the first event that is no step of the protocols of adapters with tables and of
// those that ask the IOMMU.
//
// When an adapter executes a command is not seen: it is some time between the
// command and its completion. So an adapter's entry is one of those that it has
// after its completed commands and after each of the open ones.
//
// The page has one entry in each adapter's table.
type Follower struct {
	page     uint32
	frame    uint32 // of the page, if it has one
	has      bool
	leaving  []uint32   // frames that were its, not freed yet
	written  bool       // since its content was in swap, or zeros
	seq      uint32     // of events
	flushes  uint32     // IOTLB commands of the page
	adapters []followed // as many as were seen
}

// followed is an adapter as one page sees it.
type followed struct {
	entry   mtt.Word // after the completed commands
	held    uint8
	gone    bool     // cut off
	open    []posted // commands that are not complete
	drained int      // of these, the ones whose acknowledgement has left the adapter
	given   []given  // translations that are out
	faults  []uint32 // that wait for a resume or response
	cache   cache    // of an adapter without a table
}

type posted struct {
	op    uint8
	entry mtt.Word // that a fill writes
}

// given is a translation that is out. Before is the number of commands without
// acknowledgement, from the oldest, that may have been executed when it was given.
type given struct {
	handle uint32
	frame  uint32
	before int
	answer uint32 // seq of the answer that it is from; 0: the table
}

// NewFollower follows a page that is nowhere.
func NewFollower(page uint32) *Follower { return &Follower{page: page} }

// Frame is the page's, if it has one.
func (f *Follower) Frame() (frame uint32, has bool) { return f.frame, f.has }

// ops are the commands by what is seen.
var ops = [numKinds]uint8{FillSent: cmdFill, ZapSent: cmdZap, MoveZapSent: cmdMoveZap, ProtectSent: cmdProtect, SuspendSent: cmdSuspend, UnsuspendSent: cmdUnsuspend}

func word(frame uint32, write bool) mtt.Word {
	return mtt.Entry{PA: model.PA(frame) << model.Shift4K, Read: true, Write: write, Present: true}.Encode()
}

func frameOf(w mtt.Word) uint32 { return uint32(w.PA() >> model.Shift4K) }

// entries visits what the entry may be, oldest first, with the number of open
// commands executed. Visit returns false to end.
func (a *followed) entries(visit func(executed int, w mtt.Word) bool) {
	w, held := a.entry, a.held
	for n := 0; visit(n, w) && n < len(a.open); n++ {
		w, _ = applied(w, &held, a.open[n].op, a.open[n].entry)
	}
}

// Observe takes the next event of the page. The error names the rule.
func (f *Follower) Observe(e Event) error {
	if r := f.Step(e); r != Legal {
		return fmt.Errorf("%s: %s", e, r)
	}
	return nil
}

// Step takes the next event of the page, and tells whether it is one of the
// protocol. Behind one that is not nothing more can be said.
func (f *Follower) Step(e Event) Refusal {
	if int(e.Adapter) >= mostAdapters {
		return TooMany
	}
	f.seq++
	for int(e.Adapter) >= len(f.adapters) {
		f.adapters = append(f.adapters, followed{})
	}
	a := &f.adapters[e.Adapter]
	switch e.Kind {
	case FrameAssigned, FrameCopied, PagedOut, FrameFreed, GivenUp:
		return f.memory(e)
	case DMASeen:
		if !f.has || e.Frame != f.frame {
			return StaleDMA
		}
		f.written = f.written || e.Write
		return Legal
	case IOTLBOrdered:
		f.flushes++
		return Legal
	case CutOff:
		*a = followed{gone: true}
		return Legal
	}
	if a.gone {
		return Legal // what it did before may still be seen
	}
	return f.table(a, e)
}

// table is a step of an adapter, or of the kernel's towards it.
func (f *Follower) table(a *followed, e Event) Refusal {
	switch e.Kind {
	case FillSent, ZapSent, MoveZapSent, ProtectSent, SuspendSent, UnsuspendSent:
		return f.command(a, e)
	case CommandCompleted:
		return a.complete()
	case Drained:
		return a.drain()
	case FaultSeen, PageRequestArrived:
		if slices.Contains(a.faults, e.Token) {
			return WaitsAlready
		}
		a.faults = append(a.faults, e.Token)
	case ResumeSent, Answered:
		i := slices.Index(a.faults, e.Token)
		switch {
		case i < 0 && e.Kind == Answered:
			return StrayResponse
		case i < 0:
			return StrayResume
		}
		a.faults = slices.Delete(a.faults, i, i+1)
	case TranslationGiven:
		return a.give(e)
	case TranslationReturned:
		i := slices.IndexFunc(a.given, func(g given) bool { return g.handle == e.Token })
		if i < 0 {
			return StrayReturn
		}
		a.given = slices.Delete(a.given, i, i+1)
	default:
		return f.walker(a, e)
	}
	return Legal
}

// command is posted. A fill names the page's frame, and none comes while the
// adapter has not acknowledged that the page goes. Those of others may wait in their
// queues still.
func (f *Follower) command(a *followed, e Event) Refusal {
	p := posted{op: ops[e.Kind]}
	if e.Kind == FillSent {
		p.entry = word(e.Frame, e.Write)
		if !f.has || e.Frame != f.frame {
			return StaleFill
		}
		if slices.ContainsFunc(a.open, func(p posted) bool { return p.op == cmdZap || p.op == cmdMoveZap || p.op == cmdSuspend }) {
			return FillMeetsZap
		}
	}
	a.open = append(a.open, p)
	return Legal
}

// drain is the oldest open command's acknowledgement, as it leaves the adapter. What
// takes a right away has waited for every translation that was given before.
func (a *followed) drain() Refusal {
	if a.drained == len(a.open) {
		return NoneOpen
	}
	takes := !gives(a.open[a.drained].op)
	a.drained++
	for i := range a.given {
		g := &a.given[i]
		if g.before > 0 {
			g.before--
		} else if takes {
			return Undrained
		}
	}
	return Legal
}

// complete is the oldest open command's completion, at the kernel.
func (a *followed) complete() Refusal {
	if a.drained == 0 {
		if r := a.drain(); r != Legal { // not seen as it left
			return r
		}
	}
	p := a.open[0]
	var ok bool
	if a.entry, ok = applied(a.entry, &a.held, p.op, p.entry); !ok {
		return StrayOpen
	}
	a.open = slices.Delete(a.open, 0, 1)
	a.drained--
	return Legal
}

// give is a translation that goes out: the entry is, or may be, what it says. It
// counts as given as late as can be, so that nothing right is refused.
func (a *followed) give(e Event) Refusal {
	last := -1
	a.entries(func(executed int, w mtt.Word) bool {
		if executed >= a.drained && w.Allows(e.Write) && frameOf(w) == e.Frame {
			last = executed
		}
		return true
	})
	from := a.answered(e.Frame)
	if last < 0 && from <= a.cache.barred {
		return NoSuchTranslation
	}
	a.given = append(a.given, given{e.Token, e.Frame, max(last-a.drained, 0), from})
	return Legal
}

// Unfinished tells what has begun and waits for the other side still; nil: nothing.
func (f *Follower) Unfinished() error {
	for i := range f.adapters {
		switch a := &f.adapters[i]; {
		case len(a.open) > 0:
			return fmt.Errorf("page %d: adapter %d has not completed %d commands", f.page, i, len(a.open))
		case len(a.faults) > 0:
			return fmt.Errorf("page %d: adapter %d has %d faults without an answer (FLT-1)", f.page, i, len(a.faults))
		case len(a.given) > 0:
			return fmt.Errorf("page %d: adapter %d has not returned %d translations", f.page, i, len(a.given))
		}
	}
	return nil
}

// Rest tells what is still open at the end of a run; nil: nothing.
func (f *Follower) Rest() error {
	if err := f.Unfinished(); err != nil {
		return err
	}
	if len(f.leaving) > 0 {
		return fmt.Errorf("page %d: %d frames that it left are not free", f.page, len(f.leaving))
	}
	return nil
}
