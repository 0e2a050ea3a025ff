package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

const msec = clocked.Millisecond

// absentUntil makes the page at va absent from its first look-up on until a
// given time has passed.
func (s *sandwich) absentUntil(va model.VA, service clocked.Time) {
	first := clocked.Never
	s.tpt.decide = func(now clocked.Time, q *msg.Translate) msg.Outcome {
		if q.VA>>12 != va>>12 {
			return msg.OutcomeOK
		}
		first = min(first, now)
		if now < first+service {
			return msg.OutcomeAbsent
		}
		return msg.OutcomeOK
	}
}

// A lone WRITE to an absent page waits for the time-out, whatever the fault
// takes less: the latency is the unloaded one and tcp.min_rto, at Linux's value
// and at the RFC's.
func TestIWARPTimeoutFloor(t *testing.T) {
	for _, rto := range []clocked.Time{200 * msec, 1000 * msec} {
		for _, service := range []clocked.Time{10 * clocked.Microsecond, 300 * clocked.Microsecond, 100 * msec} {
			spec := iwarpSpec(t)
			spec.TCP.MinRTO = rto
			s := warm(t, spec)
			s.absentUntil(0x20000, service)
			a := s.post(model.OpWrite, 0, 0x20000, 64)
			s.run(t)
			if got, want := a.Complete-a.Issue, unloadedWrite(&spec)+rto; got != want || a.Ledger.Causes[measure.CauseRTOWait] != rto {
				t.Errorf("fault of %v: %v, want %v: %v", service, got, want, a.Ledger.Causes)
			}
			if st := s.resp.Stats.TCP; st.DropsAbsent != 1 || st.Returned != 1 || a.Counts.TCPDrops != 1 || s.req.Stats.Timeouts != 1 {
				t.Errorf("%+v, %d time-outs", st, s.req.Stats.Timeouts)
			}
			checkDrops(t, s)
		}
	}
}

// Three WRITEs one after the other, each to an absent page: with time stamps
// each costs one tcp.min_rto. Without them nothing that was sent once is ever
// acknowledged, so that no round trip is measured, and the time-out that the
// first has doubled stays ([RFC6298] 5.5): 200, 400 and 800 ms.
func TestIWARPTimestamps(t *testing.T) {
	for _, c := range []struct {
		on   bool
		want [3]clocked.Time
	}{{true, [3]clocked.Time{200, 200, 200}}, {false, [3]clocked.Time{200, 400, 800}}} {
		spec := iwarpSpec(t)
		spec.TCP.Timestamps = c.on
		s := warm(t, spec)
		seen := map[model.VA]bool{}
		s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
			if seen[q.VA] {
				return msg.OutcomeOK
			}
			seen[q.VA] = true
			return msg.OutcomeAbsent
		}
		for i, want := range c.want {
			a := s.post(model.OpWrite, 0, model.VA(0x20000+i*0x1000), 64)
			s.run(t)
			if got := a.Ledger.Causes[measure.CauseRTOWait]; got != want*msec {
				t.Errorf("time stamps %v, WRITE %d: waited %v, want %v", c.on, i, got, want*msec)
			}
		}
	}
}

// A page absent for longer than a time-out: the segment comes again after 200,
// 400 and 800 ms more, and the third time meets the page, 1 s after the first.
func TestIWARPBackOff(t *testing.T) {
	spec := iwarpSpec(t)
	s := warm(t, spec)
	s.absentUntil(0x20000, 1000*msec)
	a := s.post(model.OpWrite, 0, 0x20000, 64)
	s.run(t)
	if got, want := a.Complete-a.Issue, unloadedWrite(&spec)+1400*msec; got != want || a.Ledger.Causes[measure.CauseRTOWait] != 1400*msec {
		t.Errorf("%v, want %v: %v", got, want, a.Ledger.Causes)
	}
	if a.Counts.TCPDrops != 3 || a.Counts.Resends != 3 || s.resp.Stats.TCP.Returned != 3 {
		t.Errorf("%+v, %d came again", a.Counts, s.resp.Stats.TCP.Returned)
	}
}

