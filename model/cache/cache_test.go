package cache

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func mustNew(t testing.TB, g Geometry) *Cache {
	t.Helper()
	c, err := New(g)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGeometryErrors(t *testing.T) {
	for _, tc := range []struct {
		g    Geometry
		want string
	}{
		{Geometry{Entries: 0, Line: 1}, "at least one entry"},
		{Geometry{Entries: 64, Line: 0}, "must be 1 to 8"},
		{Geometry{Entries: 64, Line: 9}, "must be 1 to 8"},
		{Geometry{Entries: 64, Line: 1, Ways: -1}, "ways -1"},
		{Geometry{Entries: 64, Line: 1, Policy: 9}, "policy 9 does not exist"},
		{Geometry{Entries: 65, Line: 8}, "65 entries do not divide into lines of 8"},
		{Geometry{Entries: 64, Line: 1, Ways: 5}, "64 lines do not divide into sets of 5 ways"},
		{Geometry{Entries: 12, Line: 1, Ways: 2}, "make 6 sets: must be a power of two"},
		{Geometry{Entries: 1 << 31, Line: 1}, "at most 1073741824"},
		{Geometry{Entries: 64, Line: 1, Tenants: -1}, "tenants -1"},
		{Geometry{Entries: 64, Line: 1, Ways: 4, Tenants: 3}, "4 ways do not divide among 3 tenants"},
		{Geometry{Entries: 64, Line: 1, Tenants: 3}, "64 ways do not divide among 3 tenants"},
	} {
		_, err := New(tc.g)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v, want one with %q", tc.g, err, tc.want)
		}
	}
	for _, g := range []Geometry{
		{Entries: 24, Line: 2, Ways: 3}, {Entries: 48, Line: 8, Ways: 6},
		{Entries: 100, Line: 1}, {Entries: 7, Line: 7, Ways: 1},
	} {
		if c := mustNew(t, g); c.sets*c.ways != c.Lines() || c.Lines() != g.Entries/g.Line {
			t.Errorf("%+v: %d sets of %d ways, %d lines", g, c.sets, c.ways, c.Lines())
		}
	}
}

func TestPolicyNames(t *testing.T) {
	for p := range numPolicies {
		if got, err := ParsePolicy(p.String()); err != nil || got != p {
			t.Errorf("ParsePolicy(%q) = %v, %v", p.String(), got, err)
		}
	}
	if _, err := ParsePolicy("mru"); err == nil {
		t.Error("mru accepted")
	}
}

// access looks up and fills on a miss; it tells whether it hit.
func access(c *Cache, tag uint64) bool {
	_, hit := c.Lookup(tag, tag)
	if !hit {
		c.Fill(tag, tag)
	}
	return hit
}

// F20: an invalidated way is the first victim, and reusing it leaves the live
// line reachable.
func TestInvalidWayIsFirstVictim(t *testing.T) {
	const a, b, d = 10, 20, 30
	for _, p := range []Policy{LRU, FIFO, TreePLRU, NRU, Random, SRRIP} {
		c := mustNew(t, Geometry{Entries: 2, Line: 1, Policy: p})
		access(c, a)
		access(c, b)
		c.Invalidate(b, b)
		if _, _, evicted := c.Fill(d, d); evicted {
			t.Errorf("%v: a valid line was evicted though a way was free", p)
		}
		if !access(c, a) {
			t.Errorf("%v: live line lost", p)
		}
	}
	c := mustNew(t, Geometry{Entries: 2, Line: 1, Policy: LRU})
	var pattern []bool
	pattern = append(pattern, access(c, a), access(c, b), access(c, a))
	c.Invalidate(a, a)
	pattern = append(pattern, access(c, a), access(c, d), access(c, a))
	if want := []bool{false, false, true, false, false, true}; !slices.Equal(pattern, want) {
		t.Errorf("hits %v, want %v: misses A,B,A,C", pattern, want)
	}
	if lines(c) != 2 {
		t.Errorf("%d lines, want 2", lines(c))
	}
}

