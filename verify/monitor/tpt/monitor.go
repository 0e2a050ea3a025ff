// Package tpt watches a translation unit at its ports.
//
//	           Translate ▶          ◀ Translation          ▶ Release
//	responder ────────────────────────────────────────────────────────▶ unit
//	    │ DMA of data                       DMA: reads, CQE, EQE │ ▲ Doorbell: commands
//	    ▼                                                        ▼ │
//
// It keeps a golden protection table and a golden translation table, which only
// completed commands change, and looks at each answer. What a command that is
// under way may have changed already may be as before or as after it.
package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/tpt"
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
	"rnicmmu/verify/monitor/ats"
	"rnicmmu/verify/monitor/dense"
	"rnicmmu/verify/monitor/host"
	"rnicmmu/verify/rule"
)

// Config says what is watched.
type Config struct {
	Adapter int
	Mode    tpt.Mode
	Shift   model.PageShift // of the adapter's page
	Leaves  model.PA        // of the table's first entry
	Entries uint64          // of the table
	Line    int             // entries read together
	Cache   cache.Geometry  // of the first level of the translation cache
	Exact   bool            // which has no other level, and no prefetch
	HangAt  clocked.Time    // 0: the unit does not stop by design
	Frames  *host.Frames    // told what the table lets the adapter reach; nil: nobody
	ATC     *ats.Device     // judges what an ATC gives out
}

// Monitor watches one unit.
type Monitor struct {
	config   Config
	log      *rule.Log
	excused  bool   // the adapter was cut off, or stopped by itself
	seq      uint64 // of what was seen
	keys     []region
	words    dense.Table[word]
	asks     []ask
	ring     []uint32 // queue pairs of the backup ring that wait
	given    []given  // by handle
	live     []uint32 // handles given out
	uses     dense.Table[use]
	commands []command // under way, the oldest first
	kills    []uint32  // keys that peers' SENDs are killing
	walks    [2][]walk // by miss register: of keys, of translations
	sets     sets
	faults   []uint8 // by queue pair: classes
	tokens   []token // by place
}

// New watches a unit that has not begun to run.
func New(config Config, log *rule.Log) *Monitor {
	m := &Monitor{config: config, log: log}
	m.sets.build(config.Cache, config.Exact && config.Mode == tpt.Table)
	return m
}

// Register tells of a region that was registered before the run.
func (m *Monitor) Register(r *key.Region) {
	*dense.Slot(&m.keys, uint64(r.Key.Index())) = regionOf(r)
}

// Program tells of an entry that was written before the run.
func (m *Monitor) Program(entry uint64, pa model.PA, write bool) { m.setWord(entry, pa, true, write) }

// CutOff tells that the kernel has given the adapter up.
func (m *Monitor) CutOff() { m.excused = true }

// hung tells whether the unit executes no commands any more, by design.
func (m *Monitor) hung(now clocked.Time) bool {
	return m.excused || m.config.HangAt > 0 && now >= m.config.HangAt
}

// Finish reports what is due at rest.
func (m *Monitor) Finish(now clocked.Time, rest bool) {
	if !rest || m.hung(now) {
		return
	}
	for qp := range m.asks {
		if a := &m.asks[qp]; a.live {
			m.log.Report(Answered, now, "adapter %d: queue pair %d has no answer for %#x", m.config.Adapter, qp, uint64(a.va))
		}
	}
	for i := range m.commands {
		m.log.Report(Acknowledged, now, "adapter %d: command %d at entry %d has no completion", m.config.Adapter, m.commands[i].op, m.commands[i].entry)
	}
	for i := range m.tokens {
		if t := &m.tokens[i]; t.live {
			m.log.Report(Resolved, now, "adapter %d: fault %d of queue pair %d has no end", m.config.Adapter, i, t.qp)
		}
	}
}

// lineOf is the line of an entry.
func (m *Monitor) lineOf(entry uint64) uint64 {
	line, _ := mtt.Line(entry, m.config.Line)
	return line
}

// DMA sees what the unit asks of its endpoint.
func (m *Monitor) DMA(now clocked.Time, d *msg.DMA) {
	switch d.Kind {
	case msg.KindMPT, msg.KindMTT, msg.KindATS:
		if !d.Write {
			m.readSent(now, d)
		}
	case msg.KindCQE:
		if c, ok := d.Body.(*msg.Command); ok {
			m.completed(now, c)
		}
	case msg.KindEQE:
		if e, ok := d.Body.(*msg.Event); ok {
			m.event(now, e)
		}
	}
}