// C4: with n retries the stream is given up when the timer expires for the
// (n+1)-th time, after 200 ms × (2^(n+1) − 1); what is behind is flushed.
func TestIWARPGivesUp(t *testing.T) {
	for _, n := range []int{0, 2, 4} {
		spec := iwarpSpec(t)
		spec.TCP.Retries = n
		s := warm(t, spec)
		s.driver.outstanding = 3
		s.absentUntil(0x20000, clocked.Never/2)
		first := s.post(model.OpWrite, 0, 0x20000, 64)
		read := s.post(model.OpRead, 0, 0x30000, 64)
		other := s.post(model.OpWrite, 1, 0x30000, 64)
		s.run(t)
		want := 200 * msec * clocked.Time(1<<(n+1)-1)
		if got := first.Complete - first.Issue; got < want || got > want+clocked.Microsecond {
			t.Errorf("%d retries: %v, want %v", n, got, want)
		}
		if first.Status != measure.StatusRetryExceeded || read.Status != measure.StatusFlushed || other.Status != measure.StatusOK {
			t.Errorf("%v, %v, %v", first.Status, read.Status, other.Status)
		}
		if s.resp.Stats.TCP.DropsAbsent != uint64(n+1) || s.req.Stats.DeadQPs != 1 || s.req.Stats.TCP.Resets != 1 {
			t.Errorf("%+v, %+v", s.resp.Stats.TCP, s.req.Stats)
		}
		if other.Complete-other.Issue > 10*clocked.Microsecond {
			t.Errorf("the other QP took %v", other.Complete-other.Issue)
		}
		checkDrops(t, s)
		if !s.req.Idle() || !s.resp.Idle() || s.resp.used != 0 { // the READ behind was kept
			t.Errorf("not idle, or %d bytes in the receive buffer", s.resp.used)
		}
	}
}

// train posts n WRITEs of 64 B at once on a QP, the first to a page that is
// absent for 1 us, so that the sender's third duplicate finds it there.
func train(t *testing.T, spec Spec, n int) *sandwich {
	s := warm(t, spec)
	s.driver.outstanding = n
	s.absentUntil(0x20000, clocked.Microsecond)
	for i := range n {
		s.post(model.OpWrite, 0, model.VA(0x20000+i*0x1000), 64)
	}
	s.run(t)
	for _, a := range s.driver.finished {
		if a.Status != measure.StatusOK {
			t.Errorf("access %d: %v", a.ID, a.Status)
		}
	}
	checkDrops(t, s)
	return s
}

// With three segments behind the dropped one fast retransmit brings it again in
// about a round trip; with two only the timer does. What was kept behind it is
// not sent again.
func TestIWARPFastRetransmit(t *testing.T) {
	s := train(t, iwarpSpec(t), 4)
	first := s.driver.finished[1]
	if s.req.Stats.TCP.FastRetransmits != 1 || s.req.Stats.Timeouts != 0 || s.req.Stats.PacketsResent != 1 || s.resp.Stats.TCP.Held != 3 {
		t.Fatalf("%+v %+v", s.req.Stats, s.resp.Stats.TCP)
	}
	if first.Complete-first.Issue > 10*clocked.Microsecond || first.Ledger.Causes[measure.CauseRetransmit] == 0 || first.Ledger.Causes[measure.CauseRTOWait] != 0 {
		t.Errorf("%v", first.Ledger.Causes)
	}
	for _, a := range s.driver.finished[2:] {
		if a.Ledger.Causes[measure.CauseRxBuffer] == 0 || a.Counts.Resends != 0 {
			t.Errorf("access %d was not kept: %v", a.ID, a.Ledger.Causes)
		}
	}
	s = train(t, iwarpSpec(t), 3)
	if s.req.Stats.TCP.FastRetransmits != 0 || s.req.Stats.Timeouts != 1 || s.req.Stats.PacketsResent != 1 {
		t.Errorf("%+v", s.req.Stats)
	}
}

// Without fast retransmit the timer does it, and what waits behind waits too.
func TestIWARPNoFastRetransmit(t *testing.T) {
	spec := iwarpSpec(t)
	spec.TCP.FastRetransmit = false
	s := train(t, spec, 8)
	if s.req.Stats.TCP.FastRetransmits != 0 || s.req.Stats.Timeouts != 1 || s.req.Stats.PacketsResent != 1 {
		t.Errorf("%+v", s.req.Stats)
	}
	for _, a := range s.driver.finished[1:] {
		if w := a.Ledger.Causes[measure.CauseRTOWait]; w < 199*msec || w > 200*msec {
			t.Errorf("access %d waited %v", a.ID, w)
		}
	}
}

// A receiver that keeps nothing out of order has all 8 segments sent again, one
// a round trip by partial ACKs.
func TestIWARPOutOfOrderDropped(t *testing.T) {
	spec := iwarpSpec(t)
	spec.TCP.OutOfOrder = "drop"
	s := train(t, spec, 8)
	if s.req.Stats.TCP.FastRetransmits != 1 || s.req.Stats.Timeouts != 0 || s.req.Stats.PacketsResent != 8 ||
		s.resp.Stats.TCP.Held != 0 || s.resp.Stats.Dropped != 7 {
		t.Errorf("%+v %+v", s.req.Stats, s.resp.Stats)
	}
}

