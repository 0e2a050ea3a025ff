package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// dammed runs a WRITE whose page is absent for 25 us and one more that is posted
// while the QP waits for its RNR timer, and a third at the time later, if any;
// waited is when the wait last ended.
func dammed(t *testing.T, spec Spec, later clocked.Time) (s *sandwich, all []*measure.Access, waited clocked.Time) {
	s = warm(t, spec)
	start := s.engine.Now()
	s.tpt.decide = absentFor(0x20, 25*clocked.Microsecond)
	all = append(all, s.post(model.OpWrite, 0, 0x20000, 64))
	s.down.seen = func(now clocked.Time, p *msg.Packet) {
		if !rc.Syndrome(p.Syndrome).RNR() {
			return
		}
		waited = now + ns + clocked.Time(rc.RNRDelay(1))
		if len(all) > 1 {
			return
		}
		s.driver.outstanding = 2
		all = append(all, s.post(model.OpWrite, 0, 0x30000, 64))
		s.engine.Wake(s.driver.id, now+2*clocked.Microsecond)
		if later > 0 {
			all = append(all, s.post(model.OpWrite, 0, 0x40000, 64))
			s.driver.notBefore = start + later
		}
	}
	s.run(t)
	return s, all, waited
}

// A request that is posted while its QP waits for an RNR timer completes within
// two round trips of the end of the wait. With qp.damming it is lost, and waits
// for the ACK time-out, which began at the ACK of the request before it.
func TestDamming(t *testing.T) {
	spec := testSpec(t)
	spec.QP.RNRTimer, spec.QP.AckPoint, spec.QP.AckTimeout = 1, "receipt", 4
	trip := untilNak(&spec)
	_, all, waited := dammed(t, spec, 0)
	if got := all[1].Complete - waited; got > 2*trip || all[0].Counts.RNRNaks < 2 {
		t.Errorf("completed %v after the wait, want at most %v", got, 2*trip)
	}

	spec.QP.Damming = true
	s, all, _ := dammed(t, spec, 0)
	if got, want := all[1].Complete-all[0].Complete, 65_536*ns+trip-ns; got != want || s.req.Stats.Timeouts != 1 || s.req.Stats.Dammed != 1 {
		t.Errorf("completed %v after the one before, want %v; %+v", got, want, s.req.Stats)
	}
}

// With qp.damming a later request that does leave shows the gap: a sequence NAK
// recovers what was lost, before the time-out.
func TestDammingBroken(t *testing.T) {
	spec := testSpec(t)
	spec.QP.RNRTimer, spec.QP.AckPoint, spec.QP.AckTimeout, spec.QP.Damming = 1, "receipt", 4, true
	s, all, _ := dammed(t, spec, 60*clocked.Microsecond)
	if st := s.req.Stats; st.Dammed != 1 || st.Timeouts != 0 || st.SequenceNaks != 1 || all[2].Status != measure.StatusOK {
		t.Errorf("%+v", st)
	}
}

// flooded runs a READ of each of n QPs into the same page, absent for 300 us.
func flooded(t *testing.T, spec Spec, n int) (*sandwich, []*measure.Access) {
	spec.QPs = n
	s := build(t, spec, 0)
	s.driver.outstanding = n
	for qp := range n {
		s.post(model.OpWrite, uint32(qp), 0x10000, 8) // brings its context in
	}
	s.run(t)
	s.tpt.decide = absentFor(0x20, 300*clocked.Microsecond)
	var all []*measure.Access
	for qp := range n {
		all = append(all, s.post(model.OpRead, uint32(qp), 0x20000, 64))
	}
	s.run(t)
	return s, all
}

// C11: 128 QPs read the same absent page at once, with an RNR delay of 480 us.
// Each sends again once, ceil(300/480), and all are done within the round trips
// and the packets' serialization of the end of the delay.
func TestNoFlood(t *testing.T) {
	spec := testSpec(t)
	spec.QP.RNRTimer = 11
	s, all := flooded(t, spec, 128)
	if s.req.Stats.PacketsResent != 128 || s.resp.Stats.RNRAbsent != 128 {
		t.Errorf("%d sent again, %d NAKs", s.req.Stats.PacketsResent, s.resp.Stats.RNRAbsent)
	}
	packets := clocked.Time(128 * 80 * (98 + 86 + 98 + 150)) // requests, NAKs, requests, responses
	for _, a := range all {
		if got := a.Complete - a.Issue; got > 480*clocked.Microsecond+5*clocked.Microsecond+packets || a.Counts.Resends != 1 {
			t.Errorf("QP %d: %v, %d sent again", a.QP, got, a.Counts.Resends)
		}
	}
}

// With qp.flood each of 8 QPs sends its READ every 500 us and a round trip, and
// the k-th learns of the page 130 k us after the first has looked it up again:
// it is refused ceil(130 k / 502) times more than by an ideal design.
func TestFlood(t *testing.T) {
	spec := testSpec(t)
	spec.QP.Flood, spec.QP.FloodUpdate = true, 130*clocked.Microsecond
	s, all := flooded(t, spec, 8)
	extra := uint64(0)
	for k, a := range all {
		more := (130*(k+1) + 501) / 502
		extra += uint64(more)
		if int(a.Counts.Resends) != 1+more {
			t.Errorf("QP %d: %d sent again, want %d", k, a.Counts.Resends, 1+more)
		}
	}
	if s.resp.Stats.Flooded != extra || s.resp.Stats.RNRAbsent != 8+extra {
		t.Errorf("%d refused, want %d; %d NAKs", s.resp.Stats.Flooded, extra, s.resp.Stats.RNRAbsent)
	}
}
