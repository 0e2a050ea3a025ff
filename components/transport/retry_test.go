package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// absentFor makes a page absent for a time from its first look-up on.
func absentFor(page uint64, d clocked.Time) func(clocked.Time, *msg.Translate) msg.Outcome {
	return unusableFor(page, d, msg.OutcomeAbsent)
}

// unusableFor answers look-ups of a page with o for a time from the first on.
func unusableFor(page uint64, d clocked.Time, o msg.Outcome) func(clocked.Time, *msg.Translate) msg.Outcome {
	ready := clocked.Never
	return func(now clocked.Time, t *msg.Translate) msg.Outcome {
		if model.Shift4K.Number(t.VA) != page {
			return msg.OutcomeOK
		}
		if ready == clocked.Never {
			ready = now + d
		}
		if now < ready {
			return o
		}
		return msg.OutcomeOK
	}
}

// A 64 B WRITE from post to the RNR NAK's arrival: doorbell 1 ns; request 162 B;
// look-up 17 ns; NAK 86 B.
func untilNak(s *Spec) clocked.Time {
	return ns + oneWay(s, 162, true) + 17*ns + oneWay(s, 86, false)
}

// C3: the code 0 is the longest delay. A buffer that is ready
// 10 us after the first NAK costs one NAK with either code.
func TestRNRTimerZero(t *testing.T) {
	for code, delay := range map[int]clocked.Time{0: 655_360 * clocked.Microsecond, 1: 10 * clocked.Microsecond} {
		spec := testSpec(t)
		spec.QP.RNRTimer, spec.QP.AckPoint = code, "receipt"
		s := warm(t, spec)
		s.tpt.decide = absentFor(0x20, 10*clocked.Microsecond)
		a := s.post(model.OpWrite, 0, 0x20000, 64)
		s.run(t)
		// The second attempt takes as long as the first, and the CQE a hop more.
		want := untilNak(&spec) + delay + untilNak(&spec) - ns + ns
		if got := a.Complete - a.Issue; got != want || a.Counts.RNRNaks != 1 {
			t.Errorf("code %d: %v with %d NAKs, want %v with 1", code, got, a.Counts.RNRNaks, want)
		}
		if a.Ledger.Causes[measure.CauseRNRWait] != delay || a.Ledger.Causes[measure.CauseRetransmit] != untilNak(&spec)-ns {
			t.Errorf("code %d: %v", code, a.Ledger.Causes)
		}
	}
}

// C4, C5: the buffer is ready 1 ms after the first look-up; the delay is
// 10 us (code 1) and the round trip 2 us, so attempts are 12 us apart:
// ceil(1000/12) = 84 NAKs. Where the budget ends the error comes once, and
// nothing is tried behind it.
func TestRNRBudget(t *testing.T) {
	for _, c := range []struct {
		budget int
		naks   uint32
		status measure.Status
	}{{7, 84, measure.StatusOK}, {6, 7, measure.StatusRNRExceeded}, {0, 1, measure.StatusRNRExceeded}} {
		spec := testSpec(t)
		spec.QP.RNRTimer, spec.QP.RNRRetry, spec.QP.AckPoint = 1, c.budget, "receipt"
		spec.Network.Latency = 0
		spec.Network.Latency = (2*clocked.Microsecond - (untilNak(&spec) - ns)) / 2
		s := warm(t, spec)
		s.tpt.decide = absentFor(0x20, clocked.Millisecond)
		a := s.post(model.OpWrite, 0, 0x20000, 64)
		flushed := s.post(model.OpWrite, 0, 0x30000, 64)
		s.run(t)
		if a.Counts.RNRNaks != c.naks || a.Status != c.status {
			t.Errorf("budget %d: %d NAKs and %v, want %d and %v", c.budget, a.Counts.RNRNaks, a.Status, c.naks, c.status)
		}
		if c.status == measure.StatusOK {
			continue
		}
		// The last NAK comes 12 us × budget after the first.
		want := untilNak(&spec) + clocked.Time(c.budget)*12*clocked.Microsecond + ns
		if got := a.Complete - a.Issue; got != want || flushed.Status != measure.StatusFlushed || s.req.Stats.DeadQPs != 1 {
			t.Errorf("budget %d: error after %v, want %v; next %v", c.budget, got, want, flushed.Status)
		}
	}
}

