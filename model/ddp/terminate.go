package ddp

import (
	"fmt"

	"rnicmmu/model"
	"rnicmmu/model/key"
)

// Layer is which protocol found the error of a Terminate message.
type Layer uint8

// Layers.
const (
	LayerRDMAP Layer = iota
	LayerDDP
)

// Types of errors: within RDMAP, within DDP.
const (
	TypeCatastrophic = 0 // of either layer: the local side failed
	TypeProtection   = 1 // RDMAP: a READ or atomic may not touch its target
	TypeTagged       = 1 // DDP: the target of a WRITE
	TypeUntagged     = 2 // DDP: the receive buffer of a SEND
)

// Codes of protection and tagged errors, which both layers number alike, and of
// untagged errors ([Linux] siw/iwarp.h).
const (
	CodeInvalidSTag   = 0
	CodeBaseBounds    = 1
	CodeAccess        = 2 // RDMAP
	CodeNotAssociated = 3 // RDMAP
	CodeNoInvalidate  = 9 // RDMAP
	CodeTaggedStream  = 2 // DDP: not associated with the stream
	CodeNoBuffer      = 2 // untagged
	CodeTooLong       = 5 // untagged
	CodeUnspecified   = 0xff
)

// Reason is what a Terminate message says.
type Reason struct {
	Layer      Layer
	Type, Code uint8
}

// String is the reason as 0xLTCC, the first 16 bits of the message's control field.
func (r Reason) String() string { return fmt.Sprintf("%#04x", r.Bits()) }

// Bits are layer, type and code in 4, 4 and 8 bits.
func (r Reason) Bits() uint16 { return uint16(r.Layer)<<12 | uint16(r.Type&15)<<8 | uint16(r.Code) }

// NoBuffer refuses a SEND that finds no receive buffer. iWARP has no RNR NAK.
func NoBuffer() Reason { return Reason{LayerDDP, TypeUntagged, CodeNoBuffer} }

// TooLong refuses a SEND that its receive buffer does not hold.
func TooLong() Reason { return Reason{LayerDDP, TypeUntagged, CodeTooLong} }

// CannotInvalidate refuses a SEND with invalidate whose key is not valid.
func CannotInvalidate() Reason { return Reason{LayerRDMAP, TypeProtection, CodeNoInvalidate} }

// Catastrophic ends a stream for an error of the responder's own: a receive
// buffer that its key does not open, a page that cannot be brought in.
func Catastrophic(op model.Op) Reason {
	if op == model.OpSend || op == model.OpWrite {
		return Reason{LayerDDP, TypeCatastrophic, 0}
	}
	return Reason{LayerRDMAP, TypeCatastrophic, 0}
}

// Refusal is the reason for an operation that the key check refuses. DDP has no
// code for missing rights; like [Linux] siw it calls the STag invalid then. A
// verdict that is not told is unspecified, or for a WRITE an invalid STag.
func Refusal(op model.Op, v key.Verdict) Reason {
	switch op {
	case model.OpSend:
		return Catastrophic(op)
	case model.OpWrite:
		return Reason{LayerDDP, TypeTagged, taggedCode(v)}
	}
	return Reason{LayerRDMAP, TypeProtection, protectionCode(v)}
}

func taggedCode(v key.Verdict) uint8 {
	switch v {
	case key.OutOfBounds:
		return CodeBaseBounds
	case key.WrongPD:
		return CodeTaggedStream
	}
	return CodeInvalidSTag
}

func protectionCode(v key.Verdict) uint8 {
	switch v {
	case key.NoRegion, key.WrongVariant, key.NotValid:
		return CodeInvalidSTag
	case key.OutOfBounds:
		return CodeBaseBounds
	case key.NoRight:
		return CodeAccess
	case key.WrongPD:
		return CodeNotAssociated
	}
	return CodeUnspecified
}
