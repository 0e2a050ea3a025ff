package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model/rc"
)

// notReady takes an RNR NAK: the QP goes back and waits.
func (r *Requester) notReady(now clocked.Time, qp int32, q *sendQP, s rc.Syndrome) {
	if q.state == sendRNR {
		r.Stats.Duplicates++
		return
	}
	r.Stats.RNRNaks++
	q.sq.Front().wqe.Access.Counts.RNRNaks++
	if q.rnrRetry == 0 {
		r.fail(now, qp, measure.StatusRNRExceeded, nil)
		return
	}
	if q.rnrRetry < 7 {
		q.rnrRetry--
	}
	r.goBack(now, q)
	q.state = sendRNR
	r.setDeadline(q, qp, now+clocked.Time(rc.RNRDelay(s.Value())))
}

// impliedNak takes a response that skips an unanswered READ or atomic.
func (r *Requester) impliedNak(now clocked.Time, qp int32, q *sendQP) {
	r.Stats.ImpliedNaks++
	r.loss(now, qp, q)
}

// loss goes back once for a loss; what else is noticed of the same loss is
// ignored until there is progress.
func (r *Requester) loss(now clocked.Time, qp int32, q *sendQP) {
	if q.retried || q.state == sendRNR {
		return
	}
	r.retransmit(now, qp, q)
}

func (r *Requester) retransmit(now clocked.Time, qp int32, q *sendQP) {
	if q.retry == 0 {
		r.fail(now, qp, measure.StatusRetryExceeded, nil)
		return
	}
	if q.retry != rc.Infinite {
		q.retry--
	}
	q.retried = true
	r.Stats.GoBacks++
	r.goBack(now, q)
	r.restartTimer(now, qp)
	r.wantPayload(qp)
	r.wantSend(qp)
}

// goBack makes the oldest unacknowledged packet the next to send. What the
// requests sent since then have spent was in vain.
func (r *Requester) goBack(now clocked.Time, q *sendQP) {
	q.vain = q.current
	if q.current != q.admitted && q.next.Sub(q.sq.At(q.current).first) > 0 {
		q.vain++
	}
	q.charge(now, measure.CauseRetransmit)
	q.seek(q.una)
}

// charge books the time of the requests sent in vain.
func (q *sendQP) charge(now clocked.Time, c measure.Cause) {
	for s := q.sq.Head(); int32(q.vain-s) > 0; s++ {
		q.sq.At(s).wqe.Access.Ledger.Charge(now, c)
	}
}

// seek makes psn the next to send. Payload must be read again: an adapter
// keeps no copy of what it sent.
func (q *sendQP) seek(psn rc.PSN) {
	q.next, q.reads = psn, 0
	q.current = q.sq.Head()
	for q.current != q.admitted {
		req := q.sq.At(q.current)
		if psn.Sub(req.first.Add(req.count)) < 0 {
			break
		}
		if req.wqe.Op.Responds() {
			q.reads++
		}
		q.current++
	}
	q.payRequest, q.payNext = q.current, psn
	q.payReady, q.payHeld = 0, 0
	q.payEpoch++
}

// fail ends the QP: the oldest request has the status, and the NAK's ledger if
// there is one; the rest are flushed.
func (r *Requester) fail(now clocked.Time, qp int32, status measure.Status, part *measure.Ledger) {
	q := &r.qps[qp]
	r.Stats.DeadQPs++
	q.state = sendDead
	q.deadline = clocked.Never
	r.retire(now, qp, q, status, part)
	r.goBack(now, q)
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
	if r.timeout > 0 && (q.next != q.una || q.current != q.admitted) {
		at = now + r.timeout
	}
	r.setDeadline(q, qp, at)
}

func (r *Requester) setDeadline(q *sendQP, qp int32, at clocked.Time) {
	q.deadline = at
	if at < q.queuedAt {
		q.queuedAt = at
		r.timers.push(timer{at: at, qp: qp})
	}
}

// expire acts on deadlines that have come.
func (r *Requester) expire(now clocked.Time) {
	for len(r.timers) > 0 && r.timers[0].at <= now {
		t := r.timers.pop()
		q := &r.qps[t.qp]
		if t.at != q.queuedAt {
			continue // a later entry than the one that counts
		}
		q.queuedAt = clocked.Never
		switch {
		case q.deadline == clocked.Never:
		case q.deadline > now:
			r.setDeadline(q, t.qp, q.deadline)
		case q.state == sendRNR:
			q.state = sendRun
			q.charge(now, measure.CauseRNRWait)
			q.deadline = clocked.Never
			r.wantPayload(t.qp)
			r.wantSend(t.qp)
		case q.next != q.una:
			r.Stats.Timeouts++
			r.retransmit(now, t.qp, q)
		default:
			q.deadline = clocked.Never // nothing outstanding
		}
	}
}

// arm asks the engine to wake the unit for the earliest timer.
func (r *Requester) arm(now clocked.Time) {
	if r.armed <= now {
		r.armed = clocked.Never
	}
	if len(r.timers) > 0 && r.timers[0].at < r.armed {
		r.armed = r.timers[0].at
		r.engine.Wake(r.id, r.armed)
	}
}