// TestResumeFromPage: of a WRITE of 8 packets of a page each, page 3 is absent.
// Packets 3 to 7 are sent again (the waste of go-back-N), pages 0 to 2 are not
// looked up again, and only the retry of page 3 is a replay.
func TestResumeFromPage(t *testing.T) {
	for _, mode := range []string{"silent", "once"} {
		spec := testSpec(t)
		spec.QP.NakAfterRNR = mode
		s := warm(t, spec)
		s.tpt.decide, s.tpt.record = absentFor(0x103, ns), true
		a := s.post(model.OpWrite, 0, 0x100000, 8*4096)
		s.run(t)
		if a.Counts.Resends != 5 || s.req.Stats.PacketsResent != 5 || s.resp.Stats.RNRAbsent != 1 {
			t.Errorf("%s: %d packets sent again, %+v", mode, a.Counts.Resends, s.resp.Stats)
		}
		var pages []uint64
		for i, q := range s.tpt.asked {
			pages = append(pages, model.Shift4K.Number(q.VA))
			if q.Replay != (i == 4) || q.CheckKey != (i == 0 || i == 4) {
				t.Errorf("%s: look-up %d: replay %v, key check %v", mode, i, q.Replay, q.CheckKey)
			}
		}
		want := []uint64{0x100, 0x101, 0x102, 0x103, 0x103, 0x104, 0x105, 0x106, 0x107}
		if len(pages) != len(want) {
			t.Fatalf("%s: pages %x", mode, pages)
		}
		for i := range want {
			if pages[i] != want[i] {
				t.Errorf("%s: pages %x, want %x", mode, pages, want)
				break
			}
		}
		wantNaks := map[string]uint64{"silent": 0, "once": 1}[mode]
		if s.resp.Stats.SequenceNaks != wantNaks || s.resp.Stats.Dropped != 4-wantNaks || s.req.Stats.GoBacks != 0 {
			t.Errorf("%s: %+v", mode, s.resp.Stats)
		}
	}
}

// SUS-4: a READ of 8 pages meets a page 3 that is absent, or suspended: three
// responses, an RNR NAK at the fourth's PSN, then a READ of what is missing. The
// WRITE posted behind it is not executed before.
func TestReadCut(t *testing.T) {
	for _, o := range []msg.Outcome{msg.OutcomeAbsent, msg.OutcomeMoving} {
		cutBy(t, o)
	}
}

func cutBy(t *testing.T, o msg.Outcome) {
	spec := testSpec(t)
	s := warm(t, spec)
	s.driver.outstanding = 2
	s.tpt.decide, s.tpt.record = unusableFor(0x103, ns, o), true
	var requests []msg.Packet
	s.up.seen = func(_ clocked.Time, p *msg.Packet) { requests = append(requests, *p) }
	read := s.post(model.OpRead, 0, 0x100000, 8*4096)
	s.post(model.OpWrite, 0, 0x200000, 64)
	s.run(t)
	if len(requests) != 4 { // READ, WRITE, READ, WRITE
		t.Fatalf("%v: %d request packets", o, len(requests))
	}
	again := requests[2]
	if again.Op != model.OpRead || again.VA != 0x103000 || again.MsgLen != 5*4096 || again.PSN != uint32(rc.PSN(requests[0].PSN).Add(3)) {
		t.Errorf("%v: resumed by %+v", o, again)
	}
	if n := len(s.tpt.asked); n != 10 || s.tpt.asked[9].Op != model.OpWrite || !s.tpt.asked[4].Replay || s.tpt.asked[5].Replay {
		t.Errorf("%v: %d look-ups: %+v", o, n, s.tpt.asked)
	}
	if read.Counts.RNRNaks != 1 || s.peer.count[msg.KindData] != 8 {
		t.Errorf("%v: %d NAKs, %d responses placed", o, read.Counts.RNRNaks, s.peer.count[msg.KindData])
	}
}