// lines counts the lines held.
func lines(c *Cache) (n int) {
	for range c.All() {
		n++
	}
	return n
}

// F9: tag 0 is not a hit on an empty slot.
func TestTagZeroMissesWhenEmpty(t *testing.T) {
	for _, g := range []Geometry{{Entries: 4, Line: 1, Ways: 4}, {Entries: 64, Line: 1}} {
		c := mustNew(t, g)
		if _, hit := c.Lookup(0, 0); hit {
			t.Errorf("%+v: hit in an empty cache", g)
		}
		c.Fill(0, 0)
		c.Invalidate(0, 0)
		if _, hit := c.Peek(0, 0); hit || lines(c) != 0 {
			t.Errorf("%+v: hit after Invalidate", g)
		}
	}
}

// Victim orders worked out by hand from the definitions in the package doc.
func TestVictimsByHand(t *testing.T) {
	for _, tc := range []struct {
		policy Policy
		ways   int
		use    []uint64 // accesses in order, tags 1… fill ways in order
		evict  uint64
	}{
		{LRU, 4, []uint64{1, 2, 3, 4, 1}, 2},
		{FIFO, 4, []uint64{1, 2, 3, 4, 1}, 1},
		// Root points left after 4 (right half); the left pair's bit points left after 2.
		{TreePLRU, 4, []uint64{1, 2, 3, 4}, 1},
		// 1 flips the root to the right half, whose bit points left after 4.
		{TreePLRU, 4, []uint64{1, 2, 3, 4, 1}, 3},
		// Three ways: the right half has one way only, 3.
		{TreePLRU, 3, []uint64{1, 2, 3, 2}, 3},
		{TreePLRU, 3, []uint64{1, 2, 3}, 1},
		// Filling way 3 would set the last bit: 1, 2, 3 become clear.
		{NRU, 4, []uint64{1, 2, 3, 4}, 1},
		{NRU, 4, []uint64{1, 2, 3, 4, 1, 2}, 3},
		{NRU, 1, []uint64{1}, 1},
		// All are at 2 and age to 3: the lowest goes.
		{SRRIP, 4, []uint64{1, 2, 3, 4}, 1},
		// 1 and 2 were hit: 0, 0, 2, 2. One ageing makes 3 distant.
		{SRRIP, 4, []uint64{1, 2, 3, 4, 1, 2}, 3},
		// 5 evicts 3 and is at 2, 4 at 3: a line that is scanned once leaves the hit ones alone.
		{SRRIP, 4, []uint64{1, 2, 3, 4, 1, 2, 5}, 4},
		// 0, 0, 0, 0: three ageings.
		{SRRIP, 4, []uint64{1, 2, 3, 4, 1, 2, 3, 4}, 1},
	} {
		c := mustNew(t, Geometry{Entries: tc.ways, Line: 1, Policy: tc.policy})
		for _, tag := range tc.use {
			access(c, tag)
		}
		_, got, evicted := c.Fill(99, 99)
		if !evicted || got != tc.evict {
			t.Errorf("%v, %d ways, after %v: evicted %d, want %d", tc.policy, tc.ways, tc.use, got, tc.evict)
		}
	}
}

// A tenant's scan of any length costs another nothing: hits anywhere, fills at home.
func TestTenantsKeepTheirWays(t *testing.T) {
	for _, g := range []Geometry{{Entries: 64, Line: 1, Ways: 4, Tenants: 2}, {Entries: 64, Line: 1, Tenants: 4}} {
		for p := range numPolicies {
			g.Policy = p
			c := mustNew(t, g)
			own := uint64(g.Entries / g.Tenants)
			for tag := range own {
				c.FillFor(0, tag, tag)
			}
			for tag := range uint64(1000) {
				c.FillFor(1, own+tag, own+tag)
			}
			for tag := range own {
				if _, hit := c.Lookup(tag, tag); !hit {
					t.Fatalf("%v, %d tenants: line %d of tenant 0 was evicted by tenant 1", p, g.Tenants, tag)
				}
			}
			slot, _ := c.Peek(0, 0)
			if again, _, evicted := c.FillFor(1, 0, 0); again != slot || evicted {
				t.Errorf("%v: a line that another tenant holds moved from slot %d to %d", p, slot, again)
			}
		}
	}
}

