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
}

// entry is a table entry; one that was never filled, or is zapped, is not open.
type entry struct {
	page    model.PA // adapter page
	open    bool
	write   bool
	closing bool // an invalidation that came behind its fill is not complete
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
	*x = entry{page: pa >> a.shift, open: true, write: write}
	a.count(x, 1)
}

func (a *adapter) count(x *entry, n int32) {
	p := a.permits[x.page]
	p.open += n
	if x.write {
		p.writable += n
	}
	if x.closing {
		p.closing += n
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
		a.closing(c)
	}
}

// closing marks what an invalidation will take away.
func (a *adapter) closing(c *msg.Command) {
	for i := range uint64(c.Count) {
		if x := a.at(c.Entry + i); x.open && !x.closing {
			a.count(x, -1)
			x.closing = true
			a.count(x, 1)
		}
	}
}

// completed: the completion entry of a command comes to memory. What was filled
// behind an invalidation stays.
func (a *adapter) completed(c *msg.Command) {
	switch c.Op {
	case msg.CmdInvalidate, msg.CmdSuspend: // of a suspended region these entries go before it opens
		for i := range uint64(c.Count) {
			if x := a.at(c.Entry + i); x.closing {
				a.close(x)
			}
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
