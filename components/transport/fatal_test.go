package transport

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// KEY-6, RC-4: of five requests in flight the second is refused for good. The
// first is done; the second completes with the NAK's error, and the three behind
// it are flushed in order and never executed, as is what is posted later. Each
// completes once, one NAK is sent, and another queue pair goes on.
func TestFatalNak(t *testing.T) {
	for _, c := range []struct {
		op      model.Op
		outcome msg.Outcome
		want    measure.Status
	}{
		{model.OpRead, msg.OutcomeRemoteAccess, measure.StatusRemoteAccess},
		{model.OpWrite, msg.OutcomeRemoteAccess, measure.StatusRemoteAccess},
		{model.OpFetchAdd, msg.OutcomeRemoteAccess, measure.StatusRemoteAccess},
		{model.OpWrite, msg.OutcomeRemoteOp, measure.StatusRemoteOp},
		{model.OpSend, msg.OutcomeRemoteOp, measure.StatusRemoteOp},
	} {
		t.Run(fmt.Sprint(c.op, c.outcome), func(t *testing.T) {
			refuse(t, c.op, c.outcome, c.want)
		})
	}
}

func refuse(t *testing.T, op model.Op, outcome msg.Outcome, want measure.Status) {
	s := warm(t, testSpec(t))
	s.driver.outstanding = 5
	posted := uint64(len(s.driver.work))
	s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
		if q.QP != 0 || model.Shift4K.Number(q.VA) == 0x20 {
			return msg.OutcomeOK
		}
		return outcome
	}
	naks := 0
	s.down.seen = func(_ clocked.Time, p *msg.Packet) {
		if rc.Syndrome(p.Syndrome).Fatal() {
			naks++
		}
	}
	stores := s.host.count[msg.KindData]
	good := s.post(model.OpWrite, 0, 0x20000, 64)
	bad := s.post(op, 0, 0x30000, 8)
	var rest []*measure.Access
	for range 3 {
		rest = append(rest, s.post(model.OpWrite, 0, 0x20000, 64))
	}
	rest = append(rest, s.post(model.OpWrite, 0, 0x20000, 64)) // when there is room: later
	other := s.post(model.OpWrite, 1, 0x20000, 64)
	s.run(t)
	if good.Status != measure.StatusOK || bad.Status != want || other.Status != measure.StatusOK {
		t.Errorf("%v, %v, want %v; another QP's %v", good.Status, bad.Status, want, other.Status)
	}
	for i, a := range rest {
		if a.Status != measure.StatusFlushed {
			t.Errorf("request %d behind it: %v", i, a.Status)
		}
	}
	next := posted
	for _, a := range s.driver.finished[posted:] {
		if a.QP != 0 {
			continue
		}
		if a.ID != next {
			t.Errorf("completion of %d, want %d", a.ID, next)
		}
		next++
	}
	if next != posted+6 || naks != 1 || s.req.Stats.DeadQPs != 1 || s.host.count[msg.KindData] != stores+2 {
		t.Errorf("%d completions, %d NAKs, %d dead QPs, %d stores for 2 requests",
			next-posted, naks, s.req.Stats.DeadQPs, s.host.count[msg.KindData]-stores)
	}
}
