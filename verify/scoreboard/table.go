package scoreboard

import (
	"rnicmmu/components/msg"
	"rnicmmu/components/tpt"
	"rnicmmu/model"
	"rnicmmu/platform"
)

// adapter is what the kernel's commands make of an adapter's translation table.
type adapter struct {
	table   bool // it has one
	direct  bool // and that holds addresses of memory, not of a DMA domain
	dead    bool // the kernel has cut it off
	shift   model.PageShift
	entries []entry
	permits map[model.PA]permit // by adapter page
	fills   uint64
}

// entry is a table entry; one that was never filled, or is zapped, is not open.
type entry struct {
	page   model.PA // adapter page
	open   bool
	write  bool
	filled uint64 // its fill, counted from 1
}

// permit counts the entries that let a page be used.
type permit struct{ open, writable, closing int32 }

func (a *adapter) init(s *platform.Spec) {
	mode, _ := s.Mode()
	a.table, a.direct, a.shift = mode == tpt.Table, !s.Behind(), s.TPT.PageShift()
	a.permits = map[model.PA]permit{}
}

func (a *adapter) at(e uint64) *entry {
	for uint64(len(a.entries)) <= e {
		a.entries = append(a.entries, entry{})
	}
	return &a.entries[e]
}

// set fills an entry.
func (a *adapter) set(e uint64, pa model.PA, write bool) {
	x := a.at(e)
	a.close(x)
	a.fills++
	*x = entry{page: pa >> a.shift, open: true, write: write, filled: a.fills}
	a.count(x, 1)
}

func (a *adapter) count(x *entry, n int32) {
	p := a.permits[x.page]
	p.open += n
	if x.write {
		p.writable += n
	}
	if p == (permit{}) {
		delete(a.permits, x.page)
	} else {
		a.permits[x.page] = p
	}
}

// close takes an entry's permission away.
func (a *adapter) close(x *entry) {
	if x.open {
		a.count(x, -1)
		x.open = false
	}
}

// told: the kernel sends a command.
func (a *adapter) told(c *msg.Command) {
	if !a.table {
		return
	}
	switch c.Op {
	case msg.CmdFill:
		for i, pa := range c.PA {
			if pa != msg.KeepEntry {
				a.set(c.Entry+uint64(i), pa, c.Write)
			}
		}
	case msg.CmdInvalidate, msg.CmdSuspend:
		a.closing(c, 1)
	}
}

// closing marks what an invalidation will take away as in a race, or no more.
func (a *adapter) closing(c *msg.Command, n int32) {
	for i := range uint64(c.Count) {
		x := a.at(c.Entry + i)
		if p, known := a.permits[x.page]; x.open && known {
			p.closing += n
			a.permits[x.page] = p
		}
	}
}

// completed: the completion entry of a command comes to memory.
func (a *adapter) completed(c *msg.Command) {
	switch c.Op {
	case msg.CmdInvalidate, msg.CmdSuspend: // of a suspended region these entries go before it opens
		a.closing(c, -1)
		for i := range uint64(c.Count) {
			a.close(a.at(c.Entry + i))
		}
	case msg.CmdProtect:
		for i := range uint64(c.Count) {
			if x := a.at(c.Entry + i); x.open && x.write {
				a.count(x, -1)
				x.write = false
				a.count(x, 1)
			}
		}
	}
}

// mayUse tells whether an adapter may use any part of memory [pa, pa+n).
func (a *adapter) mayUse(pa model.PA, n uint64) bool {
	for p := pa >> a.shift; p <= (pa+model.PA(n)-1)>>a.shift; p++ {
		if a.permits[p].open > 0 {
			return true
		}
	}
	return false
}
