package random

import (
	"slices"
	"strconv"
	"strings"
)

const countKey = "workload.accesses="

// Shrink makes a configuration as small as the given number of tries lets it,
// such that same still holds of it: settings go back to their defaults, in
// halves, quarters and so on down to one by one; then accesses are left out.
func Shrink(set []string, tries int, same func(set []string) bool) []string {
	s := &shrinker{tries: tries, same: same}
	set = s.accesses(set) // each further try is the faster
	for {
		smaller := s.settings(set)
		if len(smaller) == len(set) || s.tries <= 0 {
			return s.accesses(smaller)
		}
		set = smaller
	}
}

type shrinker struct {
	tries int
	same  func([]string) bool
}

func (s *shrinker) try(set []string) bool {
	if s.tries <= 0 {
		return false
	}
	s.tries--
	return s.same(set)
}

// settings leaves out runs of settings, long ones first. The number of accesses
// stays: its default is a long run.
func (s *shrinker) settings(set []string) []string {
	for size := (len(set) + 1) / 2; size > 0; size /= 2 {
		for from := 0; from < len(set); {
			to := min(from+size, len(set))
			smaller := slices.Clone(set[:from])
			for _, x := range set[from:to] {
				if strings.HasPrefix(x, countKey) {
					smaller = append(smaller, x)
				}
			}
			smaller = append(smaller, set[to:]...)
			if len(smaller) < len(set) && s.try(smaller) {
				set = smaller
			} else {
				from = to
			}
		}
	}
	return set
}

// accesses takes accesses away, as many as it can at a time.
func (s *shrinker) accesses(set []string) []string {
	at := slices.IndexFunc(set, func(x string) bool { return strings.HasPrefix(x, countKey) })
	if at < 0 {
		return set
	}
	n, err := strconv.Atoi(strings.TrimPrefix(set[at], countKey))
	if err != nil {
		return set
	}
	for less := n / 2; less > 0 && n > 1; {
		smaller := slices.Clone(set)
		smaller[at] = countKey + strconv.Itoa(n-less)
		if s.try(smaller) {
			set, n = smaller, n-less
			less = min(less, n/2)
		} else {
			less /= 2
		}
	}
	return set
}
