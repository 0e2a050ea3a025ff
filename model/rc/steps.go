package rc

import (
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// Admit makes the checks that need no memory: QP state, PSN, opcode sequence,
// QP rights, resources and length, in this order.
func (r *Responder) Admit(p Packet, receiveReady bool) Action {
	if r.State != Ready || !p.Opcode.Request() {
		return Action{Kind: Drop}
	}
	switch d := p.PSN.Sub(r.Expected); {
	case d > 0:
		return r.ahead()
	case d < 0:
		return r.duplicate(p)
	}
	r.silent = false
	switch {
	case !r.inSequence(p.Opcode), !r.qpAllows(p.Opcode.Op()):
		return r.nak(NAKInvalidRequest, p.PSN)
	case p.Opcode.Op().Responds() && r.config.Resources == 0:
		return r.nak(NAKInvalidRequest, p.PSN)
	case p.Opcode.TakesReceive() && !receiveReady:
		return r.rnr(p.PSN)
	case !r.lengthFits(p):
		return r.nak(NAKInvalidRequest, p.PSN)
	}
	return Action{Kind: Continue}
}

// ahead answers a gap with one NAK that names the PSN wanted, then with silence.
func (r *Responder) ahead() Action {
	if r.silent {
		return Action{Kind: Drop}
	}
	r.silent = true
	return Action{Kind: SendNAK, Syndrome: NAKSequence, PSN: r.Expected, MSN: r.MSN}
}

// inSequence tells whether the opcode may follow the packet before it.
func (r *Responder) inSequence(o Opcode) bool {
	if o.First() {
		return !r.inside
	}
	return r.inside && o.Op() == r.op
}

func (r *Responder) qpAllows(op model.Op) bool {
	return op == model.OpSend || r.config.Rights.Has(key.Needed(op))
}

// lengthFits checks the payload against the MTU and the message against 2 GiB.
// All packets but the last are full, and a message of several ends with one
// that is not empty.
func (r *Responder) lengthFits(p Packet) bool {
	o := p.Opcode
	switch {
	case o.Op().Responds():
		return p.Length <= MaxMessage
	case p.Payload > r.config.MTU:
		return false
	case !o.Last() && p.Payload != r.config.MTU:
		return false
	case !o.First() && o.Last() && p.Payload == 0:
		return false
	case o.Op() == model.OpWrite && o.First():
		return p.Length <= MaxMessage
	}
	return true
}

// Authorize applies the verdict of the key check, made for the packet's
// Target, and then the WRITE's length. A suspended region counts as absent.
func (r *Responder) Authorize(p Packet, v key.Verdict) Action {
	op := p.Opcode.Op()
	if op == model.OpSend {
		return Action{Kind: Continue}
	}
	if v.Refused() {
		return r.nak(NAKRemoteAccess, p.PSN)
	}
	if op == model.OpWrite {
		left := r.left
		if p.Opcode.First() {
			left = p.Length
		}
		if p.Opcode.Last() && p.Payload != left || !p.Opcode.Last() && p.Payload >= left {
			return r.nak(NAKInvalidRequest, p.PSN)
		}
	}
	if v == key.SuspendedNow {
		return r.rnr(p.PSN)
	}
	return Action{Kind: Continue}
}

// Translate puts the packet off where a page is absent. It comes after the
// key, so that no refused access brings a page in.
func (r *Responder) Translate(p Packet, present bool) Action {
	if present || p.touchesNothing() {
		return Action{Kind: Continue}
	}
	return r.rnr(p.PSN)
}

func (p *Packet) touchesNothing() bool {
	if op := p.Opcode.Op(); op.Responds() {
		return op == model.OpRead && p.Length == 0
	}
	return p.Payload == 0
}

// Execute ends the packet: on success the responder moves on and acknowledges.
// original is the value that an atomic found.
func (r *Responder) Execute(p Packet, e Execution, original uint64) Action {
	misaligned := p.Opcode.Op().Atomic() && p.VA%AtomicBytes != 0
	switch {
	case misaligned || e == ReceiveTooSmall:
		return r.nak(NAKInvalidRequest, p.PSN)
	case e == ReceiveMalformed:
		return r.nak(NAKRemoteOp, p.PSN)
	case e == CopyFault:
		return r.nak(NAKRemoteAccess, p.PSN)
	case e == InvalidateRefused:
		r.State = Error
		return Action{Kind: Fail}
	}
	r.advance(p, original)
	switch {
	case p.Opcode.Op().Responds():
		return Action{Kind: SendResponse, Syndrome: AckUnlimited, PSN: p.PSN, MSN: r.MSN}
	case p.AckRequest:
		return r.ack(p.PSN)
	}
	return Action{Kind: Executed}
}

func (r *Responder) advance(p Packet, original uint64) {
	op := p.Opcode.Op()
	span := uint32(1)
	if op.Responds() {
		span = Span(op, uint64(p.Length), r.config.MTU)
		r.remember(resource{used: true, op: op, first: p.PSN, span: span,
			key: p.Key, va: p.VA, length: p.Length, original: original})
	}
	r.Expected = r.Expected.Add(span)
	if p.Opcode.First() {
		r.op, r.key, r.va, r.left = op, p.Key, p.VA, p.Length
	}
	if op == model.OpWrite {
		r.va += model.VA(p.Payload)
		r.left -= p.Payload
	}
	if r.inside = !p.Opcode.Last(); !r.inside {
		r.MSN = (r.MSN + 1) & psnMask
	}
}

// Withdraw undoes the last Execute, of a READ or atomic that turns out to need
// an RNR NAK or to fail; before is the Cursor from before it.
func (r *Responder) Withdraw(before Cursor) {
	r.Cursor = before
	r.doneEnd = (r.doneEnd + r.config.Resources - 1) % r.config.Resources
}

// Abort ends the QP because memory failed a READ after its execution; the NAK
// takes the place of the response.
func (r *Responder) Abort(response PSN) Action { return r.nak(NAKRemoteOp, response) }

// Fail ends the QP without a word.
func (r *Responder) Fail() { r.State = Error }

// PutOff is the RNR NAK in the place of a response to a READ that was executed:
// the READ counts as done, and its missing responses will be asked for again.
func (r *Responder) PutOff(response PSN) Action {
	return Action{Kind: SendRNR, Syndrome: RNRNAK(r.config.RNRTimer), PSN: response, MSN: r.MSN}
}

// Recheck is the check of a region before each READ response packet after the
// first. A region revoked meanwhile ends the response with a NAK; a suspended
// one stops it without a word, and the requester asks again.
func (r *Responder) Recheck(response PSN, v key.Verdict) Action {
	switch {
	case v.Refused():
		return r.nak(NAKRemoteAccess, response)
	case v == key.SuspendedNow:
		return Action{Kind: Drop}
	}
	return Action{Kind: Continue}
}
