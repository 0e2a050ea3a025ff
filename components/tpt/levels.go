package tpt

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/model/cache"
	"rnicmmu/model/mtt"
)

// levels is a cache of table entries of one level, the embedded one, or two.
// The second holds everything that the first holds: what it evicts leaves the
// first too, and what a command touches leaves both.
type levels struct {
	*cache.Cache
	second  *cache.Cache // nil: none; its sets come from the tag
	latency clocked.Time // of a look-up in the second
	due     clocked.FIFO[timed]

	line       int // words of a line; 0 where the caller knows what a line holds
	words      []mtt.Word
	words2     []mtt.Word
	prefetched []bool // by slot of the first: a prefetch brought it and no request used it yet

	stats, stats2 *CacheStats
}

// newLevels makes a cache whose lines hold the given number of words.
func newLevels(first, second cache.Geometry, latency clocked.Time, line int, stats, stats2 *CacheStats) (*levels, error) {
	l := &levels{latency: latency, line: line, stats: stats, stats2: stats2}
	var err error
	if l.Cache, err = cache.New(first); err != nil {
		return nil, err
	}
	l.words = make([]mtt.Word, l.Lines()*line)
	l.prefetched = make([]bool, l.Lines())
	if second.Entries == 0 {
		return l, nil
	}
	if l.second, err = cache.New(second); err != nil {
		return nil, fmt.Errorf("l2: %w", err)
	}
	l.words2 = make([]mtt.Word, l.second.Lines()*line)
	return l, nil
}

// at is the words of a slot of the first level.
func (l *levels) at(slot int) []mtt.Word { return l.words[slot*l.line : (slot+1)*l.line] }

// at2 is the words of a slot of the second level.
func (l *levels) at2(slot int) []mtt.Word { return l.words2[slot*l.line : (slot+1)*l.line] }

// fill brings a line into every level, for a tenant.
func (l *levels) fill(tenant uint32, set, tag uint64, words []mtt.Word, prefetched bool) {
	if l.second != nil {
		slot, gone, evicted := l.second.FillFor(tenant, tag, tag)
		copy(l.at2(slot), words)
		l.stats2.Fills++
		if evicted {
			l.stats2.Evictions++
			if l.Cache.Invalidate(gone, gone) {
				l.stats.Evictions++
			}
		}
	}
	l.fillFirst(tenant, set, tag, words, prefetched)
}

// fillFirst brings a line into the first level.
func (l *levels) fillFirst(tenant uint32, set, tag uint64, words []mtt.Word, prefetched bool) {
	slot, _, evicted := l.FillFor(tenant, set, tag)
	copy(l.at(slot), words)
	l.prefetched[slot] = prefetched
	l.stats.Fills++
	if evicted {
		l.stats.Evictions++
	}
}

// Invalidate drops a line whose set comes from its tag from every level.
func (l *levels) Invalidate(tag uint64) {
	l.Cache.Invalidate(tag, tag)
	if l.second != nil {
		l.second.Invalidate(tag, tag)
	}
}

// dropRange drops the lines first … last from every level.
func (l *levels) dropRange(first, last uint64) {
	for _, c := range []*cache.Cache{l.Cache, l.second} {
		if c == nil {
			continue
		}
		for slot, tag := range c.All() {
			if tag >= first && tag <= last {
				c.InvalidateSlot(slot)
			}
		}
	}
}

// countSecond books a look-up in the second level.
func (l *levels) countSecond(fresh, hit bool) {
	s := l.stats2
	switch {
	case !fresh:
		s.Replays++
	case hit:
		s.Lookups++
		s.Hits++
	default:
		s.Lookups++
		s.Misses++
		s.Walks++
	}
}

// ask looks in the second level for a miss register, which the cookie names.
func (u *Unit) ask(now clocked.Time, l *levels, c uint64) {
	at := u.clock.Edge(now + l.latency)
	*l.due.Push() = timed{at: at, cookie: c}
	u.engine.Wake(u.id, at)
}

// tenant counts for a partitioned cache, or is nil.
func (u *Unit) tenant(qp uint32) *TenantStats {
	if u.tenants == 0 {
		return nil
	}
	return &u.Stats.Tenants[qp%u.tenants]
}