// The random stream is the published splitmix64: seed 0 starts with the first
// output of the reference code.
func TestSplitmix64(t *testing.T) {
	s := splitmix64{}
	if got := s.next(); got != 0xE220A8397B1DCDAF {
		t.Errorf("first output %#x", got)
	}
	counts := make([]int, 5)
	r := newStream(1, "test")
	for range 50_000 {
		counts[r.below(5)]++
	}
	for i, n := range counts {
		if n < 9_500 || n > 10_500 { // 5.6 standard deviations of 89
			t.Errorf("way %d drawn %d times of 50000", i, n)
		}
	}
}

func TestRandomIsSeededAndNamed(t *testing.T) {
	evictions := func(g Geometry) (out []uint64) {
		c := mustNew(t, g)
		for tag := range uint64(200) {
			if _, e, ok := c.Fill(0, tag); ok {
				out = append(out, e)
			}
		}
		return out
	}
	g := Geometry{Entries: 8, Line: 1, Policy: Random, Seed: 1, Stream: "mtt"}
	other := g
	other.Stream = "mpt"
	if !slices.Equal(evictions(g), evictions(g)) {
		t.Error("one seed, two results")
	}
	if slices.Equal(evictions(g), evictions(other)) {
		t.Error("two streams draw alike")
	}
}

// A range is dropped by walking the slots; the rest stays.
func TestInvalidateWhileIterating(t *testing.T) {
	c := mustNew(t, Geometry{Entries: 64, Line: 1})
	for tag := range uint64(64) {
		c.Fill(0, tag)
	}
	last := -1
	for slot, tag := range c.All() {
		if slot <= last {
			t.Fatalf("slot %d after %d", slot, last)
		}
		last = slot
		if tag >= 10 && tag < 30 && !c.InvalidateSlot(slot) {
			t.Fatalf("slot %d held nothing", slot)
		}
	}
	if lines(c) != 44 || c.InvalidateSlot(-1) || c.InvalidateSlot(64) {
		t.Errorf("%d lines left, want 44", lines(c))
	}
	if _, hit := c.Peek(0, 29); hit {
		t.Error("tag 29 survived")
	}
}

func TestNoAllocation(t *testing.T) {
	for _, g := range []Geometry{{Entries: 64, Line: 1, Ways: 4}, {Entries: 4096, Line: 1}} {
		c := mustNew(t, g)
		tag := uint64(0)
		n := testing.AllocsPerRun(1000, func() {
			tag += 7
			access(c, tag%9999)
		})
		if n != 0 {
			t.Errorf("%+v: %v allocations an access", g, n)
		}
	}
}

func BenchmarkAccess(b *testing.B) {
	for _, p := range []Policy{LRU, FIFO, TreePLRU, NRU, Random, SRRIP} {
		for _, g := range []Geometry{
			{Entries: 1024, Ways: 4, Line: 1}, {Entries: 4096, Line: 1}, {Entries: 1 << 20, Line: 1},
		} {
			g.Policy = p
			for _, hits := range []uint64{90, 0} {
				b.Run(fmt.Sprintf("%v/ways=%d/entries=%d/hits=%d%%", p, g.Ways, g.Entries, hits), func(b *testing.B) {
					c := mustNew(b, g)
					r := newStream(1, "benchmark")
					span := int(float64(g.Entries) * 100 / float64(max(hits, 1)))
					for b.Loop() {
						access(c, uint64(r.below(span)))
					}
				})
			}
		}
	}
}
