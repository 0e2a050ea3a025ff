package protocol

import "fmt"

// step follows one step of the trace: what the environment does is a line of the
// timeline, what is seen on a link is a moment for the next line.
func (x *saver) step(e Event) {
	switch e.Kind {
	case Access:
		x.access(e)
	case Evict, Move, Protect:
		x.change(e)
	case Walked, TranslationArrived:
		x.found(e)
	case FaultArrived:
		x.sight(x.event, e.Adapter)
		x.last += intoCheck
		x.faults++
	case Lookup, Update:
		x.noted[e.Token] = e.Kind == Lookup
	case FillExecuted:
		x.sight("fill-done", e.Adapter)
		x.mapped[e.Page] |= 1 << e.Adapter
	case ResumeExecuted, PageResponseArrived:
		x.sight(x.done, e.Adapter)
	case ZapExecuted, ProtectExecuted, SuspendExecuted:
		x.taken(e)
	case AckArrived, CompletionArrived:
		x.acknowledged(e)
	case Returned:
		x.uses[e.Token].open = false
	case DMAArrived:
		x.placed(e)
	case Hold, Release:
		x.alone = "nobody suspends a page for a while there"
	case TimedOut, CutOff:
		x.alone = "a time-out there is longer than the run"
	}
}

// when is how a line of the timeline begins.
func (x *saver) when() string {
	if x.last == "" {
		return "at 0us"
	}
	return "after " + x.last
}

func (x *saver) access(e Event) {
	verb, offset := "read", x.accesses*64
	if e.Write {
		verb = "write"
	}
	name := fmt.Sprintf("a%d", x.accesses)
	x.timeline = append(x.timeline, fmt.Sprintf("%s %s: %s m%d offset=%dB length=8B adapter=%d qp=%d", x.when(), name, verb, e.Page, offset, e.Adapter, x.accesses))
	x.accesses++
	x.last = name + ".posted"
	x.who[e.Token] = e
	x.uses[e.Token] = held{}
	if e.Write {
		x.stored[e.Page] = append(x.stored[e.Page], name)
	}
}

var changeVerbs = map[Kind]string{Evict: "evict", Move: "migrate", Protect: "protect"}

func (x *saver) change(e Event) {
	if e.Kind == Evict && x.looked(e.Page) {
		e.Kind = Move // the kernel evicts no page that a fault has looked up; it moves it, which is the same to the fault
	}
	name := fmt.Sprintf("x%d", x.changes)
	x.timeline = append(x.timeline, fmt.Sprintf("%s %s: %s m%d page=0", x.when(), name, changeVerbs[e.Kind], e.Page))
	x.changes++
	x.last = name + ".posted"
	x.why[e.Page], x.told[e.Page] = e.Kind, 0
	switch e.Kind {
	case Evict:
		x.evictions++
	case Move:
		x.moves++
	}
}

// looked tells whether a fault of a page is between look-up and check.
func (x *saver) looked(page uint32) bool {
	for i := range x.noted {
		if x.noted[i] && x.who[i].Page == page {
			return true
		}
	}
	return false
}

// command is what an invalidation of a page tells the adapters.
func (x *saver) command(page uint32) string {
	if x.why[page] == Protect {
		return x.protect
	}
	return x.take
}

// taken is an adapter that executes an invalidation: what it overtakes is held.
func (x *saver) taken(e Event) {
	name := x.command(e.Page)
	x.sight(name, e.Adapter)
	x.told[e.Page] |= 1 << e.Adapter
	if r := &x.reads[e.Adapter][e.Page]; r.open {
		r.overtaken = x.last
	}
	for i := range x.uses {
		if u := &x.uses[i]; u.open && u.page == e.Page && u.adapter == e.Adapter {
			u.overtaken = x.last
		}
	}
}

// found ends a read.
func (x *saver) found(e Event) {
	r := &x.reads[e.Adapter][e.Page]
	if !r.open {
		return
	}
	x.hold(r)
	x.last = fmt.Sprintf("%s#%d@%d", r.name, r.nth, r.adapter)
	*r = held{}
}

// placed is DMA that reaches memory.
func (x *saver) placed(e Event) {
	u := &x.uses[e.Token]
	x.hold(u)
	if u.open {
		x.last = fmt.Sprintf("%s#%d@%d", u.name, u.nth, u.adapter)
	}
	*u = held{}
}

// acknowledged is an acknowledgement that arrives: where another adapter has not
// been reached, what tells it is held.
func (x *saver) acknowledged(e Event) {
	name := x.command(e.Page)
	x.sight(name+x.ack, e.Adapter)
	for a := range uint16(x.adapters) {
		if bit := uint8(1) << a; x.mapped[e.Page]&^x.told[e.Page]&bit != 0 {
			n := x.count[fmt.Sprintf("%s@%d", name, a)] + 1
			x.hold(&held{open: true, name: name, nth: n, adapter: a, overtaken: x.last, faults: x.faults})
		}
	}
	x.mapped[e.Page] &^= 1 << e.Adapter
}

// hold holds a message that others overtook.
func (x *saver) hold(h *held) {
	if !h.open || h.overtaken == "" {
		return
	}
	x.delays = append(x.delays, fmt.Sprintf("delay message=%s adapter=%d nth=%d by=%dus", h.name, h.adapter, h.nth, heldFor+faultTakes*(x.faults-h.faults)))
	x.expect = append(x.expect, fmt.Sprintf("expect %s before %s#%d@%d", h.overtaken, h.name, h.nth, h.adapter))
}

// close holds what is still under way.
func (x *saver) close() {
	for a := range x.reads {
		for p := range x.reads[a] {
			x.hold(&x.reads[a][p])
		}
	}
	for i := range x.uses {
		x.hold(&x.uses[i])
	}
}
