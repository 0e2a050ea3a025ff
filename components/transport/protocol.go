package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
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
	// end ends a QP, if it has not ended, with an error of its oldest request's own.
	end(now clocked.Time, qp int32, status measure.Status)
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

// receiveProtocol is what the reliable connection (rcResponder) and iWARP
// (iwarpResponder) do differently at a responder. What an access of memory takes
// (QP context, receive work requests, translations, transfers, the backup ring)
// is the Responder's, on which both stand; it has no method of this interface.
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
	// rest is the bytes from the head's next one to the end of its message, as far
	// as the adapter knows it.
	rest(qp int32, q *recvQP) uint32
	// unchecked is the bytes at va for which a look-up has to check the key.
	unchecked(qp int32, q *recvQP, va model.VA) uint32
	// reconsider may put the head off although its page is there.
	reconsider(now clocked.Time, qp int32, q *recvQP)
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
	withdraw(qp int32)
	// label makes a packet the response that holds the head's next byte.
	label(qp int32, q *recvQP, p *msg.Packet)
	// blame notes how a transfer that a reply waited for has ended.
	blame(reply int32, status msg.Status)
	// stop ends a QP without a word.
	stop(qp int32)
	// owe queues the acknowledgement of the head, to leave after waits transfers.
	owe(qp int32, q *recvQP, waits int32) int32
	// mayEmit tells whether a QP has something to send, emit sends it.
	mayEmit(qp int32, q *recvQP) bool
	emit(now clocked.Time, qp int32, q *recvQP)
	// expire acts on the timer of a QP.
	expire(now clocked.Time, qp int32)
}
