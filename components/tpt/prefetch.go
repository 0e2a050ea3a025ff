package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// prefetcher chooses what is read ahead.
type prefetcher uint8

const (
	prefetchNone prefetcher = iota
	prefetchNext
	prefetchStride
	prefetchWindow
)

// prefetchers are the values of tpt.mtt.prefetch.
var prefetchers = map[string]prefetcher{"none": prefetchNone, "next_line": prefetchNext, "stride": prefetchStride, "qp_window": prefetchWindow}

// trail is what the prefetcher knows of a QP's look-ups.
type trail struct {
	last   uint64 // line
	stride int64  // between the last two different lines
	sure   bool   // the stride before it was the same
	end    model.VA
}

// observe notes a look-up: the stride of a QP's lines, or where the access that
// it executes ends.
func (u *Unit) observe(m *msg.Translate, line uint64) {
	for uint32(len(u.trails)) <= m.QP {
		u.trails = append(u.trails, trail{})
	}
	s := &u.trails[m.QP]
	if m.CheckKey {
		s.end = m.CheckVA + model.VA(m.CheckLen)
	}
	if stride := int64(line - s.last); stride != 0 {
		s.sure = stride == s.stride
		s.last, s.stride = line, stride
	}
}

// prefetch starts walks for lines that the QP of a miss may ask for next. It
// uses miss registers that nobody waits for, keeps to the region, and raises no
// fault: a line without present entries is not cached.
func (u *Unit) prefetch(now clocked.Time, s *slot, line uint64) {
	m, r := &s.req, u.keys.Lookup(key.Make(s.key, 0))
	if m.Replay || r == nil || u.stalled.head != none {
		return
	}
	le := uint64(u.spec.MTT.LineEntries)
	pages := u.pagesOf(r)
	first, last := pages.first/le, pages.last/le
	step := uint64(1)
	switch s := &u.trails[m.QP]; u.prefetcher {
	case prefetchStride:
		if !s.sure {
			return
		}
		step = uint64(s.stride)
	case prefetchWindow:
		if s.end <= m.VA || !r.Contains(s.end-1, 1) {
			return
		}
		last = u.entryOf(r, s.end-1) / le
	}
	for range u.spec.MTT.PrefetchDegree {
		line += step
		n := u.freeWalk()
		if n < 0 || line < first || line > last {
			return
		}
		set := u.prefetchSet(r, line, pages.first)
		if _, hit := u.mtt.Peek(set, line); hit || u.walkOf(line) >= 0 {
			continue
		}
		u.Stats.Prefetch.Issued++
		u.Stats.Walked.Begun++
		u.prefetching++
		u.walks[n] = walk{busy: true, prefetch: true, qp: m.QP, line: line, first: line * le, set: set, list: noWaiters}
		u.startWalk(now, n)
	}
}

// prefetchSet is the set of a line as setOf gives it for the line's first entry
// of the region, which begins at the given entry.
func (u *Unit) prefetchSet(r *key.Region, line, begin uint64) uint64 {
	if u.spec.MTT.Index != "page" {
		return line
	}
	le := uint64(u.spec.MTT.LineEntries)
	return (u.shift.Number(r.Base) + max(line*le, begin) - begin) / le
}

// claim makes a prefetch the walk of a request that wants its line.
func (u *Unit) claim(w *walk) {
	if w.prefetch {
		w.prefetch = false
		u.prefetching--
		u.Stats.Prefetch.Late++
	}
}

// dropped ends a prefetch whose line a command touched, or which failed: nobody
// waits for it.
func (u *Unit) dropped(w *walk, failed bool) bool {
	if !w.prefetch || !w.stale && !failed {
		return false
	}
	w.busy, w.prefetch = false, false
	u.prefetching--
	u.Stats.Prefetch.Dropped++
	u.Stats.Walked.Dropped++
	return true
}

// used notes the first use of a line that a prefetch brought.
func (u *Unit) used(slot int) {
	if u.mtt.prefetched[slot] {
		u.mtt.prefetched[slot] = false
		u.Stats.Prefetch.Useful++
	}
}
