package cache

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naive is the obvious cache: each set a slice of ways, ages and bits.
type naive struct {
	g     Geometry
	sets  [][]naiveLine
	clock int
}

type naiveLine struct {
	valid      bool
	tag        uint64
	used, born int
	referenced bool
	distance   int // SRRIP
}

func (n *naive) set(hint uint64) []naiveLine { return n.sets[hint%uint64(len(n.sets))] }

func (n *naive) find(hint, tag uint64) int {
	return slices.IndexFunc(n.set(hint), func(l naiveLine) bool { return l.valid && l.tag == tag })
}

// share is the ways that compete with one way of a set, or that a tenant fills.
func (n *naive) share(hint uint64, tenant int) []naiveLine {
	set := n.set(hint)
	size := len(set) / max(1, n.g.Tenants)
	return set[tenant*size : (tenant+1)*size]
}

func (n *naive) touch(hint uint64, way int) {
	n.clock++
	line := &n.set(hint)[way]
	line.used = n.clock
	line.referenced = true
	line.distance = 0
	share := n.share(hint, way/len(n.share(hint, 0)))
	for _, l := range share {
		if !l.referenced {
			return
		}
	}
	for i := range share {
		share[i].referenced = &share[i] == line
	}
}

func (n *naive) fill(tenant int, hint, tag uint64) (way int, evicted uint64, ok bool) {
	if way = n.find(hint, tag); way >= 0 {
		n.touch(hint, way)
		return way, 0, false
	}
	share := n.share(hint, tenant)
	at := slices.IndexFunc(share, func(l naiveLine) bool { return !l.valid })
	if at < 0 {
		at = n.victim(share)
		evicted, ok = share[at].tag, true
	}
	share[at] = naiveLine{valid: true, tag: tag, born: n.clock}
	way = tenant*len(share) + at
	n.touch(hint, way)
	share[at].distance = 2
	return way, evicted, ok
}

func (n *naive) victim(set []naiveLine) int {
	if n.g.Policy == SRRIP {
		for {
			if i := slices.IndexFunc(set, func(l naiveLine) bool { return l.distance == 3 }); i >= 0 {
				return i
			}
			for i := range set {
				set[i].distance++
			}
		}
	}
	best := 0
	for i, l := range set {
		switch n.g.Policy {
		case LRU:
			if l.used < set[best].used {
				best = i
			}
		case FIFO:
			if l.born < set[best].born {
				best = i
			}
		case NRU:
			if !l.referenced {
				return i
			}
		}
	}
	return best
}

func geometries() *rapid.Generator[Geometry] {
	return rapid.Custom(func(t *rapid.T) Geometry {
		ways := rapid.SampledFrom([]int{1, 2, 3, 4, 7, 8, 16, 17, 64, 65, 130}).Draw(t, "ways")
		sets := 1 << rapid.IntRange(0, 3).Draw(t, "log sets")
		line := rapid.IntRange(1, MaxLine).Draw(t, "line")
		g := Geometry{Entries: ways * sets * line, Ways: ways, Line: line,
			Policy: rapid.SampledFrom([]Policy{LRU, FIFO, NRU, SRRIP}).Draw(t, "policy")}
		if sets == 1 && rapid.Bool().Draw(t, "full") {
			g.Ways = 0
		}
		if tenants := rapid.IntRange(0, 4).Draw(t, "tenants"); tenants > 0 && ways%tenants == 0 {
			g.Tenants = tenants
		}
		return g
	})
}

