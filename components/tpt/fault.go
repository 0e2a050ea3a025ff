package tpt

import (
	"errors"
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// fault is one reported fault; its token is its index and the use of it.
type fault struct {
	event  msg.Event
	list   waiters            // requests held at the adapter until the page is there
	asks   []*msg.PageRequest // of its group, on their way, under ATC
	live   bool
	queued bool  // its event has an entry of the queue
	ending bool  // its resume has come
	next   int32 // free list
}

type due struct {
	at     clocked.Time
	token  int32
	failed bool
}

// faultUnit reports absent pages, to the kernel by events or to the IOMMU by
// page requests, and resumes their QPs.
type faultUnit struct {
	list        []fault
	free        int32
	outstanding int
	queued      int     // entries of the event queue in use
	classes     []uint8 // by QP: bit k set while a fault of kind k is outstanding
	triggers    clocked.FIFO[due]
	resumes     clocked.FIFO[due]
	failedQP    []bool // by QP: resolved with an error, tell the next request
}

func (f *faultUnit) grow(qp uint32) {
	for uint32(len(f.classes)) <= qp {
		f.classes = append(f.classes, 0)
		f.failedQP = append(f.failedQP, false)
	}
}

func kindOf(write bool) msg.FaultKind {
	if write {
		return msg.ResponderWrite
	}
	return msg.ResponderRead
}

// absent handles a request whose page is not there (or not writable): it is
// reported unless a fault of its class is outstanding, and answered or held.
func (u *Unit) absent(now clocked.Time, i int32, m *msg.Translate, outcome msg.Outcome) {
	f := &u.faults
	f.grow(m.QP)
	if f.failedQP[m.QP] || u.pages.groups.Disabled() {
		f.failedQP[m.QP] = false
		u.dismiss(now, i, m, msg.OutcomeRemoteOp)
		return
	}
	bit := uint8(1) << kindOf(m.Write)
	if f.classes[m.QP]&bit != 0 || bits.OnesCount8(f.classes[m.QP]) >= u.spec.Fault.MaxOutstanding {
		u.Stats.FaultsMuted++
		u.dismiss(now, i, m, outcome)
		return
	}
	f.classes[m.QP] |= bit
	token := u.raise(now, u.slots[i].entry, m)
	if !m.Hold {
		u.dismiss(now, i, m, outcome)
		return
	}
	u.park(now, i, m)
	m.Ledger.Charge(now, measure.CauseTranslate)
	u.enqueue(&f.list[token].list, i)
}

// raise allots a token and starts the adapter's time to its event.
func (u *Unit) raise(now clocked.Time, entry uint64, m *msg.Translate) int32 {
	f := &u.faults
	if f.free == none {
		f.list = append(f.list, fault{next: none})
		f.free = int32(len(f.list) - 1)
	}
	token := f.free
	x := &f.list[token]
	f.free = x.next
	pages := u.spec.Fault.Pages
	if u.config.Mode == ATC {
		pages = min(pages, u.spec.PageRequests)
	}
	count := min(u.shift.Span(m.VA, uint64(max(m.Len, m.Rest))), uint64(pages))
	*x = fault{live: true, list: noWaiters, asks: x.asks[:0], event: msg.Event{Token: msg.FaultToken{Place: uint32(token), Use: x.event.Token.Use + 1},
		QP: m.QP, Kind: kindOf(m.Write), Write: m.Write, Entry: entry, VA: m.VA, Count: uint32(max(1, count)), Page: m.Page, Raised: now}}
	f.outstanding++
	u.Stats.FaultsRaised++
	if m.Access != nil {
		m.Access.Counts.Faults++
	}
	trigger := u.spec.Fault.Trigger
	if u.config.Mode == ATC {
		trigger = u.spec.PRI.Trigger
	}
	at := u.clock.Next(now + trigger)
	*f.triggers.Push() = due{at: at, token: token}
	u.engine.Wake(u.id, at)
	return token
}

// tickFaults resumes what is due, then reports: a resume makes room.
func (u *Unit) tickFaults(now clocked.Time) {
	f := &u.faults
	for f.resumes.Len() > 0 && f.resumes.Front().at <= now {
		d := f.resumes.Pop()
		u.resume(now, d)
	}
	u.reportFaults(now)
}

// reportFaults sends due events, or page requests, in order while there is room.
func (u *Unit) reportFaults(now clocked.Time) {
	f := &u.faults
	for f.triggers.Len() > 0 && f.triggers.Front().at <= now {
		token := f.triggers.Front().token
		if u.config.Mode == ATC {
			if !u.requestPage(now, token) {
				return
			}
		} else if !u.report(&f.list[token]) {
			return
		}
		f.triggers.Pop()
	}
}

// report writes the event entry and the interrupt, unless the queue is full; the
// interrupt is a posted write behind the entry and cannot pass it.
func (u *Unit) report(x *fault) bool {
	if u.faults.queued == u.spec.Fault.QueueDepth {
		return false
	}
	u.faults.queued++
	x.queued = true
	e := &x.event
	*u.dma.Push() = msg.DMA{Kind: msg.KindEQE, Write: true, PA: u.config.Place.Queues + eventQueue, Len: 64, Cookie: uint64(e.Token.Place), Body: e,
		Oracle: msg.Oracle{Page: msg.NoPage}}
	*u.dma.Push() = msg.DMA{Kind: msg.KindMSI, Write: true, PA: u.config.Place.Queues + interruptPage, Len: 4, Oracle: msg.Oracle{Page: msg.NoPage}}
	return true
}

// Pages of Place.Queues. Where in its queue an entry lies is not modelled.
const (
	commandQueue    model.PA = 0
	eventQueue      model.PA = 1 << 12
	completionQueue model.PA = 2 << 12
	interruptPage   model.PA = 3 << 12
)

// errNoFault refuses a resume that would free another fault, or one twice.
var errNoFault = errors.New("no reported fault waits for the resume of this token")

// resumable tells whether a token names a fault that was reported and not resumed.
func (f *faultUnit) resumable(t msg.FaultToken) bool {
	if uint64(t.Place) >= uint64(len(f.list)) {
		return false
	}
	x := &f.list[t.Place]
	return x.queued && !x.ending && x.event.Token == t
}

// scheduleResume starts the adapter's time from the resume command to going on.
func (u *Unit) scheduleResume(now clocked.Time, token uint32, failed bool) {
	u.faults.list[token].ending = true
	resume := u.spec.Fault.Resume
	if u.config.Mode == ATC {
		resume = u.spec.PRI.Resume
	}
	at := u.clock.Next(now + resume)
	*u.faults.resumes.Push() = due{at: at, token: int32(token), failed: failed}
	u.engine.Wake(u.id, at)
}

// resume ends a fault. Held requests translate again from the start: the
// answer of a fault is never a translation.
func (u *Unit) resume(now clocked.Time, d due) {
	f := &u.faults
	x := &f.list[d.token]
	f.classes[x.event.QP] &^= 1 << x.event.Kind
	f.outstanding--
	if x.queued {
		f.queued--
	}
	if d.failed && x.list.head == none {
		f.failedQP[x.event.QP] = true
	}
	u.countResume(x, d.failed)
	held := x.list
	x.live = false
	x.next = f.free
	f.free = d.token
	for held.head != none {
		i := u.dequeue(&held)
		m := &u.slots[i].req
		m.Ledger.Charge(now, measure.CauseFault)
		if d.failed {
			u.dismiss(now, i, m, msg.OutcomeRemoteOp)
			continue
		}
		m.Replay, u.slots[i].counted, u.slots[i].via = true, false, via{}
		u.protect(now, i, m)
	}
}

// countResume books the end of a fault, unless the fault itself belongs to the
// warm-up.
func (u *Unit) countResume(x *fault, failed bool) {
	switch {
	case u.Warm && x.event.Raised <= u.Since:
	case failed:
		u.Stats.FaultsFailed++
	default:
		u.Stats.FaultsResumed++
	}
}

// FaultsOpen counts the faults raised, after the warm-up if it has ended, and
// not resumed yet.
func (u *Unit) FaultsOpen() (n uint64) {
	for i := range u.faults.list {
		if x := &u.faults.list[i]; x.live && !(u.Warm && x.event.Raised <= u.Since) {
			n++
		}
	}
	return n
}
