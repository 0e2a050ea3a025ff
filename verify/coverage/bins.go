package coverage

import (
	"fmt"
	"strings"
)

// Group is a covergroup: situations of one kind, declared before any run.
type Group struct {
	Name string
	Doc  string
	Bins []Bin

	columns int // of a cross, whose bins are its rows one after another
	first   int // its first counter
}

// Bin is one situation. An ignored one is counted and not asked for; an illegal
// one must not occur.
type Bin struct {
	Name    string
	Ignored string // why it is not asked for
	Illegal string // why it must not occur
}

// due tells whether the bin counts towards coverage.
func (b *Bin) due() bool { return b.Ignored == "" && b.Illegal == "" }

// groups are all that are declared, in the order of the report; counters is the
// number of their bins.
var (
	groups   []*Group
	counters int
)

// Groups are the declared covergroups.
func Groups() []*Group { return groups }

// list declares a group of single situations.
func list(name, doc string, bins ...string) *Group {
	g := &Group{Name: name, Doc: doc, columns: len(bins), first: counters}
	for _, b := range bins {
		g.Bins = append(g.Bins, Bin{Name: b})
	}
	groups, counters = append(groups, g), counters+len(g.Bins)
	return g
}

// times joins the names of what meets in a cross.
const times = " × "

// cross declares a group of every row with every column.
func cross(name, doc string, rows, columns []string) *Group {
	var bins []string
	for _, r := range rows {
		for _, c := range columns {
			bins = append(bins, r+times+c)
		}
	}
	g := list(name, doc, bins...)
	g.columns = len(columns)
	return g
}

// ignore takes bins out of what is asked for, by name; in a cross * stands for
// every row or column.
func (g *Group) ignore(reason string, names ...string) *Group {
	for _, b := range g.match(names) {
		if b.due() {
			b.Ignored = reason
		}
	}
	return g
}

// illegal says of bins that they must not occur.
func (g *Group) illegal(reason string, names ...string) *Group {
	for _, b := range g.match(names) {
		b.Illegal, b.Ignored = reason, ""
	}
	return g
}

func (g *Group) match(names []string) (found []*Bin) {
	for _, name := range names {
		n := len(found)
		row, column, crossed := strings.Cut(name, times)
		for i := range g.Bins {
			r, c, _ := strings.Cut(g.Bins[i].Name, times)
			if g.Bins[i].Name == name || crossed && (row == "*" || row == r) && (column == "*" || column == c) {
				found = append(found, &g.Bins[i])
			}
		}
		if len(found) == n {
			panic(fmt.Sprintf("covergroup %s has no bin %s", g.Name, name))
		}
	}
	return found
}

// names are those of a closed enumeration of n values.
func names[T ~uint8](n T) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(i))
	}
	return all
}

// size is the bin of a number among 0, 1, 2, 3–4, 5–8 … by powers of two.
func size(n uint64, bins int) int {
	at, top := 1, uint64(1)
	if n == 0 {
		return 0
	}
	for top < n && at < bins-1 {
		top *= 2
		at++
	}
	return at
}

// sizes names the bins of size up to a last one without an end.
func sizes(bins int) (all []string) {
	all = []string{"0", "1", "2"}
	for i := 3; i < bins-1; i++ {
		all = append(all, fmt.Sprintf("%d–%d", uint64(1)<<(i-2)+1, uint64(1)<<(i-1)))
	}
	return append(all, fmt.Sprintf("over %d", uint64(1)<<(bins-3)))
}
