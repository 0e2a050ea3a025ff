package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// local is how a request ends whose data the bus did not give.
var local = map[msg.Status]measure.Status{
	msg.StatusUnsupported: measure.StatusLocalProtection, msg.StatusAbort: measure.StatusLocalProtection,
	msg.StatusRetry: measure.StatusLocalProtection, msg.StatusPoisoned: measure.StatusLocalOp, msg.StatusTimeout: measure.StatusLocalOp,
}

// both runs a test under both transports.
func both(t *testing.T, do func(t *testing.T, spec Spec)) {
	t.Run("rc", func(t *testing.T) { do(t, testSpec(t)) })
	t.Run("iwarp", func(t *testing.T) { do(t, iwarpSpec(t)) })
}

// inOrder asserts that the accesses ended one behind the other, with these
// statuses.
func inOrder(t *testing.T, accesses []*measure.Access, want ...measure.Status) {
	t.Helper()
	last := clocked.Time(0)
	for i, a := range accesses {
		if a.Status != want[i] || a.Complete < last {
			t.Errorf("request %d: %v at %v, want %v behind %v", i, a.Status, a.Complete, want[i], last)
		}
		last = a.Complete
	}
}

// RC-4: the payload of a request's third packet cannot be read. Two packets of it
// leave, and nothing behind them. The READ before it ends well, though it takes
// longer; then the request ends with its own error, and those behind it, posted
// before or later, are flushed. Another queue pair goes on.
func TestPayloadUnreadable(t *testing.T) {
	both(t, func(t *testing.T, spec Spec) {
		for status, want := range local {
			for _, op := range []model.Op{model.OpWrite, model.OpSend} {
				s := warm(t, spec)
				s.driver.outstanding = 4
				failing(s.peer, msg.KindData, 2, status)
				packets := map[uint64]int{}
				s.up.seen = func(_ clocked.Time, p *msg.Packet) {
					if p.Segment.Bytes > 0 || spec.TCP == nil {
						packets[p.Access.ID]++
					}
				}
				all := []*measure.Access{s.post(model.OpRead, 0, 0x100000, 8*4096), s.post(op, 0, 0x200000, 5*4096),
					s.post(model.OpWrite, 0, 0x300000, 64), s.post(model.OpRead, 0, 0x300000, 64), s.post(model.OpWrite, 0, 0x300000, 64)}
				other := s.post(model.OpWrite, 1, 0x300000, 4096)
				s.run(t)
				inOrder(t, all, measure.StatusOK, want, measure.StatusFlushed, measure.StatusFlushed, measure.StatusFlushed)
				if other.Status != measure.StatusOK || s.req.Stats.DeadQPs != 1 || packets[all[1].ID] != 2 || packets[all[2].ID]+packets[all[3].ID] != 0 {
					t.Errorf("%v, %v: another QP's %v, %d dead QPs, packets by request %v", status, op, other.Status, s.req.Stats.DeadQPs, packets)
				}
				s.atRest(t, status, op)
				if c := &all[1].Ledger.Causes; s.req.Stats.Timeouts != 0 || c[measure.CauseSendQueue] == 0 || c[measure.CauseRetransmit] != 0 || !s.req.Idle() || len(s.req.broken) != 0 {
					t.Errorf("%v, %v: %d time-outs, %v", status, op, s.req.Stats.Timeouts, all[1].Ledger.Causes)
				}
			}
		}
	})
}

// A work request that cannot be read is a local operation error whatever the
// reason; nothing of it, nor of those behind it, leaves.
func TestWorkRequestUnreadable(t *testing.T) {
	both(t, func(t *testing.T, spec Spec) {
		for status := range local {
			for _, op := range []model.Op{model.OpRead, model.OpWrite, model.OpSend, model.OpFetchAdd} {
				s := warm(t, spec)
				s.driver.outstanding, s.driver.fetch = 4, true
				failing(s.peer, msg.KindWQE, 1, status)
				first := uint64(len(s.driver.work))
				s.up.seen = func(_ clocked.Time, p *msg.Packet) {
					if p.Access != nil && p.Access.ID > first {
						t.Errorf("%v, %v: request %d leaves", status, op, p.Access.ID)
					}
				}
				all := []*measure.Access{s.post(model.OpRead, 0, 0x100000, 8*4096), s.post(op, 0, 0x200000, 8),
					s.post(model.OpWrite, 0, 0x300000, 64), s.post(model.OpRead, 0, 0x300000, 64)}
				s.run(t)
				inOrder(t, all, measure.StatusOK, measure.StatusLocalOp, measure.StatusFlushed, measure.StatusFlushed)
				if !s.req.Idle() || s.req.Stats.DeadQPs != 1 || all[1].Ledger.Causes[measure.CausePost] < 300*ns {
					t.Errorf("%v, %v: %d dead QPs, %v", status, op, s.req.Stats.DeadQPs, all[1].Ledger.Causes)
				}
			}
		}
	})
}

