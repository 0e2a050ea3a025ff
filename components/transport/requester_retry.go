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
func (r *Requester) act(now clocked.Time, qp int32, q *sendQP, o rc.Outcome, next rc.PSN, s rc.Syndrome, p *msg.Packet) {
	r.count(q, o, s)
	switch o.Step {
	case rc.Nothing:
		if q.rules.Next != next {
			q.seek() // it had gone back too far
		}
		if !q.rules.Waiting() {
			r.restartTimer(now, qp)
		}
		r.wantPayload(qp)
		r.wantSend(qp)
	case rc.GoBack:
		r.retransmit(now, qp, q, next)
	case rc.WaitRNR:
		r.goBack(now, q, next)
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
func (r *Requester) rnrDelay(q *sendQP, o rc.Outcome) clocked.Time {
	if r.spec.QP.Flood && q.sq.Front().wqe.Op == model.OpRead {
		return r.spec.QP.FloodInterval
	}
	return clocked.Time(o.Delay)
}

// count counts what told of the need to go back.
func (r *Requester) count(q *sendQP, o rc.Outcome, s rc.Syndrome) {
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
func (r *Requester) retransmit(now clocked.Time, qp int32, q *sendQP, next rc.PSN) {
	r.Stats.GoBacks++
	if r.spec.QP.Damming {
		q.breakDam()
	}
	r.goBack(now, q, next)
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
func (r *Requester) goBack(now clocked.Time, q *sendQP, next rc.PSN) {
	if next.Before(q.rules.Oldest) {
		next = q.rules.Oldest
	}
	q.vain = q.current
	if q.current != q.admitted && next.Sub(q.sq.At(q.current).first) > 0 {
		q.vain++
	}
	q.charge(now, measure.CauseRetransmit)
	q.seek()
}

// charge books the time of the requests sent in vain.
func (q *sendQP) charge(now clocked.Time, c measure.Cause) {
	for s := q.sq.Head(); int32(q.vain-s) > 0; s++ {
		q.sq.At(s).wqe.Access.Ledger.Charge(now, c)
	}
}

// seek follows the rules to the oldest request, which holds the PSN to send
// next. Payload must be read again: an adapter keeps no copy of what it sent.
func (q *sendQP) seek() {
	q.current = q.sq.Head()
	q.payRequest, q.payNext = q.current, q.rules.Next
	q.payReady, q.payHeld = 0, 0
	q.payEpoch++
}

// fail ends the QP: the oldest request has the status, and the NAK's ledger if
// there is one; the rest are flushed.
func (r *Requester) fail(now clocked.Time, qp int32, next rc.PSN, status measure.Status, part *measure.Ledger) {
	q := &r.qps[qp]
	r.Stats.DeadQPs++
	r.timers.set(qp, clocked.Never)
	r.retire(now, qp, q, status, part)
	r.goBack(now, q, next)
	r.flush(now, qp)
}

// flush completes what waits in a dead QP, also work requests not fetched yet.
func (r *Requester) flush(now clocked.Time, qp int32) {
	q := &r.qps[qp]
	for q.sq.Len() > 0 {
		cause := measure.CauseSendQueue
		if q.sq.Head() == q.admitted {
			cause = measure.CausePost
		}
		q.sq.Front().wqe.Access.Ledger.Charge(now, cause)
		r.retire(now, qp, q, measure.StatusFlushed, nil)
	}
}

// restartTimer gives the oldest unacknowledged packet its time-out.
func (r *Requester) restartTimer(now clocked.Time, qp int32) {
	q := &r.qps[qp]
	at := clocked.Never
	if r.timeout > 0 && (q.rules.Next != q.rules.Oldest || q.current != q.admitted) {
		at = now + r.timeout
	}
	r.timers.set(qp, at)
}

// expire acts on the end of an RNR wait, or of one for an acknowledgement.
func (r *Requester) expire(now clocked.Time, qp int32) {
	q := &r.qps[qp]
	r.timers.set(qp, clocked.Never)
	switch {
	case q.rules.Waiting():
		q.rules.RNRTimer()
		q.charge(now, measure.CauseRNRWait)
		r.wantPayload(qp)
		r.wantSend(qp)
	case q.rules.Next != q.rules.Oldest: // else nothing is outstanding
		r.timeOut(now, qp, q)
	}
}

// timeOut ends the wait for an acknowledgement.
func (r *Requester) timeOut(now clocked.Time, qp int32, q *sendQP) {
	r.Stats.Timeouts++
	next := q.rules.Next
	if o := q.rules.Timeout(); o.Step == rc.QPError {
		r.fail(now, qp, next, statuses[o.Status], nil)
		return
	}
	r.retransmit(now, qp, q, next)
}
