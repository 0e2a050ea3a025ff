package measure

import (
	"sort"

	"rnicmmu/clocked"
)

// hold keeps the rows of one instant until they can be put in order.
type hold[T any] struct {
	instant clocked.Time
	rows    []T
	less    func(a, b *T) bool
}

// due tells whether the held rows must leave before a row of now is put.
func (h *hold[T]) due(now clocked.Time) bool { return now != h.instant && len(h.rows) > 0 }

func (h *hold[T]) put(now clocked.Time, row *T) {
	h.instant = now
	h.rows = append(h.rows, *row)
}

// take empties the hold. The rows are ordered, and valid until the next put.
func (h *hold[T]) take() []T {
	if !sort.IsSorted(h) {
		sort.Sort(h)
	}
	rows := h.rows
	h.rows = h.rows[:0]
	return rows
}

// Len, Less and Swap are sort.Interface, which works in place: rows are large.
func (h *hold[T]) Len() int           { return len(h.rows) }
func (h *hold[T]) Less(i, j int) bool { return h.less(&h.rows[i], &h.rows[j]) }
func (h *hold[T]) Swap(i, j int)      { h.rows[i], h.rows[j] = h.rows[j], h.rows[i] }