// Of two requests of a queue pair neither can be read: the first ends with its
// error, the second is flushed as any other.
func TestSecondErrorIsFlushed(t *testing.T) {
	both(t, func(t *testing.T, spec Spec) {
		s := warm(t, spec)
		s.driver.outstanding = 3
		s.peer.status = func(clocked.Time, *msg.DMA) msg.Status { return msg.StatusPoisoned }
		all := []*measure.Access{s.post(model.OpRead, 0, 0x100000, 8), s.post(model.OpWrite, 0, 0x200000, 4096), s.post(model.OpWrite, 0, 0x300000, 4096)}
		s.run(t)
		inOrder(t, all, measure.StatusOK, measure.StatusLocalOp, measure.StatusFlushed)
		if s.req.Stats.DeadQPs != 1 || !s.req.Idle() || len(s.req.broken) != 0 {
			t.Errorf("%d dead QPs, %d requests left", s.req.Stats.DeadQPs, len(s.req.broken))
		}
	})
}

// A queue pair that has ended flushes also what cannot be read.
func TestUnreadableBehindTheEnd(t *testing.T) {
	both(t, func(t *testing.T, spec Spec) {
		s := warm(t, spec)
		s.driver.fetch = true
		s.tpt.decide = func(clocked.Time, *msg.Translate) msg.Outcome { return msg.OutcomeRemoteAccess }
		refused := s.post(model.OpRead, 0, 0x100000, 64)
		s.run(t)
		failing(s.peer, msg.KindWQE, 0, msg.StatusTimeout)
		late := s.post(model.OpRead, 0, 0x100000, 64)
		s.run(t)
		if refused.Status == measure.StatusOK || late.Status != measure.StatusFlushed || s.req.Stats.DeadQPs != 1 || !s.req.Idle() {
			t.Errorf("%v, then %v, %d dead QPs", refused.Status, late.Status, s.req.Stats.DeadQPs)
		}
	})
}

// FRW-5: what is sent again is read again, and that read may fail although the
// first did not.
func TestSourceUnreadableLater(t *testing.T) {
	both(t, func(t *testing.T, spec Spec) {
		spec.QP.AckTimeout = 4
		s := warm(t, spec)
		s.driver.outstanding = 2
		failing(s.peer, msg.KindData, 1, msg.StatusPoisoned)
		s.up.drop = func(p *msg.Packet) bool { return p.Payload > 0 && !p.Resend }
		all := []*measure.Access{s.post(model.OpWrite, 0, 0x200000, 4096), s.post(model.OpRead, 0, 0x300000, 64)}
		s.run(t)
		inOrder(t, all, measure.StatusLocalOp, measure.StatusFlushed)
		if s.peer.count[msg.KindData] != 2 || s.req.Stats.PacketsResent != 0 {
			t.Errorf("%d reads, %d packets sent again", s.peer.count[msg.KindData], s.req.Stats.PacketsResent)
		}
	})
}

// Under iWARP the other side is told at once, by a reset.
func TestUnreadableResets(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	failing(s.peer, msg.KindData, 0, msg.StatusPoisoned) // nothing is on its way that could bring more
	var resets []clocked.Time
	s.up.seen = func(now clocked.Time, p *msg.Packet) {
		if p.Segment.Reset {
			resets = append(resets, now)
		}
	}
	a := s.post(model.OpWrite, 0, 0x200000, 4096)
	s.run(t)
	if len(resets) != 1 || resets[0] > a.Complete+clocked.Microsecond || !s.resp.protocol.(*iwarpResponder).streams[0].closed {
		t.Errorf("failed at %v, resets at %v", a.Complete, resets)
	}
}
