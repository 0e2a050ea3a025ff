package configs

import (
	"fmt"
	"strings"
)

// unknownKey says that a key does not exist and names the nearest. The search
// takes time, so it is made only where the error is printed.
type unknownKey struct {
	wrote      string
	candidates func() []string
}

// Error is the text after the key.
func (u unknownKey) Error() string { return "unknown key" + Suggest(u.wrote, u.candidates()) }

// Suggest names the candidate nearest to what the user wrote, as the end of an
// error: "; did you mean X?", or nothing where no candidate is near. Equal
// distances go to the earlier candidate.
func Suggest(wrote string, candidates []string) string {
	if best := nearest(wrote, candidates); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return ""
}

// nearest is the candidate that a few typing errors lead to; empty for none.
func nearest(wrote string, candidates []string) string {
	best, bestCost := "", maxCost(wrote)+1
	for _, c := range candidates {
		cost := distance(strings.ToLower(wrote), strings.ToLower(c))
		// The right leaf in the wrong group, or a key without its groups, is
		// as near as one typing error.
		if leaf := lastPart(wrote); cost > 1 && len(leaf) > 2 {
			cost = min(cost, 1+distance(strings.ToLower(leaf), strings.ToLower(lastPart(c))))
		}
		if cost < bestCost {
			best, bestCost = c, cost
		}
	}
	return best
}

// maxCost is how many typing errors a word of this length may hold: about one
// in three letters.
func maxCost(word string) int { return max(1, min(4, len(lastPart(word))/3)) }

func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > 2*maxShown {
		return len(a) + len(b)
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			differs := 1
			if a[i-1] == b[j-1] {
				differs = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differs)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
