package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model/rc"
)

// invalidate asks the TPT, whose wire is ready, to kill the key that the head,
// the last packet of a SEND, names. Its data are on their way to memory.
func (r *Responder) invalidate(now clocked.Time, qp int32, q *recvQP) {
	p := r.first(q)
	p.Ledger.Charge(now, measure.CauseResponder)
	*r.Ports.Translate.Push(now) = msg.Translate{Kill: true, Cookie: uint64(qp), QP: uint32(qp), PD: r.buffers[qp].PD,
		Key: uint32(p.Invalidate), Op: p.Op, Page: msg.NoPage, Access: p.Access, Ledger: &p.Ledger}
	r.enterStage(now, q, stageInvalidation)
}

// invalidated completes the SEND: the receive completion is written when the
// key is dead. A key that cannot be invalidated is the responder's own error:
// its QP stops without a NAK, and the receive completion says why.
func (r *Responder) invalidated(now clocked.Time, qp int32, q *recvQP, o msg.Outcome) {
	e := rc.Done
	if o != msg.OutcomeOK {
		e = rc.InvalidateRefused
		r.Stats.KillsRefused++
	}
	r.protocol.execute(now, qp, q, e)
}
