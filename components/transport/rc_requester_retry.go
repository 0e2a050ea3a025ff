package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// act does what the rules say about a response; next is where sending stood
// before it.
func (r *rcRequester) act(now clocked.Time, qp int32, o rc.Outcome, next rc.PSN, s rc.Syndrome, p *msg.Packet) {
	q, c := &r.qps[qp], &r.sends[qp]
	r.count(q, o, s)
	switch o.Step {
	case rc.Nothing:
		if c.rules.Next != next {
			c.seek(q) // it had gone back too far
		}
		if !c.rules.Waiting() {
			r.restartTimer(now, qp)
		}
		r.wantPayload(qp)
		r.wantSend(qp)
	case rc.GoBack:
		r.retransmit(now, qp, next)
	case rc.WaitRNR:
		r.goBack(now, qp, next)
		r.timers.set(qp, now+r.rnrDelay(q, o))
	case rc.QPError:
		part := &p.Ledger
		if !s.Fatal() {
			part = nil
		}
		r.fail(now, qp, next, statuses[o.Status], part)
	}
}

// rnrDelay is the time for which an RNR NAK stops the queue.
func (r *rcRequester) rnrDelay(q *sendQP, o rc.Outcome) clocked.Time {
	if r.spec.QP.Flood && q.sq.Front().wqe.Op == model.OpRead {
		return r.spec.QP.FloodInterval
	}
	return clocked.Time(o.Delay)
}

// count counts what told of the need to go back.
func (r *rcRequester) count(q *sendQP, o rc.Outcome, s rc.Syndrome) {
	switch {
	case o.Step == rc.Nothing || s.Fatal():
	case s.RNR():
		r.Stats.RNRNaks++
		q.sq.Front().wqe.Access.Counts.RNRNaks++
	case s.NAK():
		r.Stats.SequenceNaks++
	default:
		r.Stats.ImpliedNaks++
	}
}

// statuses are the rules' in the records.
var statuses = [...]measure.Status{
	rc.Success:              measure.StatusOK,
	rc.RetryExceeded:        measure.StatusRetryExceeded,
	rc.RNRRetryExceeded:     measure.StatusRNRExceeded,
	rc.RemoteInvalidRequest: measure.StatusInvalidReq,
	rc.RemoteAccessError:    measure.StatusRemoteAccess,
	rc.RemoteOpError:        measure.StatusRemoteOp,
	rc.BadResponse:          measure.StatusInvalidReq,
}

// retransmit goes back for a loss.
func (r *rcRequester) retransmit(now clocked.Time, qp int32, next rc.PSN) {
	r.Stats.GoBacks++
	if r.spec.QP.Damming {
		r.qps[qp].breakDam()
	}
	r.goBack(now, qp, next)
	r.restartTimer(now, qp)
	r.wantPayload(qp)
	r.wantSend(qp)
}

// breakDam lets go what qp.damming has held.
func (q *sendQP) breakDam() {
	for s := q.sq.Head(); s != q.admitted; s++ {
		q.sq.At(s).lost = false
	}
}

// goBack follows the rules back to the oldest unacknowledged packet. What the
// requests sent since then have spent was in vain; next is where sending stood.
func (r *rcRequester) goBack(now clocked.Time, qp int32, next rc.PSN) {
	q, c := &r.qps[qp], &r.sends[qp]
	if next.Before(c.rules.Oldest) {
		next = c.rules.Oldest
	}
	c.vain = q.current
	if q.current != q.admitted && next.Sub(q.sq.At(q.current).first) > 0 {
		c.vain++
	}
	c.charge(now, q, measure.CauseRetransmit)
	c.seek(q)
}

// charge books the time of the requests sent in vain.
func (c *rcSend) charge(now clocked.Time, q *sendQP, cause measure.Cause) {
	for s := q.sq.Head(); int32(c.vain-s) > 0; s++ {
		q.sq.At(s).wqe.Access.Ledger.Charge(now, cause)
	}
}

// seek follows the rules to the oldest request, which holds the PSN to send
// next. Payload must be read again: an adapter keeps no copy of what it sent.
func (c *rcSend) seek(q *sendQP) {
	q.current = q.sq.Head()
	c.payRequest, c.payNext = q.current, c.rules.Next
	c.payReady, c.payHeld = 0, 0
	c.payEpoch++
}

// end ends the QP for what its own side could not read.
func (r *rcRequester) end(now clocked.Time, qp int32, status measure.Status) {
	c := &r.sends[qp]
	if c.rules.Failed() {
		r.flush(now, qp)
		return
	}
	next := c.rules.Next
	c.rules.Fail()
	r.fail(now, qp, next, status, nil)
}

// fail ends the QP: the oldest request has the status, and the NAK's ledger if
// there is one; the rest are flushed.
func (r *rcRequester) fail(now clocked.Time, qp int32, next rc.PSN, status measure.Status, part *measure.Ledger) {
	r.Stats.DeadQPs++
	r.timers.set(qp, clocked.Never)
	r.retire(now, qp, &r.qps[qp], status, part)
	r.goBack(now, qp, next)
	r.flush(now, qp)
}

// restartTimer gives the oldest unacknowledged packet its time-out.
func (r *rcRequester) restartTimer(now clocked.Time, qp int32) {
	q, c := &r.qps[qp], &r.sends[qp]
	at := clocked.Never
	if r.timeout > 0 && (c.rules.Next != c.rules.Oldest || q.current != q.admitted) {
		at = now + r.timeout
	}
	r.timers.set(qp, at)
}

// expire acts on the end of an RNR wait, or of one for an acknowledgement.
func (r *rcRequester) expire(now clocked.Time, qp int32) {
	q, c := &r.qps[qp], &r.sends[qp]
	r.timers.set(qp, clocked.Never)
	switch {
	case c.rules.Waiting():
		c.rules.RNRTimer()
		c.charge(now, q, measure.CauseRNRWait)
		r.wantPayload(qp)
		r.wantSend(qp)
	case c.rules.Next != c.rules.Oldest: // else nothing is outstanding
		r.timeOut(now, qp, c)
	}
}

// timeOut ends the wait for an acknowledgement.
func (r *rcRequester) timeOut(now clocked.Time, qp int32, c *rcSend) {
	r.Stats.Timeouts++
	next := c.rules.Next
	if o := c.rules.Timeout(); o.Step == rc.QPError {
		r.fail(now, qp, next, statuses[o.Status], nil)
		return
	}
	r.retransmit(now, qp, next)
}
