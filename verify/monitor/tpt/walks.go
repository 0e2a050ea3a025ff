package tpt

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/tpt"
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/verify/monitor/dense"
)

// walk is a table read under way, by miss register.
type walk struct {
	live, leaf, spoilt bool
	kind               msg.Kind
	at                 model.PA
	line               uint64
}

func walksOf(k msg.Kind) int {
	if k == msg.KindMPT {
		return 0
	}
	return 1
}

// leaf is the line that a read of the translation table brings.
func (m *Monitor) leaf(d *msg.DMA) (line uint64, ok bool) {
	if d.Kind != msg.KindMTT || d.PA < m.config.Leaves || m.config.Mode != tpt.Table {
		return 0, false
	}
	const chunk = 512 // entries; the table's directories begin behind its last chunk
	entry := uint64(d.PA-m.config.Leaves) / 8
	return m.lineOf(entry), entry < (m.config.Entries+chunk-1)/chunk*chunk
}

// readSent sees a read of a table, or a translation request, leave the unit.
func (m *Monitor) readSent(now clocked.Time, d *msg.DMA) {
	m.seq++
	list := &m.walks[walksOf(d.Kind)]
	w := dense.Slot(list, d.Cookie&(1<<32-1))
	line, leaf := m.leaf(d)
	if d.Kind != msg.KindMTT || leaf {
		for i := range *list {
			if o := &(*list)[i]; o.live && o.at == d.PA && o.kind == d.Kind && (o.leaf || d.Kind != msg.KindMTT) {
				m.log.Report(OneWalk, now, "adapter %d: a second read of %#x while one is under way", m.config.Adapter, uint64(d.PA))
			}
		}
	}
	*w = walk{live: true, leaf: leaf, kind: d.Kind, at: d.PA, line: line}
	if leaf && m.sets.on {
		m.mustMiss(now, w)
	}
}

// mustMiss judges a walk by what must be cached.
func (m *Monitor) mustMiss(now clocked.Time, w *walk) {
	first := w.line * uint64(m.config.Line)
	for i := range m.commands {
		c := &m.commands[i]
		w.spoilt = w.spoilt || c.op == msg.CmdKey || c.whole ||
			c.op != msg.CmdResume && m.lineOf(c.entry) <= w.line && m.lineOf(c.entry+uint64(max(1, c.count))-1) >= w.line
	}
	w.spoilt = w.spoilt || len(m.kills) > 0
	whole := true
	for j := range uint64(m.config.Line) {
		e := m.words.Get(first + j)
		whole = whole && e != nil && e.present && e.suspends == 0
	}
	if !whole {
		w.spoilt = true
	}
	if m.sets.holds(w.line) && !w.spoilt {
		m.log.Report(Found, now, "adapter %d: line %d is read again, and must be cached", m.config.Adapter, w.line)
	}
}

// ReadDone sees the unit take the answer of a read.
func (m *Monitor) ReadDone(_ clocked.Time, d *msg.DMADone) {
	m.seq++
	if d.Kind != msg.KindMPT && d.Kind != msg.KindMTT && d.Kind != msg.KindATS {
		return
	}
	list := m.walks[walksOf(d.Kind)]
	n := d.Cookie & (1<<32 - 1)
	if n >= uint64(len(list)) {
		return
	}
	w := &list[n]
	if w.live && w.leaf && d.Status == msg.StatusSuccess && m.sets.on {
		m.sets.filled(w.line, m.seq, !w.spoilt)
	}
	w.live = false
}

// spoil tells that a command may drop lines.
func (m *Monitor) spoil(first, last uint64) {
	for i := range m.walks[1] {
		if w := &m.walks[1][i]; w.live && w.line >= first && w.line <= last {
			w.spoilt = true
		}
	}
	m.sets.drop(first, last)
}

// taint tells that a change of a region may drop lines of its pages.
func (m *Monitor) taint(r *region) {
	if r == nil || !m.sets.on {
		return
	}
	first, last := m.pages(r)
	m.spoil(m.lineOf(first), m.lineOf(last))
}

// maxWays bounds the sets that are followed.
const maxWays = 16

// used notes that a request was answered from an entry, some time after it was
// accepted.
func (m *Monitor) used(entry, accepted uint64) {
	if m.sets.on && accepted != ^uint64(0) {
		m.sets.maybe(m.lineOf(entry), m.seq)
		m.sets.surely(m.lineOf(entry), accepted)
	}
}

// sets follow which lines a cache with replacement by last use must hold. When
// a line was used for sure and when perhaps are kept apart: it must be there
// while fewer others were perhaps used behind its last sure use than there are
// ways.
type sets struct {
	on   bool
	ways int
	mask uint64
	all  []set
}

type set struct {
	n     int
	lines [maxWays + 1]line
}

type line struct {
	number      uint64
	sure, maybe uint64 // seq of the last use
	there       bool
}

func (s *sets) build(g cache.Geometry, on bool) {
	if !on || g.Policy != cache.LRU || g.Tenants > 1 || g.Line == 0 || g.Ways < 1 || g.Ways > maxWays {
		return
	}
	n := g.Entries / g.Line / g.Ways
	if n < 1 || bits.OnesCount(uint(n)) != 1 {
		return
	}
	*s = sets{on: true, ways: g.Ways, mask: uint64(n) - 1, all: make([]set, n)}
}

// at is a line's place in its set; make takes the place of the line whose last
// use, sure or not, is oldest.
func (s *sets) at(number uint64, make bool) *line {
	t := &s.all[number&s.mask]
	oldest := 0
	for i := range t.lines[:t.n] {
		if t.lines[i].number == number {
			return &t.lines[i]
		}
		if t.lines[i].maybe < t.lines[oldest].maybe {
			oldest = i
		}
	}
	switch {
	case !make:
		return nil
	case t.n <= s.ways:
		oldest = t.n
		t.n++
	}
	t.lines[oldest] = line{number: number}
	return &t.lines[oldest]
}

// maybe notes that a line was perhaps used.
func (s *sets) maybe(number, seq uint64) { s.at(number, true).maybe = seq }

// surely notes that a line was used at or behind seq.
func (s *sets) surely(number, seq uint64) {
	if l := s.at(number, false); l != nil && l.there {
		l.sure = max(l.sure, seq)
	}
}

// filled notes that a line was brought in.
func (s *sets) filled(number, seq uint64, sure bool) {
	l := s.at(number, true)
	l.maybe = seq
	if l.there = sure; sure {
		l.sure = seq
	}
}

// holds tells whether a line must be there.
func (s *sets) holds(number uint64) bool {
	l := s.at(number, false)
	if l == nil || !l.there {
		return false
	}
	t := &s.all[number&s.mask]
	behind := 0
	for i := range t.lines[:t.n] {
		if o := &t.lines[i]; o.number != number && o.maybe > l.sure {
			behind++
		}
	}
	return behind < s.ways
}

// drop notes that lines went.
func (s *sets) drop(first, last uint64) {
	if !s.on {
		return
	}
	if last-first >= uint64(len(s.all)) {
		for i := range s.all {
			for j := range s.all[i].lines[:s.all[i].n] {
				if l := &s.all[i].lines[j]; l.number >= first && l.number <= last {
					l.there = false
				}
			}
		}
		return
	}
	for n := first; n <= last; n++ {
		if l := s.at(n, false); l != nil {
			l.there = false
		}
	}
}
