package tpt

import (
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// word is an entry of the golden translation table.
type word struct {
	pa             model.PA
	present, write bool
	suspends       uint16
}

func (m *Monitor) setWord(entry uint64, pa model.PA, present, write bool) {
	w := m.words.At(entry)
	if f := m.config.Frames; f != nil && w.present {
		f.Leave(m.config.Adapter, w.pa)
	}
	w.pa, w.present, w.write = pa, present, write
	if f := m.config.Frames; f != nil && present {
		f.Reach(m.config.Adapter, pa)
	}
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
