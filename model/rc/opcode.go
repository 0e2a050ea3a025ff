package rc

import "rnicmmu/model"

// Opcode is the BTH opcode of an RC packet (rdma-core libibverbs/opcode.h).
type Opcode uint8

// RC opcodes.
const (
	SendFirst Opcode = iota
	SendMiddle
	SendLast
	SendLastImmediate
	SendOnly
	SendOnlyImmediate
	WriteFirst
	WriteMiddle
	WriteLast
	WriteLastImmediate
	WriteOnly
	WriteOnlyImmediate
	ReadRequest
	ReadResponseFirst
	ReadResponseMiddle
	ReadResponseLast
	ReadResponseOnly
	Acknowledge
	AtomicAcknowledge
	CompareSwap
	FetchAdd
	_ // 0x15 is not assigned
	SendLastInvalidate
	SendOnlyInvalidate
	numOpcodes

	// NoOpcode is the result where no opcode fits.
	NoOpcode Opcode = 0xFF
)

type form uint8

const (
	first form = 1 << iota
	last
	immediate
	invalidate
	request
	only = first | last
)

type opcodeInfo struct {
	name string
	op   model.Op
	form form
}

var opcodes = [numOpcodes]opcodeInfo{
	SendFirst:          {"SEND_FIRST", model.OpSend, request | first},
	SendMiddle:         {"SEND_MIDDLE", model.OpSend, request},
	SendLast:           {"SEND_LAST", model.OpSend, request | last},
	SendLastImmediate:  {"SEND_LAST_WITH_IMMEDIATE", model.OpSend, request | last | immediate},
	SendOnly:           {"SEND_ONLY", model.OpSend, request | only},
	SendOnlyImmediate:  {"SEND_ONLY_WITH_IMMEDIATE", model.OpSend, request | only | immediate},
	WriteFirst:         {"RDMA_WRITE_FIRST", model.OpWrite, request | first},
	WriteMiddle:        {"RDMA_WRITE_MIDDLE", model.OpWrite, request},
	WriteLast:          {"RDMA_WRITE_LAST", model.OpWrite, request | last},
	WriteLastImmediate: {"RDMA_WRITE_LAST_WITH_IMMEDIATE", model.OpWrite, request | last | immediate},
	WriteOnly:          {"RDMA_WRITE_ONLY", model.OpWrite, request | only},
	WriteOnlyImmediate: {"RDMA_WRITE_ONLY_WITH_IMMEDIATE", model.OpWrite, request | only | immediate},
	ReadRequest:        {"RDMA_READ_REQUEST", model.OpRead, request | only},
	ReadResponseFirst:  {"RDMA_READ_RESPONSE_FIRST", model.OpRead, first},
	ReadResponseMiddle: {"RDMA_READ_RESPONSE_MIDDLE", model.OpRead, 0},
	ReadResponseLast:   {"RDMA_READ_RESPONSE_LAST", model.OpRead, last},
	ReadResponseOnly:   {"RDMA_READ_RESPONSE_ONLY", model.OpRead, only},
	Acknowledge:        {"ACKNOWLEDGE", model.NumOps, only},
	AtomicAcknowledge:  {"ATOMIC_ACKNOWLEDGE", model.NumOps, only},
	CompareSwap:        {"COMPARE_SWAP", model.OpCompareSwap, request | only},
	FetchAdd:           {"FETCH_ADD", model.OpFetchAdd, request | only},
	SendLastInvalidate: {"SEND_LAST_WITH_INVALIDATE", model.OpSend, request | last | invalidate},
	SendOnlyInvalidate: {"SEND_ONLY_WITH_INVALIDATE", model.OpSend, request | only | invalidate},
}

func (o Opcode) info() opcodeInfo {
	if o < numOpcodes {
		return opcodes[o]
	}
	return opcodeInfo{op: model.NumOps}
}

func (o Opcode) has(f form) bool { return o.info().form&f == f }

// String is the opcode's name as rdma-core and captures spell it.
func (o Opcode) String() string {
	if n := o.info().name; n != "" {
		return n
	}
	return "RESERVED"
}

// Op is the operation that the packet belongs to, or model.NumOps.
func (o Opcode) Op() model.Op { return o.info().op }

// Request tells whether a requester sends it.
func (o Opcode) Request() bool { return o.has(request) }

// First tells whether the packet starts a message, Last whether it ends one.
func (o Opcode) First() bool { return o.has(first) }

// Last tells whether the packet ends a message.
func (o Opcode) Last() bool { return o.has(last) }

// Immediate tells whether the packet carries immediate data.
func (o Opcode) Immediate() bool { return o.has(immediate) }

// Invalidate tells whether the packet asks to invalidate a key.
func (o Opcode) Invalidate() bool { return o.has(invalidate) }

// TakesReceive tells whether the responder needs a new receive work request
// for the packet: at the start of a SEND, or for immediate data of a WRITE.
func (o Opcode) TakesReceive() bool {
	i := o.info()
	switch i.op {
	case model.OpSend:
		return i.form&first != 0
	case model.OpWrite:
		return i.form&immediate != 0
	}
	return false
}
