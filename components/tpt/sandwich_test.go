package tpt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

const (
	cycle     = 1250 * clocked.Picosecond // 800 MHz
	readDelay = 500 * clocked.Nanosecond  // of the mock endpoint, a multiple of the cycle
	pages     = 64
	baseVA    = model.VA(0x10_0000_0000)
)

// sandwich is a tpt between a scripted responder and an endpoint of fixed delay.
type sandwich struct {
	t      testing.TB
	engine *clocked.Engine
	unit   *Unit
	base   model.VA
	key    key.Key
	rooted bool // it is that of an implicit region

	space  map[uint64]pte            // what the IOMMU answers, by page of the region
	status func(*msg.DMA) msg.Status // how a read ends; nil: well

	script   []step
	next     int
	requests []request // by cookie
	answers  []answer
	held     []uint32           // handles kept
	owner    map[uint32]request // of a translation, by handle
	log      strings.Builder
	custom   func(clocked.Time)      // in place of the scripted responder
	heard    func(clocked.Time, any) // in place of the log of messages to the IOMMU
	access   measure.Access

	acks    []ack
	events  []*msg.Event
	done    []ack // Invalidate Completions: times and no command
	asked   []asked
	reads   int
	pending clocked.FIFO[timedDone]
}

type step struct {
	at      clocked.Time
	req     *msg.Translate
	body    any    // of a doorbell
	act     func() // to the page table of the IOMMU
	release bool   // give back every translation kept
}

// request is a Translate and what the responder does with its answer.
type request struct {
	*msg.Translate
	keep bool // the translation is kept until a release
}

type answer struct {
	at  clocked.Time
	msg msg.Translation
}

type ack struct {
	at  clocked.Time
	cmd *msg.Command
}

type timedDone struct {
	at  clocked.Time
	msg msg.DMADone
}

var (
	outcomeNames = [...]string{msg.OutcomeAbsent: "absent", msg.OutcomeMoving: "moving", msg.OutcomeRemoteAccess: "refused", msg.OutcomeRemoteOp: "failed"}
	commandNames = [...]string{msg.CmdFill: "fill", msg.CmdInvalidate: "invalidate", msg.CmdResume: "resume",
		msg.CmdSuspend: "suspend", msg.CmdUnsuspend: "unsuspend", msg.CmdProtect: "protect", msg.CmdKey: "key change"}
	classNames = [...]string{msg.ResponderWrite: "write", msg.ResponderRead: "read"}
)

func (r request) String() string {
	verb := "read "
	if r.Write {
		verb = "write"
	}
	return fmt.Sprintf("qp=%d %s page=%d", r.QP, verb, r.Page)
}

// logf adds a line to the transcript; its time is in cycles.
func (s *sandwich) logf(now clocked.Time, format string, args ...any) {
	at := fmt.Sprint(int64(now / cycle))
	if now%cycle != 0 {
		at = now.String()
	}
	fmt.Fprintf(&s.log, "%6s  %s\n", at, fmt.Sprintf(format, args...))
}

type side struct {
	name string
	tick func(clocked.Time)
}

func (s side) Name() string          { return s.name }
func (s side) Tick(now clocked.Time) { s.tick(now) }

// spec is the default of the tags that matter here, with fast firmware.
func spec() Spec {
	return Spec{Page: "4KiB", Clock: 800e6, LookupCycles: 4, Tables: "host", Onboard: 100 * clocked.Nanosecond, InFlight: 64,
		MPT:   MPTSpec{Entries: 16, Ways: 0, Replacement: "lru", MSHRs: 4},
		MTT:   MTTSpec{Entries: 16, Ways: 0, LineEntries: 1, Replacement: "lru", MSHRs: 8, Levels: 1, Index: "entry"},
		Fault: FaultSpec{MaxOutstanding: 4, QueueDepth: 4, Trigger: 1000 * clocked.Nanosecond, Resume: 500 * clocked.Nanosecond},
		PRI:   PRISpec{Trigger: 50 * clocked.Nanosecond, Resume: 25 * clocked.Nanosecond}, PageRequests: 8,
		Command: CommandSpec{Fill: 100 * clocked.Nanosecond, Invalidate: 200 * clocked.Nanosecond, ATSInvalidate: 50 * clocked.Nanosecond,
			Register: 100 * clocked.Nanosecond, Deregister: 200 * clocked.Nanosecond, FastRegister: 25 * clocked.Nanosecond,
			LocalInvalidate: 50 * clocked.Nanosecond, Bind: 50 * clocked.Nanosecond},
		Invalidation: InvalidationSpec{QueueDepth: 4}}
}

