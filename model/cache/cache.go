package cache

import "iter"

// scanWays is the most ways that are searched by comparing them all. Above it
// the hash index is faster.
const scanWays = 16

// Cache is a tag store. It is not safe for concurrent use.
//
// The ways of a set that one tenant fills are a group: invalid ways and
// replacement are kept by group. Without a partition, group and set are one.
type Cache struct {
	sets    int
	ways    int // a set
	share   int // ways of a group
	tenants int
	setMask uint64
	tags    []uint64 // by slot
	invalid bitmap   // by group: ways that hold no line
	indexed bool
	index   index // used when indexed
	policy  replacement
}

// New makes an empty cache, or tells why the geometry is impossible.
func New(g Geometry) (*Cache, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	lines, ways, tenants := g.Lines(), g.ways(), g.tenants()
	sets := lines / ways
	groups, share := sets*tenants, ways/tenants
	c := &Cache{
		sets: sets, ways: ways, share: share, tenants: tenants, setMask: uint64(sets - 1),
		tags: make([]uint64, lines), invalid: newBitmap(groups, share),
		indexed: ways > scanWays, policy: newReplacement(g, groups, share),
	}
	if c.indexed {
		c.index = newIndex(lines)
	}
	for i := range groups {
		c.invalid.setAll(i)
	}
	return c, nil
}

// Lines is the number of slots.
func (c *Cache) Lines() int { return len(c.tags) }

func (c *Cache) setOfSlot(slot int) int {
	if c.sets == 1 {
		return 0
	}
	return slot / c.ways
}

// groupOf is the group of a slot in a set.
func (c *Cache) groupOf(set, slot int) int {
	if c.tenants == 1 {
		return set
	}
	return slot / c.share
}

// holds tells whether a slot of a set holds a line.
func (c *Cache) holds(set, slot int) bool {
	group := c.groupOf(set, slot)
	return !c.invalid.has(group, slot-group*c.share)
}

// locate is the slot of a present tag or -1; cell is its place in the index.
func (c *Cache) locate(set int, tag uint64) (slot int, cell uint64) {
	if c.indexed {
		return c.find(set, tag)
	}
	first := set * c.ways
	for w, t := range c.tags[first : first+c.ways] {
		if t == tag && c.holds(set, first+w) {
			return first + w, 0
		}
	}
	return -1, 0
}

// Lookup finds a tag and, on a hit, tells the replacement policy of the use.
// The slot is meaningful only on a hit.
func (c *Cache) Lookup(setHint, tag uint64) (slot int, hit bool) {
	set := int(setHint & c.setMask)
	slot, _ = c.locate(set, tag)
	if slot < 0 {
		return 0, false
	}
	c.policy.touch(c.groupOf(set, slot), slot)
	return slot, true
}

// Peek finds a tag and leaves the replacement state as it is.
func (c *Cache) Peek(setHint, tag uint64) (slot int, hit bool) {
	slot, _ = c.locate(int(setHint&c.setMask), tag)
	return max(slot, 0), slot >= 0
}

// Fill puts a tag into its set and returns its slot. A tag already present is
// refreshed where it is, as by a Lookup. Otherwise the lowest invalid way is
// taken, and if there is none the policy's victim is evicted and named. In a
// partitioned cache it fills for tenant 0.
func (c *Cache) Fill(setHint, tag uint64) (slot int, evictedTag uint64, evicted bool) {
	return c.FillFor(0, setHint, tag)
}

// FillFor is Fill into the ways of one tenant, whose number counts modulo
// Geometry.Tenants: only its own lines make room. A tag that another tenant
// brought in is refreshed where it is.
func (c *Cache) FillFor(tenant uint32, setHint, tag uint64) (slot int, evictedTag uint64, evicted bool) {
	set := int(setHint & c.setMask)
	if slot, _ = c.locate(set, tag); slot >= 0 {
		c.policy.touch(c.groupOf(set, slot), slot)
		return slot, 0, false
	}
	group := set
	if c.tenants > 1 {
		group = set*c.tenants + int(tenant)%c.tenants
	}
	if way := c.invalid.first(group); way >= 0 {
		slot = group*c.share + way
	} else {
		slot = c.policy.victim(group)
		evictedTag, evicted = c.tags[slot], true
		_, cell := c.locate(set, evictedTag)
		c.drop(group, slot, cell)
	}
	c.tags[slot] = tag
	c.invalid.clear(group, slot-group*c.share)
	if c.indexed {
		c.indexInsert(set, tag, slot)
	}
	c.policy.filled(group, slot)
	return slot, evictedTag, evicted
}

func (c *Cache) drop(group, slot int, cell uint64) {
	if c.indexed {
		c.indexRemove(cell)
	}
	c.invalid.set(group, slot-group*c.share)
	c.policy.removed(group, slot)
}

// Invalidate drops a tag and tells whether it was present. The order of the
// other lines is kept.
func (c *Cache) Invalidate(setHint, tag uint64) bool {
	set := int(setHint & c.setMask)
	slot, cell := c.locate(set, tag)
	if slot < 0 {
		return false
	}
	c.drop(c.groupOf(set, slot), slot, cell)
	return true
}

// InvalidateSlot drops the line in a slot and tells whether there was one; a
// slot out of range holds none.
func (c *Cache) InvalidateSlot(slot int) bool {
	tag, ok := c.Tag(slot)
	if !ok {
		return false
	}
	set := c.setOfSlot(slot)
	_, cell := c.locate(set, tag)
	c.drop(c.groupOf(set, slot), slot, cell)
	return true
}

// Tag is the tag held in a slot; ok is false where there is none.
func (c *Cache) Tag(slot int) (tag uint64, ok bool) {
	if slot < 0 || slot >= len(c.tags) {
		return 0, false
	}
	return c.tags[slot], c.holds(c.setOfSlot(slot), slot)
}

// All yields slot and tag of every line in slot order. The line just yielded
// may be invalidated on the way, which is how a range is dropped.
func (c *Cache) All() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for slot := range c.tags {
			if tag, ok := c.Tag(slot); ok && !yield(slot, tag) {
				return
			}
		}
	}
}
