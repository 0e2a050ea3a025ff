package tpt

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// F2, INV-1, INV-3, ATS-3: a request at every distance from an invalidation of
// its page, cached or not. Whatever was decided before is given out before the
// acknowledgement and given back; whoever asks after it gets the new frame, and
// everybody gets one answer.
func TestRequestAtEveryDistance(t *testing.T) {
	const page, moved = 3, model.PA(900) << 12
	for _, mode := range []Mode{Table, ATC} {
		for _, cached := range []bool{false, true} {
			olds, news := 0, 0
			for d := clocked.Time(2000); d < 4200; d++ {
				s := newSandwichIn(t, spec(), mode).mapAll()
				warm := uint64(9)
				if cached {
					warm = page
				}
				s.read(0, 0, warm)
				s.movePage(page, moved)
				asked := d * cycle
				s.read(asked, 1, page)
				s.run()
				acked := s.acknowledged()
				i := slices.IndexFunc(s.answers, func(a answer) bool { return a.msg.Cookie == 1 })
				a := s.answers[i]
				switch {
				case a.msg.PA == frame(page)+64:
					olds++
					if a.at >= acked || asked >= acked {
						t.Errorf("mode %d, asked %v: old frame at %v, acknowledged %v", mode, asked, a.at, acked)
					}
				case a.msg.PA == moved+64:
					news++
				case mode == ATC || a.msg.Outcome != msg.OutcomeMoving: // between zap and fill
					t.Errorf("mode %d, asked %v: answer %+v", mode, asked, a.msg)
				}
			}
			if olds == 0 || news == 0 {
				t.Errorf("mode %d, cached %v: %d old frames, %d new: the distances miss the invalidation", mode, cached, olds, news)
			}
		}
	}
}

// movePage invalidates a page at 3000 and gives it another frame.
func (s *sandwich) movePage(page uint64, to model.PA) {
	at := 3000 * cycle
	if s.unit.config.Mode == ATC {
		s.script = append(s.script, step{at: at, act: func() {
			s.space[page] = pte{Translation: ats.Translation{PA: to, Shift: model.Shift4K, Read: true, Write: true}}
		}})
		s.dropPages(at, 0, page, 1)
		return
	}
	s.command(at, &msg.Command{Op: msg.CmdInvalidate, Entry: page, Count: 1, Posts: 1, Moving: true})
	s.command(at, &msg.Command{Op: msg.CmdFill, Entry: page, Count: 1, Posts: 1, PA: []model.PA{to}})
}

// acknowledged is when the first acknowledgement of an invalidation came.
func (s *sandwich) acknowledged() clocked.Time {
	if s.unit.config.Mode == ATC {
		return s.done[0].at
	}
	return s.acks[0].at
}

// flow sends a request a cycle, for pages in turn, and keeps each translation
// for hold, whatever is called back.
type flow struct {
	*sandwich
	hold, until clocked.Time
	sent        uint64
	kept        clocked.FIFO[kept]
	given       []given
	ledgers     [4096]measure.Ledger
}

type kept struct {
	at     clocked.Time
	handle uint32
}

type given struct {
	decided, came clocked.Time
	page          uint64
	old           bool
}

const streamPages = 12

func (x *flow) tick(now clocked.Time) {
	u := x.unit
	for x.kept.Len() > 0 && x.kept.Front().at <= now {
		*u.Release.Push(now) = msg.Release{Handle: x.kept.Pop().handle}
	}
	for m := u.Translation.Peek(now); m != nil; m = u.Translation.Peek(now) {
		if m.Outcome == msg.OutcomeOK {
			page := m.Cookie % pages
			x.given = append(x.given, given{m.At - 4*cycle, now, page, m.PA == frame(page)})
			*x.kept.Push() = kept{now + x.hold, m.Handle}
			x.engine.Wake(1, now+x.hold)
		}
		u.Translation.Pop(now)
	}
	for x.next < len(x.script) && x.script[x.next].at <= now {
		if s := x.script[x.next]; s.act != nil {
			s.act()
		} else {
			*u.Doorbell.Push(now) = msg.Doorbell{Len: 8, Body: s.body}
		}
		x.next++
	}
	if now < x.until && u.Translate.Ready(now) {
		page := x.sent % streamPages
		if n := now / cycle; n == 4880 || n == 4881 {
			page = uint64(n) - 4880 + streamPages // not cached: two walks are in flight
		}
		x.ask(now, page)
		x.engine.Wake(1, now+cycle)
	}
}

func (x *flow) ask(now clocked.Time, page uint64) {
	va := baseVA + model.VA(page)<<12
	l := &x.ledgers[x.sent%uint64(len(x.ledgers))]
	l.Open(now)
	*x.unit.Translate.Push(now) = msg.Translate{Cookie: page, PD: 1, Key: uint32(x.key), CheckKey: true, CheckVA: va, CheckLen: 64,
		VA: va, Len: 64, Op: model.OpRead, Ledger: l}
	x.sent++
}

