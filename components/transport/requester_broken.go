package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// unreadable notes that the bus has ended a read without data. What was to be
// read is not asked for again, so that the queue sends nothing more from there
// on; requests before it end as ever, and then the queue pair with an error.
func (r *Requester) unreadable(now clocked.Time, op sendOp, status msg.Status) {
	req := r.qps[op.qp].sq.At(op.seq)
	cause := measure.CausePayload
	if op.kind == msg.KindWQE {
		cause = measure.CausePost
	}
	req.wqe.Access.Ledger.Charge(now, cause)
	if req.broken == measure.StatusOK {
		req.broken = localError(op.kind, status)
		r.broken = append(r.broken, fetchRef{qp: op.qp, seq: op.seq})
	}
}

// localError is the status of a request whose work request or data could not be
// read: data that the bus refuses lie where the adapter may not read, all else is
// a failure of the queue pair's operation.
func localError(kind msg.Kind, status msg.Status) measure.Status {
	if kind == msg.KindData && status != msg.StatusPoisoned && status != msg.StatusTimeout {
		return measure.StatusLocalProtection
	}
	return measure.StatusLocalOp
}

// endBroken ends the queue pairs whose oldest request could not be read.
func (r *Requester) endBroken(now clocked.Time) {
	waiting := r.broken[:0]
	for _, b := range r.broken {
		q := &r.qps[b.qp]
		switch {
		case !q.sq.Holds(b.seq): // acknowledged after all, or flushed
		case q.sq.Head() != b.seq:
			waiting = append(waiting, b)
		default:
			req := q.sq.Front()
			req.wqe.Access.Ledger.Charge(now, measure.CauseSendQueue)
			q.admitted = later(q.admitted, b.seq+1)
			r.protocol.end(now, b.qp, req.broken)
		}
	}
	r.broken = waiting
}