// Every answer equals the naive model's, slot for slot.
func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := geometries().Draw(t, "geometry")
		c, err := New(g)
		if err != nil {
			t.Fatal(err)
		}
		n := &naive{g: g, sets: make([][]naiveLine, c.sets)}
		for i := range n.sets {
			n.sets[i] = make([]naiveLine, c.ways)
		}
		draw := splitmix64{rapid.Uint64().Draw(t, "seed")}
		for range 4*c.Lines() + 100 {
			step(t, c, n, draw.below(c.tenants), uint64(draw.below(c.Lines()*3/2+2)), draw.below(1000))
		}
		live := 0
		for slot := range c.Lines() {
			tag, ok := c.Tag(slot)
			l := n.sets[slot/c.ways][slot%c.ways]
			if ok != l.valid || ok && tag != l.tag {
				t.Fatalf("slot %d holds %d,%v, want %d,%v", slot, tag, ok, l.tag, l.valid)
			}
			if ok {
				live++
			}
		}
		if n := lines(c); n != live {
			t.Fatalf("%d lines, want %d", n, live)
		}
	})
}

func step(t *rapid.T, c *Cache, n *naive, tenant int, tag uint64, what int) {
	base := int(tag%uint64(c.sets)) * c.ways
	way := n.find(tag, tag)
	switch {
	case what == 0:
		for slot := range c.All() {
			c.InvalidateSlot(slot)
		}
		for _, set := range n.sets {
			clear(set)
		}
	case what < 100:
		if got := c.Invalidate(tag, tag); got != (way >= 0) {
			t.Fatalf("Invalidate(%d) = %v", tag, got)
		}
		if way >= 0 {
			n.set(tag)[way] = naiveLine{}
		}
	case what < 200:
		if slot, hit := c.Peek(tag, tag); hit != (way >= 0) || hit && slot != base+way {
			t.Fatalf("Peek(%d) = %d,%v, want way %d of slot %d", tag, slot, hit, way, base)
		}
	case what < 400:
		if slot, hit := c.Lookup(tag, tag); hit != (way >= 0) || hit && slot != base+way {
			t.Fatalf("Lookup(%d) = %d,%v, want way %d of slot %d", tag, slot, hit, way, base)
		}
		if way >= 0 {
			n.touch(tag, way)
		}
	default:
		slot, e, ok := c.FillFor(uint32(tenant+c.tenants*int(tag%3)), tag, tag) // counts modulo
		nway, ne, nok := n.fill(tenant, tag, tag)
		if slot != base+nway || e != ne || ok != nok {
			t.Fatalf("Fill(%d) = %d,%d,%v, want %d,%d,%v", tag, slot, e, ok, base+nway, ne, nok)
		}
	}
}

// Whatever the policy: no duplicate, no lost line, victims from the right set.
func TestAnyPolicyKeepsItsLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := geometries().Draw(t, "geometry")
		g.Policy = rapid.SampledFrom([]Policy{TreePLRU, Random}).Draw(t, "policy")
		c, err := New(g)
		if err != nil {
			t.Fatal(err)
		}
		held, owner := map[uint64]bool{}, map[uint64]int{}
		draw := splitmix64{rapid.Uint64().Draw(t, "seed")}
		for range 4*c.Lines() + 100 {
			tag := uint64(draw.below(c.Lines() * 2))
			if draw.below(10) == 0 {
				if c.Invalidate(tag, tag) != held[tag] {
					t.Fatalf("Invalidate(%d) disagrees", tag)
				}
				delete(held, tag)
				continue
			}
			tenant := draw.below(c.tenants)
			slot, e, ok := c.FillFor(uint32(tenant), tag, tag)
			if !held[tag] {
				owner[tag] = tenant
			}
			if mine := slot % c.ways * c.tenants / c.ways; mine != owner[tag] || ok && owner[e] != tenant {
				t.Fatalf("Fill(%d) of tenant %d in a way of %d, evicted %d of %d", tag, tenant, mine, e, owner[e])
			}
			if ok && (!held[e] || held[tag] || e%uint64(c.sets) != tag%uint64(c.sets)) {
				t.Fatalf("Fill(%d) evicted %d", tag, e)
			}
			if ok {
				delete(held, e)
			}
			held[tag] = true
		}
		if n := lines(c); n != len(held) {
			t.Fatalf("%d lines, want %d", n, len(held))
		}
		for tag := range held {
			if _, hit := c.Peek(tag, tag); !hit {
				t.Fatalf("tag %d lost", tag)
			}
		}
	})
}
