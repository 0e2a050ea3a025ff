package ddp

import "rnicmmu/model"

// Message is a kind of RDMAP message.
type Message uint8

// Messages.
const (
	Write Message = iota
	ReadRequest
	ReadResponse
	Send
	AtomicRequest
	AtomicResponse
	Terminate
	numMessages
)

// Bytes of headers ([Linux] siw/iwarp.h; atomics: [RFC7306]).
const (
	mpaBytes      = 2 // length; without markers
	crcBytes      = 4
	taggedBytes   = 14 // control 2, STag 4, offset 8
	untaggedBytes = 18 // control 2, reserved 4, queue 4, sequence number 4, offset 4
	readBytes     = 28 // sink STag and offset, size, source STag and offset
	atomicBytes   = 52 // operation, identifier, STag, offset, two operands and their masks
	atomicReply   = 12 // identifier, old value
	reasonBytes   = 4  // layer, type and code
	lengthBytes   = 2  // of the DDP segment that is refused
)

var headers = [numMessages]uint32{
	Write:          taggedBytes,
	ReadRequest:    untaggedBytes + readBytes,
	ReadResponse:   taggedBytes,
	Send:           untaggedBytes,
	AtomicRequest:  untaggedBytes + atomicBytes,
	AtomicResponse: untaggedBytes + atomicReply,
	Terminate:      untaggedBytes + reasonBytes,
}

// FPDU is the bytes that a DDP segment of the message takes in the TCP stream:
// length, headers, payload, pad to a multiple of 4 and CRC.
func FPDU(m Message, payload uint32) uint32 {
	return (mpaBytes+headers[m]+payload+3)&^3 + crcBytes
}

// TerminateFPDU is the bytes of a Terminate message, which carries the headers
// of the request that it refuses.
func TerminateFPDU(refused model.Op) uint32 {
	return FPDU(Terminate, lengthBytes+headers[refusedHeader(refused)])
}

// refusedHeader is the message whose headers come back. RDMAP's part is
// returned of a READ request alone ([RFC5040]), an atomic's is left out.
func refusedHeader(op model.Op) Message {
	switch {
	case op == model.OpRead:
		return ReadRequest
	case op == model.OpWrite:
		return Write
	}
	return Send
}

// Request is the message that carries an operation to the responder.
func Request(op model.Op) Message {
	switch {
	case op == model.OpRead:
		return ReadRequest
	case op == model.OpWrite:
		return Write
	case op.Atomic():
		return AtomicRequest
	}
	return Send
}

// MaxFPDU is the longest FPDU with the given payload: a SEND's.
func MaxFPDU(payload uint32) uint32 { return FPDU(Send, payload) }