// newSandwich has one region of the given number of pages; none is present.
func newSandwich(t testing.TB, sp Spec) *sandwich { return newSandwichAt(t, sp, baseVA, Table) }

func newSandwichIn(t testing.TB, sp Spec, mode Mode) *sandwich {
	return newSandwichAt(t, sp, baseVA, mode)
}

// process is the PASID of the memory.
const process = 7

func newSandwichAt(t testing.TB, sp Spec, base model.VA, mode Mode) *sandwich {
	t.Helper()
	e := clocked.NewEngine()
	s := &sandwich{t: t, engine: e, base: base, owner: map[uint32]request{}, space: map[uint64]pte{}}
	place := Place{MPT: 1 << 40, MTT: 1 << 41, Keys: 16, Entries: pages + mostEntries}
	u, err := New(e, "tpt0", sp, Config{Place: place, Seed: 1, Mode: mode, PASID: process})
	if err != nil {
		t.Fatal(err)
	}
	s.unit = u
	responder := e.Register(side{"responder", s.responder})
	endpoint := e.Register(side{"endpoint", s.endpoint})
	hop := clocked.WireSpec{Domain: u.Clock(), Depth: 64, Latency: cycle}
	wire := func(w, r clocked.UnitID) clocked.WireSpec { h := hop; h.Writer, h.Reader = w, r; return h }
	u.Ports = Ports{
		Translate:   clocked.NewWire[msg.Translate](e, wire(responder, u.ID())),
		Translation: clocked.NewWire[msg.Translation](e, wire(u.ID(), responder)),
		Release:     clocked.NewWire[msg.Release](e, wire(responder, u.ID())),
		DMA:         clocked.NewWire[msg.DMA](e, wire(u.ID(), endpoint)),
		DMADone:     clocked.NewWire[msg.DMADone](e, wire(endpoint, u.ID())),
		Doorbell:    clocked.NewWire[msg.Doorbell](e, wire(endpoint, u.ID())),
	}
	s.register()
	return s
}

func (s *sandwich) register() {
	var err error
	s.key, err = s.unit.Keys().Register(key.Region{PD: 1, Base: s.base, Length: pages << 12, PageShift: model.Shift4K, FastReg: true,
		Rights: key.LocalWrite | key.RemoteRead | key.RemoteWrite | key.RemoteAtomic | key.OnDemand})
	if err != nil {
		s.t.Fatal(err)
	}
}

// mapAll makes every page present, page i at frame(i).
func (s *sandwich) mapAll() *sandwich {
	for i := range uint64(pages) {
		s.space[i] = pte{Translation: ats.Translation{PA: frame(i), Shift: model.Shift4K, Read: true, Write: true}}
		s.unit.Table().Set(i, mtt.Entry{PA: frame(i), Read: true, Write: true, Present: true}.Encode())
	}
	return s
}

// frame is where page i lies: not at its own number, so that a wrong entry shows.
func frame(i uint64) model.PA { return model.PA(i+100) << 12 }

// read asks for 64 bytes of page i at the given time.
func (s *sandwich) read(at clocked.Time, qp uint32, page uint64) *msg.Translate {
	va := s.base + model.VA(page<<12) + 64
	m := &msg.Translate{Cookie: uint64(len(s.requests)), QP: qp, PD: 1, Key: uint32(s.key), Op: model.OpRead,
		CheckKey: true, CheckVA: va, CheckLen: 64, VA: va, Len: 64, Page: uint32(page), Access: &s.access,
		Ledger: &measure.Ledger{Last: at}}
	s.requests = append(s.requests, request{Translate: m})
	s.script = append(s.script, step{at: at, req: m})
	return m
}

func (s *sandwich) command(at clocked.Time, c *msg.Command) { s.ring(at, c) }

