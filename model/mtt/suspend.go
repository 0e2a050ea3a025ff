package mtt

import (
	"errors"
	"slices"
)

// ErrNotSuspended says that no suspension of just these entries is active.
var ErrNotSuspended = errors.New("no suspension of just these entries is active")

// span is a range of entries.
type span struct{ first, n uint64 }

func (s span) contains(i uint64) bool { return i >= s.first && i-s.first < s.n }

// Suspend starts a suspension of n entries from first; suspensions nest and may
// overlap. A present entry forgets its frame, so that no resumption can bring
// the old one back (SUS-3): it is suspended until it is programmed anew and
// every suspension of it has ended.
func (t *Table) Suspend(first, n uint64) {
	t.suspended = append(t.suspended, span{first, n})
	t.pieces(first, n, func(_ uint64, words []Word) {
		for i, w := range words {
			words[i] = w.Held()
		}
	})
}

// Unsuspend ends one suspension of n entries from first. Those that no other
// one covers are no longer suspended; what was not programmed meanwhile is
// absent. Nothing changes on error.
func (t *Table) Unsuspend(first, n uint64) error {
	i := slices.Index(t.suspended, span{first, n})
	if i < 0 {
		return ErrNotSuspended
	}
	t.suspended = slices.Delete(t.suspended, i, i+1)
	t.pieces(first, n, func(at uint64, words []Word) {
		for i, w := range words {
			if w.Suspended() && !t.covered(at+uint64(i)) {
				words[i] = w.Opened()
			}
		}
	})
	return nil
}

func (t *Table) covered(i uint64) bool {
	return slices.ContainsFunc(t.suspended, func(s span) bool { return s.contains(i) })
}

// Program writes entry i, suspended while a suspension covers it, and tells
// whether it is in range.
func (t *Table) Program(i uint64, w Word) bool { return t.Set(i, w.WithSuspended(t.covered(i))) }