// Drops count by what made them necessary.
func TestIWARPDropClasses(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	outcomes := []msg.Outcome{msg.OutcomeMoving, msg.OutcomeMoving, msg.OutcomeAbsent, msg.OutcomeOK}
	s.tpt.decide = func(clocked.Time, *msg.Translate) msg.Outcome {
		o := outcomes[0]
		outcomes = outcomes[1:]
		return o
	}
	a := s.post(model.OpWrite, 0, 0x20000, 64)
	s.run(t)
	if st := s.resp.Stats.TCP; st.DropsMoving != 2 || st.DropsAbsent != 1 || a.Counts.TCPDrops != 3 || a.Counts.RNRNaks != 0 {
		t.Errorf("%+v, %+v", st, a.Counts)
	}
}

// With fault_response hold the segment waits in the receive buffer: nothing is
// dropped, and the latency is the unloaded one and the wait.
func TestIWARPHold(t *testing.T) {
	spec := iwarpSpec(t)
	spec.QP.FaultResponse = "hold"
	s := warm(t, spec)
	s.tpt.slowTime = 300 * clocked.Microsecond
	s.tpt.slow = func(q *msg.Translate) bool { return q.VA == 0x20000 && q.Hold }
	a := s.post(model.OpWrite, 0, 0x20000, 64)
	s.run(t)
	if got, want := a.Complete-a.Issue, unloadedWrite(&spec)+300*clocked.Microsecond-15*ns; got != want || a.Counts.TCPDrops != 0 || a.Counts.Resends != 0 {
		t.Errorf("%v, want %v, %+v", got, want, a.Counts)
	}
}

// A READ of 4 pages whose third is absent: its request is dropped and comes
// again, the two responses already on their way stay, and no page is read twice.
func TestIWARPReadGoesOn(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.absentUntil(0x22000, clocked.Microsecond)
	read := map[model.VA]int{}
	s.host.seen = func(_ clocked.Time, d *msg.DMA) {
		if va, _, ok := user(d.PA); ok && d.Kind == msg.KindData {
			read[va]++
		}
	}
	responses := 0
	s.down.seen = func(_ clocked.Time, p *msg.Packet) {
		if p.Payload > 0 {
			responses++
		}
	}
	a := s.post(model.OpRead, 0, 0x20000, 4*4096)
	s.run(t)
	if a.Status != measure.StatusOK || a.Counts.TCPDrops != 1 || responses != 4 || len(read) != 4 || s.resp.Stats.Messages != 2 {
		t.Errorf("%v, %+v, %d responses, read %v", a.Status, a.Counts, responses, read)
	}
	for va, n := range read {
		if n != 1 {
			t.Errorf("%#x was read %d times", va, n)
		}
	}
	if w := a.Ledger.Causes[measure.CauseRTOWait]; w != 200*msec {
		t.Errorf("waited %v for the timer", w)
	}
}

// KEY-5: a compare-and-swap whose page is absent twice runs once.
func TestIWARPAtomicOnce(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.absentUntil(0x20000, 300*msec)
	stores := 0
	s.host.seen = func(_ clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindData && d.Write {
			stores++
		}
	}
	a := s.post(model.OpCompareSwap, 0, 0x20000, 8)
	s.run(t)
	if stores != 1 || a.Counts.TCPDrops != 2 || a.Status != measure.StatusOK {
		t.Errorf("%d stores, %+v", stores, a.Counts)
	}
}

// READs in flight never exceed max_rd_atomic, across time-outs too.
func TestIWARPReadSlots(t *testing.T) {
	spec := iwarpSpec(t)
	spec.QP.MaxRdAtomic = 3
	s := warm(t, spec)
	s.driver.outstanding = 20
	s.absentUntil(0x25000, 250*msec)
	open := map[*measure.Access]bool{}
	s.up.seen = func(_ clocked.Time, p *msg.Packet) {
		if p.Segment.Bytes > 0 {
			open[p.Access] = true
		}
		if len(open) > 3 {
			t.Fatalf("%d READs in flight", len(open))
		}
	}
	s.down.seen = func(_ clocked.Time, p *msg.Packet) {
		if p.Last && p.Payload > 0 {
			delete(open, p.Access)
		}
	}
	for i := range 20 {
		s.post(model.OpRead, 0, model.VA(0x20000+i*0x1000), 64)
	}
	s.run(t)
	if s.req.Stats.Timeouts == 0 || len(open) != 0 {
		t.Errorf("%d time-outs, %d READs without an answer", s.req.Stats.Timeouts, len(open))
	}
}
