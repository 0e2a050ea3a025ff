package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/rc"
)

// killer is a sandwich whose TPT kills keys on demand: at once, but answering
// after 5 us, or not at all.
type killer struct {
	*sandwich
	refuse bool
	killed map[uint32]bool
	kills  int
	asked  clocked.Time // when the invalidation reached the TPT
	placed clocked.Time // when the last data write reached the endpoint
	entry  clocked.Time // and the last receive completion
}

func newKiller(t *testing.T, spec Spec) *killer {
	k := &killer{sandwich: warm(t, spec), killed: map[uint32]bool{}}
	k.tpt.slowTime = 5 * clocked.Microsecond
	k.tpt.slow = func(q *msg.Translate) bool { return q.Kill }
	k.tpt.decide = func(now clocked.Time, q *msg.Translate) msg.Outcome {
		switch {
		case q.Kill && k.refuse:
			k.asked = now
			return msg.OutcomeRemoteOp
		case q.Kill:
			k.asked = now
			k.kills++
			k.killed[q.Key] = true
		case q.CheckKey && k.killed[q.Key]:
			return msg.OutcomeRemoteAccess
		}
		return msg.OutcomeOK
	}
	k.host.seen = func(now clocked.Time, d *msg.DMA) {
		switch {
		case d.Kind == msg.KindCQE:
			k.entry = now
		case d.Kind == msg.KindData && d.Write:
			k.placed = now
		}
	}
	return k
}

// send posts a SEND that invalidates a key.
func (k *killer) send(n uint32, dead key.Key) *measure.Access {
	a := k.post(model.OpSend, 0, 0, n)
	k.driver.work[len(k.driver.work)-1].Invalidate = dead
	return a
}

// FRW-4, D11: the data of a SEND with invalidate are written first, then the
// key dies, and only then are the receive completion and the ACK on their way.
// A READ by that key which the peer posts after the completion is refused.
func TestInvalidate(t *testing.T) {
	for _, n := range []uint32{0, 64, 5000} {
		spec := testSpec(t)
		k := newKiller(t, spec)
		before := k.host.count[msg.KindData]
		var wire uint32
		k.up.seen = func(_ clocked.Time, p *msg.Packet) {
			if p.Last {
				wire = p.WireLen
			}
		}
		a := k.send(n, 0x500)
		k.run(t)
		if dead := k.asked + 5*clocked.Microsecond + ns; k.entry != dead+ns || a.Complete < dead || k.placed > k.asked || k.kills != 1 {
			t.Errorf("%d B: placed at %v, key asked for at %v, receive completion at %v", n, k.placed, k.asked, k.entry)
		}
		if last := n - n/4096*4096; wire != headerBytes+last+iethBytes {
			t.Errorf("%d B: last packet of %d B on the wire", n, wire)
		}
		data := k.host.count[msg.KindData]
		if n == 0 && data != before {
			t.Errorf("%d transfers for no bytes", data-before)
		}
		late := k.post(model.OpRead, 0, 0x100000, 64)
		k.run(t)
		if late.Status != measure.StatusRemoteAccess || k.host.count[msg.KindData] != data {
			t.Errorf("%d B: READ by the dead key: %v", n, late.Status)
		}
	}
}

// D8: the key of a SEND with invalidate is not valid. The SEND's data and a
// receive completion are written, but the QP stops without a NAK: the requester
// runs out of retries and flushes the rest.
func TestInvalidateRefused(t *testing.T) {
	spec := testSpec(t)
	spec.QP.Retry, spec.QP.AckTimeout = 2, 4
	k := newKiller(t, spec)
	k.refuse = true
	k.driver.outstanding = 2
	k.down.seen = func(_ clocked.Time, p *msg.Packet) {
		if s := rc.Syndrome(p.Syndrome); s.NAK() || s.RNR() {
			t.Errorf("answered by %v", s)
		}
	}
	a := k.send(64, 0x500)
	next := k.post(model.OpWrite, 0, 0x100000, 64)
	k.run(t)
	if a.Status != measure.StatusRetryExceeded || next.Status != measure.StatusFlushed || k.req.Stats.Timeouts != 3 {
		t.Errorf("%v, then %v, after %d time-outs", a.Status, next.Status, k.req.Stats.Timeouts)
	}
	if k.resp.Stats.KillsRefused != 1 || k.host.count[msg.KindCQE] != 1 || k.placed == 0 || k.entry < k.asked {
		t.Errorf("%+v: placed at %v, completion at %v", k.resp.Stats, k.placed, k.entry)
	}
}
