package cache

import (
	"fmt"
	"math/bits"
)

// Policy is a replacement policy.
type Policy uint8

// Replacement policies; the package documentation defines each.
const (
	LRU Policy = iota
	FIFO
	TreePLRU
	NRU
	Random
	SRRIP
	numPolicies
)

var policyNames = [numPolicies]string{"lru", "fifo", "tree-plru", "nru", "random", "srrip"}

// String is the policy's name as configuration files spell it.
func (p Policy) String() string {
	if p < numPolicies {
		return policyNames[p]
	}
	return fmt.Sprintf("Policy(%d)", uint8(p))
}

// ParsePolicy is the inverse of String.
func ParsePolicy(name string) (Policy, error) {
	for p, n := range policyNames {
		if n == name {
			return Policy(p), nil
		}
	}
	return 0, fmt.Errorf("unknown replacement policy %q; use lru, fifo, tree-plru, nru, random or srrip", name)
}

// MaxLine is the most table entries that one line holds: eight entries of 8 B
// are one 64 B host cache line, the unit in which adapters read and zap tables.
const MaxLine = 8

// maxLines keeps slot numbers and index entries within 31 bits.
const maxLines = 1 << 30

// Geometry is the shape of a cache.
type Geometry struct {
	Entries int    // capacity in table entries, ≥ 1
	Ways    int    // lines a set; 0 = fully associative
	Line    int    // entries a line, 1 … MaxLine
	Policy  Policy // replacement policy
	Seed    uint64 // of the Random policy
	Tenants int    // share the ways of each set evenly; 0 or 1: no partition
	Stream  string // names the random stream, so that two caches of one seed draw apart
}

// Lines is the capacity in lines.
func (g Geometry) Lines() int { return g.Entries / g.Line }

// ways is the number of lines a set; of a fully associative cache, its lines.
func (g Geometry) ways() int {
	if g.Ways == 0 {
		return g.Lines()
	}
	return g.Ways
}

func (g Geometry) tenants() int { return max(1, g.Tenants) }

// Validate tells why no cache of this shape exists, or nil.
func (g Geometry) Validate() error {
	switch {
	case g.Entries < 1:
		return fmt.Errorf("entries %d: a cache holds at least one entry", g.Entries)
	case g.Line < 1 || g.Line > MaxLine:
		return fmt.Errorf("line of %d entries: must be 1 to %d", g.Line, MaxLine)
	case g.Ways < 0:
		return fmt.Errorf("ways %d: must be 0 (fully associative) or more", g.Ways)
	case g.Policy >= numPolicies:
		return fmt.Errorf("replacement policy %d does not exist", g.Policy)
	case g.Entries%g.Line != 0:
		return fmt.Errorf("%d entries do not divide into lines of %d", g.Entries, g.Line)
	case g.Lines() > maxLines:
		return fmt.Errorf("%d lines: at most %d", g.Lines(), maxLines)
	case g.Tenants < 0:
		return fmt.Errorf("tenants %d: must be 0 (none) or more", g.Tenants)
	case g.ways()%g.tenants() != 0:
		return fmt.Errorf("%d ways do not divide among %d tenants", g.ways(), g.Tenants)
	case g.Lines()%g.ways() != 0:
		return fmt.Errorf("%d lines do not divide into sets of %d ways", g.Lines(), g.Ways)
	case bits.OnesCount(uint(g.Lines()/g.ways())) != 1:
		return fmt.Errorf("%d lines in %d ways make %d sets: must be a power of two",
			g.Lines(), g.Ways, g.Lines()/g.Ways)
	}
	return nil
}