// ring sends a doorbell at the given time.
func (s *sandwich) ring(at clocked.Time, body any) {
	s.script = append(s.script, step{at: at, body: body})
}

// run runs the script, in order of time and, at equal times, of writing.
func (s *sandwich) run() {
	slices.SortStableFunc(s.script, func(a, b step) int { return int(a.at - b.at) })
	for _, x := range s.script {
		s.engine.Wake(0+1, x.at) // the responder is registered after the unit
	}
	if err := s.engine.Run(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandwich) responder(now clocked.Time) {
	if s.custom != nil {
		s.custom(now)
		return
	}
	u := s.unit
	for m := u.Translation.Peek(now); m != nil; m = u.Translation.Peek(now) {
		s.answers = append(s.answers, answer{now, *m})
		s.take(now, m)
		u.Translation.Pop(now)
	}
	for s.next < len(s.script) && s.script[s.next].at <= now {
		x := s.script[s.next]
		s.next++
		switch {
		case x.req != nil:
			*u.Translate.Push(now) = *x.req
		case x.body != nil:
			*u.Doorbell.Push(now) = msg.Doorbell{Len: 8, Client: 1, Body: x.body}
		case x.act != nil:
			x.act()
		case x.release:
			for _, h := range s.held {
				*u.Release.Push(now) = msg.Release{Handle: h}
			}
			s.held = nil
		}
	}
}

// take logs an answer, and gives its translation back or keeps it.
func (s *sandwich) take(now clocked.Time, m *msg.Translation) {
	if m.Outcome == msg.OutcomeRevoke {
		s.logf(now, "revoke   %s", s.owner[m.Handle])
		return
	}
	r := s.requests[m.Cookie]
	if r.Kill {
		s.logf(now, "answer   qp=%d kill %s", r.QP, map[bool]string{true: "done", false: "failed"}[m.Outcome == msg.OutcomeOK])
		return
	}
	if m.Outcome != msg.OutcomeOK {
		s.logf(now, "answer   %s %s", r, outcomeNames[m.Outcome])
		return
	}
	suffix := ""
	if m.Address != (msg.Address{}) {
		suffix = fmt.Sprintf(" translated=%v pasid=%d", m.Address.Translated, m.Address.PASID)
	}
	s.logf(now, "answer   %s frame=%d%s", r, m.PA>>12, suffix)
	s.owner[m.Handle] = r
	if r.keep {
		s.held = append(s.held, m.Handle)
		return
	}
	*s.unit.Release.Push(now) = msg.Release{Handle: m.Handle}
}

// endpoint answers reads readDelay after it sees them and delivers completion
// entries, in order, after the same time.
func (s *sandwich) endpoint(now clocked.Time) {
	u := s.unit
	for s.pending.Len() > 0 && s.pending.Front().at <= now {
		*u.DMADone.Push(now) = s.pending.Front().msg
		s.pending.Pop()
	}
	for m := u.DMA.Peek(now); m != nil; m = u.DMA.Peek(now) {
		switch {
		case !m.Write:
			s.reads++
			if s.custom == nil {
				s.logf(now, "endpoint reads %s, %d bytes%s", m.Kind, m.Len, map[bool]string{true: ", to store"}[m.Address.Store])
			}
			*s.pending.Push() = timedDone{now + readDelay, s.answerOf(m)}
			s.engine.Wake(2, now+readDelay)
		case m.Kind == msg.KindCQE:
			c := m.Body.(*msg.Command)
			s.acks = append(s.acks, ack{now, c})
			if c.Change.Err != nil {
				s.logf(now, "ack      %s refused: %v", commandNames[c.Op], c.Change.Err)
			} else {
				s.logf(now, "ack      %s", commandNames[c.Op])
			}
		case m.Kind == msg.KindEQE:
			x := m.Body.(*msg.Event)
			s.events = append(s.events, x)
			s.logf(now, "event    qp=%d %s %s token=%v", x.QP, classNames[x.Kind], s.where(x), x.Token)
		case m.Kind == msg.KindMessage:
			s.message(now, m.Body)
		}
		u.DMA.Pop(now)
	}
}