// F7: an invalidation of all pages with two walks in flight and a request every
// cycle. It is complete when the last translation decided before it is given
// back, waits for no other, and the stream goes on all the while, with new frames.
func TestDrainUnderStream(t *testing.T) {
	sp := spec()
	sp.InFlight = 4096
	x := &flow{sandwich: newSandwichIn(t, sp, ATC).mapAll(), hold: 600 * cycle, until: 9000 * cycle}
	x.custom = x.tick
	x.script = append(x.script, step{at: 5000 * cycle, act: func() {
		for p, e := range x.space {
			e.PA += 1 << 30
			x.space[p] = e
		}
	}})
	x.dropPages(5000*cycle, 0, 0, 16)
	x.engine.Wake(1, 0)
	x.run()
	applied := 5001*cycle + 50*clocked.Nanosecond + cycle
	last, during := clocked.Time(0), 0
	for _, g := range x.given {
		if g.old != (g.decided < applied) {
			t.Errorf("page %d decided %v: old frame %v", g.page, g.decided, g.old)
		}
		if g.decided < applied {
			last = g.came
		} else if g.came < x.done[0].at {
			during++
		}
	}
	if want := last + x.hold + 2*cycle; len(x.done) != 1 || x.done[0].at != want {
		t.Errorf("completed %v, want %v", x.done, want)
	}
	if uint64(len(x.given)) != x.sent || during == 0 || !x.unit.Idle() || x.unit.Stats.MTT.Stales < 2 {
		t.Errorf("%d sent, %d given, %d of them during the drain; %d asked again; waits %v", x.sent, len(x.given), during, x.unit.Stats.MTT.Stales, x.unit.Waits())
	}
}

// F15: 64 requests at once on a port four deep, one of them for an absent page:
// all are answered, one a cycle, and the absent page is a fault.
func TestBurstOnShallowPort(t *testing.T) {
	s := newSandwich(t, spec()).mapAll()
	u := s.unit
	u.Table().Set(3, 0)
	u.Translate = clocked.NewWire[msg.Translate](s.engine, clocked.WireSpec{Domain: u.Clock(), Depth: 4, Latency: cycle, Writer: 1, Reader: u.ID()})
	x := &flow{sandwich: s}
	answers, absent := 0, 0
	s.custom = func(now clocked.Time) {
		for m := u.Translation.Peek(now); m != nil; m = u.Translation.Peek(now) {
			if answers++; m.Outcome == msg.OutcomeOK {
				*u.Release.Push(now) = msg.Release{Handle: m.Handle}
			} else if m.Outcome == msg.OutcomeAbsent {
				absent++
			}
			u.Translation.Pop(now)
		}
		for x.sent < 64 && u.Translate.Ready(now) {
			x.ask(now, x.sent%64)
		}
		if len(s.events) == 1 && s.next == 0 {
			s.next = 1
			*u.Doorbell.Push(now) = msg.Doorbell{Len: 8, Body: &msg.Command{Op: msg.CmdResume, Token: s.events[0].Token}}
		}
	}
	s.engine.Wake(1, 0)
	s.engine.Wake(1, 10_000*cycle) // the kernel has served the fault
	s.run()
	if answers != 64 || absent != 1 || len(s.events) != 1 || s.events[0].Entry != 3 || !u.Idle() {
		t.Errorf("%d answers, %d absent, %d events; waits %v", answers, absent, len(s.events), u.Waits())
	}
}

// C11, FLT-9: 128 QPs read one absent page. One read of its entry serves all
// (127 join it), each has a fault of its own, one fill serves all, and each is
// resumed and answered once with the page. Under ATC the same by 128 page
// requests, 8 at a time and in the order of the faults.
func TestFloodOfFaults(t *testing.T) {
	const qps = 128
	for _, mode := range []Mode{Table, ATC} {
		sp := spec()
		sp.InFlight, sp.Fault.QueueDepth, sp.PageRequests = 2*qps, qps, 8
		s := newSandwichIn(t, sp, mode)
		for qp := range uint32(qps) {
			s.read(clocked.Time(qp)*cycle, qp, 3).Hold = true
		}
		at := 10_000 * cycle
		s.script = append(s.script, step{at: at, act: func() {
			s.space[3] = pte{Translation: ats.Translation{PA: frame(3), Shift: model.Shift4K, Read: true}}
		}})
		if mode == Table {
			s.command(at, &msg.Command{Op: msg.CmdFill, Entry: 3, Count: 1, PA: []model.PA{frame(3)}})
		}
		for i := range uint32(qps) {
			at += 500 * cycle
			if mode == Table {
				s.command(at, &msg.Command{Op: msg.CmdResume, Token: msg.FaultToken{Place: i, Use: 1}})
			} else {
				s.ring(at, &msg.PageResponse{PageResponse: ats.PageResponse{Group: uint16(i)}})
			}
		}
		s.run()
		u := &s.unit.Stats
		if u.FaultsRaised != qps || u.FaultsResumed != qps || u.FaultsFailed+u.FaultsMuted != 0 || u.MTT.Walks != 1 || u.MTT.Merged != qps-1 {
			t.Errorf("mode %d: %+v", mode, *u)
		}
		for i, a := range s.answers {
			if a.msg.Outcome != msg.OutcomeOK || a.msg.PA != frame(3)+64 || a.msg.Cookie != uint64(i) {
				t.Errorf("mode %d: answer %d is %+v", mode, i, a.msg)
			}
		}
		if len(s.answers) != qps || len(s.events)+len(s.asked) != qps {
			t.Errorf("mode %d: %d answers, %d events, %d page requests", mode, len(s.answers), len(s.events), len(s.asked))
		}
		for i, a := range s.asked {
			// Response i-8, sent at 10 000 + 500·(i-7), gives its credit to request i.
			if due := 10_002*cycle + clocked.Time(i-7)*500*cycle; a.msg.QP != uint32(i) || i >= 8 && a.at != due {
				t.Errorf("page request %d is of QP %d at %v, want %v", i, a.msg.QP, a.at, due)
			}
		}
	}
}
