// Package dense has tables for monitors: by number, sparse, without a map or a
// string on the way.
package dense

const (
	leafBits = 9
	midBits  = 12
)

type mid[T any] [1 << midBits]*[1 << leafBits]T

// Table holds a T for every number; those that were never asked for cost
// nothing. Numbers stay below 2^40.
type Table[T any] struct{ top []*mid[T] }

// At is the place of a number, made where there is none.
func (t *Table[T]) At(i uint64) *T {
	n := i >> (leafBits + midBits)
	for uint64(len(t.top)) <= n {
		t.top = append(t.top, nil)
	}
	m := t.top[n]
	if m == nil {
		m = new(mid[T])
		t.top[n] = m
	}
	l := m[i>>leafBits&(1<<midBits-1)]
	if l == nil {
		l = new([1 << leafBits]T)
		m[i>>leafBits&(1<<midBits-1)] = l
	}
	return &l[i&(1<<leafBits-1)]
}

// Get is the place of a number, or nil where there is none.
func (t *Table[T]) Get(i uint64) *T {
	n := i >> (leafBits + midBits)
	if n >= uint64(len(t.top)) || t.top[n] == nil {
		return nil
	}
	l := t.top[n][i>>leafBits&(1<<midBits-1)]
	if l == nil {
		return nil
	}
	return &l[i&(1<<leafBits-1)]
}

// Each shows every place of first … last that there is, in order.
func (t *Table[T]) Each(first, last uint64, f func(i uint64, v *T)) {
	for i := first; i <= last; i++ {
		n := i >> (leafBits + midBits)
		if n >= uint64(len(t.top)) {
			return
		}
		if t.top[n] == nil {
			i |= 1<<(leafBits+midBits) - 1
		} else if l := t.top[n][i>>leafBits&(1<<midBits-1)]; l == nil {
			i |= 1<<leafBits - 1
		} else {
			f(i, &l[i&(1<<leafBits-1)])
		}
		if i == ^uint64(0) {
			return
		}
	}
}

// Slot is the place of a number in a list that grows to the numbers in use.
func Slot[T any](list *[]T, i uint64) *T {
	for uint64(len(*list)) <= i {
		var zero T
		*list = append(*list, zero)
	}
	return &(*list)[i]
}
