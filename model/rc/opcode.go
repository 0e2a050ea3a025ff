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
	op   model.Op
	form form
}

var opcodes = [numOpcodes]opcodeInfo{
	SendFirst:          {model.OpSend, request | first},
	SendMiddle:         {model.OpSend, request},
	SendLast:           {model.OpSend, request | last},
	SendLastImmediate:  {model.OpSend, request | last | immediate},
	SendOnly:           {model.OpSend, request | only},
	SendOnlyImmediate:  {model.OpSend, request | only | immediate},
	WriteFirst:         {model.OpWrite, request | first},
	WriteMiddle:        {model.OpWrite, request},
	WriteLast:          {model.OpWrite, request | last},
	WriteLastImmediate: {model.OpWrite, request | last | immediate},
	WriteOnly:          {model.OpWrite, request | only},
	WriteOnlyImmediate: {model.OpWrite, request | only | immediate},
	ReadRequest:        {model.OpRead, request | only},
	ReadResponseFirst:  {model.OpRead, first},
	ReadResponseMiddle: {model.OpRead, 0},
	ReadResponseLast:   {model.OpRead, last},
	ReadResponseOnly:   {model.OpRead, only},
	Acknowledge:        {model.NumOps, only},
	AtomicAcknowledge:  {model.NumOps, only},
	CompareSwap:        {model.OpCompareSwap, request | only},
	FetchAdd:           {model.OpFetchAdd, request | only},
	SendLastInvalidate: {model.OpSend, request | last | invalidate},
	SendOnlyInvalidate: {model.OpSend, request | only | invalidate},
}

// opcodeNames are apart so that the table above stays within two cache lines.
var opcodeNames = [numOpcodes]string{
	SendFirst:          "SEND_FIRST",
	SendMiddle:         "SEND_MIDDLE",
	SendLast:           "SEND_LAST",
	SendLastImmediate:  "SEND_LAST_WITH_IMMEDIATE",
	SendOnly:           "SEND_ONLY",
	SendOnlyImmediate:  "SEND_ONLY_WITH_IMMEDIATE",
	WriteFirst:         "RDMA_WRITE_FIRST",
	WriteMiddle:        "RDMA_WRITE_MIDDLE",
	WriteLast:          "RDMA_WRITE_LAST",
	WriteLastImmediate: "RDMA_WRITE_LAST_WITH_IMMEDIATE",
	WriteOnly:          "RDMA_WRITE_ONLY",
	WriteOnlyImmediate: "RDMA_WRITE_ONLY_WITH_IMMEDIATE",
	ReadRequest:        "RDMA_READ_REQUEST",
	ReadResponseFirst:  "RDMA_READ_RESPONSE_FIRST",
	ReadResponseMiddle: "RDMA_READ_RESPONSE_MIDDLE",
	ReadResponseLast:   "RDMA_READ_RESPONSE_LAST",
	ReadResponseOnly:   "RDMA_READ_RESPONSE_ONLY",
	Acknowledge:        "ACKNOWLEDGE",
	AtomicAcknowledge:  "ATOMIC_ACKNOWLEDGE",
	CompareSwap:        "COMPARE_SWAP",
	FetchAdd:           "FETCH_ADD",
	SendLastInvalidate: "SEND_LAST_WITH_INVALIDATE",
	SendOnlyInvalidate: "SEND_ONLY_WITH_INVALIDATE",
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
	if o < numOpcodes && opcodeNames[o] != "" {
		return opcodeNames[o]
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
