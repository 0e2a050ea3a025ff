package protocol

import (
	"slices"

	"rnicmmu/model/mtt"
)

// memory is a step of the page's content.
func (f *Follower) memory(e Event) Refusal {
	switch e.Kind {
	case FrameAssigned:
		if f.has {
			return HasFrame
		}
		f.frame, f.has = e.Frame, true
	case FrameCopied:
		if !f.has {
			return NoFrame
		}
		if r := f.reachable(f.frame); r != Legal {
			return r
		}
		f.leaving = append(f.leaving, f.frame)
		f.frame = e.Frame
	case PagedOut:
		if !f.has || e.Frame != f.frame {
			return NotInFrame
		}
		if r := f.reachable(e.Frame); r != Legal {
			return r
		}
		f.written = false
	case GivenUp:
		f.written = false
	case FrameFreed:
		return f.free(e.Frame)
	}
	return Legal
}

func (f *Follower) free(frame uint32) Refusal {
	if i := slices.Index(f.leaving, frame); i >= 0 {
		f.leaving = slices.Delete(f.leaving, i, i+1)
		return Legal
	}
	if !f.has || frame != f.frame {
		return NotInFrame
	}
	if r := f.reachable(frame); r != Legal {
		return r
	}
	if f.written {
		return LostWrite
	}
	f.has = false
	return Legal
}

// reachable tells whether an adapter may still use a frame as the page.
func (f *Follower) reachable(frame uint32) Refusal {
	found := false
	for i := range f.adapters {
		a := &f.adapters[i]
		a.entries(func(_ int, w mtt.Word) bool {
			found = found || w.Allows(false) && frameOf(w) == frame
			return !found
		})
		found = found || slices.ContainsFunc(a.given, func(g given) bool { return g.frame == frame && g.answer == 0 })
	}
	if found {
		return FrameInUse
	}
	return f.cached(frame)
}
