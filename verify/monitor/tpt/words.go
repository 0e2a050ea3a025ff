package tpt

import (
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// word is an entry of the golden translation table.
type word struct {
	pa             model.PA
	present, write bool
	shut           bool // its region was suspended for it, and it goes before that opens
	suspends       uint16
}

func (m *Monitor) setWord(entry uint64, pa model.PA, present, write bool) {
	w := m.words.At(entry)
	if f := m.config.Frames; f != nil && w.present && !w.shut {
		f.Leave(m.config.Adapter, w.pa)
	}
	w.pa, w.present, w.write, w.shut = pa, present, write, false
	if f := m.config.Frames; f != nil && present {
		f.Reach(m.config.Adapter, pa)
	}
}

// shut tells that entries for which their region was suspended lead nowhere.
func (m *Monitor) shut(first, last uint64) {
	m.words.Each(first, last, func(_ uint64, w *word) {
		if f := m.config.Frames; f != nil && w.present && !w.shut {
			f.Leave(m.config.Adapter, w.pa)
			w.shut = true
		}
	})
}

// changeWords makes a completed change of the translation table.
func (m *Monitor) changeWords(c *command) {
	first, last := c.entry, c.entry+uint64(max(1, c.count))-1
	switch c.op {
	case msg.CmdFill:
		for j, pa := range c.p.PA {
			if pa != msg.KeepEntry {
				m.setWord(first+uint64(j), pa, true, c.write)
			}
		}
	case msg.CmdInvalidate:
		m.words.Each(first, last, func(i uint64, w *word) {
			if w.present {
				m.setWord(i, 0, false, false)
			}
		})
	case msg.CmdProtect:
		m.words.Each(first, last, func(_ uint64, w *word) { w.write = false })
	case msg.CmdSuspend:
		for i := first; i <= last; i++ {
			m.setWord(i, 0, false, false)
			m.words.At(i).suspends++
		}
	case msg.CmdUnsuspend:
		for i := first; i <= last; i++ {
			if w := m.words.At(i); w.suspends > 0 {
				w.suspends--
			}
		}
	}
}
