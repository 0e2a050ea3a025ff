package tpt

import (
	"slices"

	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// oracle is what the tables hold after each command of the history, told from
// the commands alone: the region and its pages, each page's entry as the kernel
// means it.
type oracle struct{ states []tables }

type tables struct {
	free     bool // the region is invalidated
	suspends int  // of the region
	spans    []span
	pages    [rigPages]entry
}

type span struct{ first, end uint64 }

type entry struct {
	frame     model.PA // of a page that is there and usable
	here      bool     // perhaps without a frame that may be used
	write     bool
	moving    bool // zapped because it moves
	suspended int
}

func (o *oracle) reset() { o.states = []tables{{}} }

// execute appends the state after a command, and tells whether it is carried out.
func (o *oracle) execute(c *msg.Command) bool {
	s := o.states[len(o.states)-1]
	s.spans = slices.Clone(s.spans)
	ok := s.apply(c)
	o.states = append(o.states, s)
	return ok
}

func (s *tables) apply(c *msg.Command) bool {
	switch {
	case c.Op == msg.CmdResume:
	case c.Op == msg.CmdKey:
		free := c.Change.Op == msg.KeyInvalidate
		if s.free == free {
			return false
		}
		s.free = free
	case c.Whole:
		if c.Op == msg.CmdUnsuspend && s.suspends == 0 {
			return false
		}
		if s.suspends++; c.Op == msg.CmdUnsuspend {
			s.suspends -= 2
		}
	default:
		return s.applyEntries(c)
	}
	return true
}

func (s *tables) applyEntries(c *msg.Command) bool {
	at := span{c.Entry, c.Entry + uint64(c.Count)}
	switch c.Op {
	case msg.CmdSuspend:
		s.spans = append(s.spans, at)
	case msg.CmdUnsuspend:
		i := slices.Index(s.spans, at)
		if i < 0 {
			return false
		}
		s.spans = slices.Delete(s.spans, i, i+1)
	}
	for p := at.first; p < at.end; p++ {
		e := &s.pages[p]
		switch c.Op {
		case msg.CmdFill:
			*e = entry{frame: c.PA[0], here: true, write: c.Write, suspended: e.suspended}
		case msg.CmdInvalidate:
			*e = entry{moving: c.Moving && (e.here || e.moving), suspended: e.suspended}
		case msg.CmdProtect:
			e.write = false
		case msg.CmdSuspend:
			e.suspended++
			e.frame = 0
		case msg.CmdUnsuspend:
			if e.suspended--; e.suspended == 0 && e.frame == 0 {
				*e = entry{}
			}
		}
	}
	return true
}

// permits is what the key makes of a request in the state after i commands.
func (o *oracle) permits(i int, m *msg.Translate) msg.Outcome {
	switch s := &o.states[i]; {
	case m.Key&1 != 0 || s.free:
		return msg.OutcomeRemoteAccess
	case s.suspends > 0:
		return msg.OutcomeMoving
	}
	return msg.OutcomeOK
}

// translates is what the page's entry makes of it.
func (o *oracle) translates(i int, m *msg.Translate) (msg.Outcome, model.PA) {
	e := &o.states[i].pages[m.Page]
	switch {
	case e.here && e.suspended > 0, e.moving:
		return msg.OutcomeMoving, 0
	case !e.here || m.Write && !e.write:
		return msg.OutcomeAbsent, 0
	}
	return msg.OutcomeOK, e.frame
}

// drains tells whether the command, once acknowledged, has taken back what was
// given out to the request before.
func drains(c *msg.Command, m *msg.Translate) bool {
	inside := uint64(m.Page) >= c.Entry && uint64(m.Page) < c.Entry+uint64(c.Count)
	switch c.Op {
	case msg.CmdKey:
		return c.Change.Op == msg.KeyInvalidate
	case msg.CmdSuspend:
		return inside || c.Whole
	case msg.CmdInvalidate:
		return inside
	case msg.CmdProtect:
		return inside && m.Write
	}
	return false
}
