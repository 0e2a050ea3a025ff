package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/rc"
)

// sendProtocol is what the reliable connection (rcRequester) and iWARP
// (iwarpRequester) do differently at a requester. Doorbells, work requests,
// turns and completions are the Requester's, on which both stand; it has no
// method of this interface.
type sendProtocol interface {
	// admit takes in, in order, the work requests that are here.
	admit(now clocked.Time, qp int32)
	// nextPayload moves on to the data to send that a QP reads next, and tells
	// whether they may be read now.
	nextPayload(qp int32) bool
	// takePayload says what they are, and counts them as being read.
	takePayload(qp int32) sendOp
	// payloadRead takes data that were read.
	payloadRead(now clocked.Time, op sendOp)
	// mayEmit tells whether a QP has something to send, emit sends it.
	mayEmit(qp int32) bool
	emit(now clocked.Time, qp int32)
	// receive takes packets of the other side.
	receive(now clocked.Time)
	// expire acts on the timer of a QP.
	expire(now clocked.Time, qp int32)
	// where says what a send queue is doing.
	where(qp int32) string
}

// receiveProtocol is what the reliable connection and iWARP do differently at a
// responder. Responder does it as the reliable connection; iwarpResponder
// stands on a Responder and does it by TCP. What an access of memory takes (QP
// context, receive work requests, translations, transfers) is common.
type receiveProtocol interface {
	// buffered is the bytes of the receive buffer that a packet takes.
	buffered(p *msg.Packet) int64
	// arrived looks at a packet that has passed the pipeline; false: nothing of it
	// has to wait for its turn.
	arrived(now clocked.Time, qp int32, p *msg.Packet) bool
	// next tells whether an idle QP has a packet to begin.
	next(qp int32, q *recvQP) bool
	// check applies the rules that need no memory to the head.
	check(now clocked.Time, qp int32, q *recvQP)
	// unchecked is the bytes at va for which a look-up has to check the key.
	unchecked(q *recvQP, va model.VA) uint32
	// authorize applies the rules behind a granted translation; false: refused.
	authorize(now clocked.Time, qp int32, q *recvQP) bool
	// absent counts a page that is not there and puts the head off.
	absent(now clocked.Time, qp int32, q *recvQP, o msg.Outcome)
	// refuse ends the head, whose key or fault was refused.
	refuse(now clocked.Time, qp int32, q *recvQP, o msg.Outcome, why key.Verdict)
	// tooLong ends a SEND that its receive buffer does not hold.
	tooLong(now clocked.Time, qp int32, q *recvQP)
	// endPacket ends the head, all of whose pieces are done.
	endPacket(now clocked.Time, qp int32, q *recvQP) bool
	// parked is the replies that wait for a request to come again.
	parked() int
	// execute ends a SEND or WRITE whose bytes are stored and whose key is
	// invalidated, or not.
	execute(now clocked.Time, qp int32, q *recvQP, e rc.Execution)
	// withdraw undoes the execution of an atomic that could not read.
	withdraw(q *recvQP)
	// owe queues the acknowledgement of the head, to leave after waits transfers.
	owe(qp int32, q *recvQP, waits int32) int32
	// mayEmit tells whether a QP has something to send, emit sends it.
	mayEmit(qp int32, q *recvQP) bool
	emit(now clocked.Time, qp int32, q *recvQP)
	// expire acts on the timer of a QP.
	expire(now clocked.Time, qp int32)
}

func (r *Responder) buffered(p *msg.Packet) int64 { return int64(p.WireLen) - gapBytes }

func (r *Responder) withdraw(q *recvQP) {
	q.rules.Withdraw(q.before)
	r.Stats.Messages--
}

func (r *Responder) arrived(clocked.Time, int32, *msg.Packet) bool { return true }

func (r *Responder) parked() int { return 0 }

func (r *Responder) next(_ int32, q *recvQP) bool { return q.head != none }

func (r *Responder) refuse(now clocked.Time, qp int32, q *recvQP, o msg.Outcome, _ key.Verdict) {
	r.answer(now, qp, q, r.refusal(q, o))
}

func (r *Responder) tooLong(now clocked.Time, qp int32, q *recvQP) {
	r.answer(now, qp, q, q.rules.Execute(q.packet, rc.ReceiveTooSmall, 0))
}

// expire has nothing to do: the timers of a reliable connection are the
// requester's.
func (r *Responder) expire(clocked.Time, int32) {}