// SUS-5: what meets a suspended page gets an RNR NAK with the responder's timer
// and no data have moved before, whatever the operation. [IBA] asks for one
// where a receive is missing; adapters that page also send it for READ, WRITE
// and atomics.
func TestSuspendedIsRNR(t *testing.T) {
	for _, op := range []model.Op{model.OpRead, model.OpWrite, model.OpFetchAdd, model.OpSend} {
		spec := testSpec(t)
		spec.QP.RNRTimer = 1
		s := warm(t, spec)
		moved, naks := s.host.count[msg.KindData], 0
		page, n := uint64(0x20), uint32(8)
		if op == model.OpSend {
			page = 1 << 20
		}
		s.tpt.decide = unusableFor(page, ns, msg.OutcomeMoving)
		s.down.seen = func(_ clocked.Time, p *msg.Packet) {
			switch syndrome := rc.Syndrome(p.Syndrome); {
			case syndrome.RNR():
				if naks++; syndrome.Value() != 1 || s.host.count[msg.KindData] != moved {
					t.Errorf("%v: timer %d, after %d transfers", op, syndrome.Value(), s.host.count[msg.KindData]-moved)
				}
			case syndrome.NAK():
				t.Errorf("%v: %v", op, syndrome)
			}
		}
		a := s.post(op, 0, 0x20000, n)
		s.run(t)
		if a.Status != measure.StatusOK || naks != 1 || s.resp.Stats.RNRMoving != 1 || s.resp.Stats.RNRAbsent+s.resp.Stats.RNRNoReceive != 0 {
			t.Errorf("%v: %v after %d NAKs, %+v", op, a.Status, naks, s.resp.Stats)
		}
	}
}

// TestTimeout: a lost WRITE costs one time-out of 4.096 us × 2^4; when all
// are lost the QP dies after retry + 1 of them.
func TestTimeout(t *testing.T) {
	spec := testSpec(t)
	spec.QP.AckTimeout, spec.QP.Retry, spec.QP.AckPoint = 4, 3, "receipt"
	timeout := 65_536 * ns
	unloaded := untilNak(&spec) + ns
	for _, c := range []struct {
		lose   int
		want   clocked.Time
		status measure.Status
	}{{1, timeout + unloaded, measure.StatusOK}, {3, 3*timeout + unloaded, measure.StatusOK},
		{4, ns + 4*timeout + ns, measure.StatusRetryExceeded}} {
		s := warm(t, spec)
		lost := 0
		s.up.drop = func(*msg.Packet) bool { lost++; return lost <= c.lose }
		a := s.post(model.OpWrite, 0, 0x20000, 64)
		s.run(t)
		if got := a.Complete - a.Issue; got != c.want || a.Status != c.status {
			t.Errorf("%d lost: %v and %v, want %v and %v", c.lose, got, a.Status, c.want, c.status)
		}
	}
}

// RC-5: of four WRITEs in flight the first is lost: one NAK for the
// gap, one going back, all four sent again.
func TestSequenceNak(t *testing.T) {
	s := warm(t, testSpec(t))
	s.driver.outstanding = 4
	lost := false
	s.up.drop = func(*msg.Packet) bool { first := !lost; lost = true; return first }
	for i := range 4 {
		s.post(model.OpWrite, 0, model.VA(0x20000+i*0x1000), 64)
	}
	s.run(t)
	if q := s.req.Stats; q.SequenceNaks != 1 || q.GoBacks != 1 || q.PacketsResent != 4 || q.Timeouts != 0 {
		t.Errorf("%+v", q)
	}
}

// KEY-5: the response of an atomic is lost; the duplicate is answered
// from what the responder remembers.
func TestAtomicOnce(t *testing.T) {
	spec := testSpec(t)
	spec.QP.AckTimeout = 4
	s := warm(t, spec)
	lost := false
	s.down.drop = func(*msg.Packet) bool { first := !lost; lost = true; return first }
	before := s.host.count[msg.KindData]
	s.post(model.OpFetchAdd, 0, 0x20000, 8)
	s.run(t)
	if n := s.host.count[msg.KindData] - before; n != 2 || s.resp.Stats.Duplicates != 1 {
		t.Errorf("%d transfers for one read and one write, %d duplicates", n, s.resp.Stats.Duplicates)
	}
}

// TestReadSlots: a READ whose page is absent holds its slot; with one slot the
// next READ leaves only when it is answered, and a QP of its own does not wait.
func TestReadSlots(t *testing.T) {
	spec := testSpec(t)
	spec.QP.MaxRdAtomic = 1
	s := warm(t, spec)
	s.driver.outstanding = 3
	s.tpt.decide = absentFor(0x100, 2*clocked.Millisecond)
	held := s.post(model.OpRead, 0, 0x100000, 64)
	behind := s.post(model.OpRead, 0, 0x200000, 64)
	other := s.post(model.OpRead, 1, 0x300000, 64)
	s.run(t)
	if behind.Complete < held.Complete || behind.Ledger.Causes[measure.CauseSendQueue] < held.Complete-held.Issue-2*clocked.Microsecond {
		t.Errorf("the second READ did not wait: %v", behind.Ledger.Causes)
	}
	if other.Complete-other.Issue > 3*clocked.Microsecond {
		t.Errorf("another QP waited: %v", other.Ledger.Causes)
	}
}
