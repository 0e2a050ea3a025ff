package workload

import (
	"strconv"
	"strings"

	"rnicmmu/model"
)

// Transports are the upper three bits of a BTH opcode ([IBA] table 38). The specification leaves 0xC0-0xFF to
// manufacturers; dynamically connected transports live there.
const (
	transportRC  = 0x00
	transportUC  = 0x20
	transportRD  = 0x40
	transportUD  = 0x60
	transportCNP = 0x80
	transportXRC = 0xa0
	transportDC  = 0xc0 // and 0xe0
)

// header is a set of transport headers that follow the BTH.
type header uint16

const (
	hasRDETH header = 1 << iota
	hasDETH
	hasXRCETH
	hasRETH
	hasAtomicETH
	hasAETH
	hasAtomicAckETH
	hasImmDt
	hasIETH
)

// headerSizes are in wire order; sizes from [Linux] rxe_hdr.h.
var headerSizes = [...]struct {
	bit  header
	name string
	size int
}{
	{hasRDETH, "RDETH", 4}, {hasDETH, "DETH", 8}, {hasXRCETH, "XRCETH", 4}, {hasRETH, "RETH", 16},
	{hasAtomicETH, "AtomicETH", 28}, {hasAETH, "AETH", 4}, {hasAtomicAckETH, "AtomicAckETH", 8},
	{hasImmDt, "ImmDt", 4}, {hasIETH, "IETH", 4},
}

// role is what a packet means for the memory of its destination.
type role uint8

const (
	roleNone role = iota // responses, acknowledgements, congestion notifications
	roleOnly             // a request in one packet
	roleFirst
	roleMiddle
	roleLast
)

// opcode describes one value of the BTH's opcode field.
type opcode struct {
	name      string // empty when the value is reserved
	transport uint8
	headers   header
	op        model.Op
	role      role
}

// operations are the lower five bits, from rdma-core libibverbs/opcode.h.
var operations = [32]opcode{
	0x00: {name: "SEND_FIRST", op: model.OpSend, role: roleFirst},
	0x01: {name: "SEND_MIDDLE", op: model.OpSend, role: roleMiddle},
	0x02: {name: "SEND_LAST", op: model.OpSend, role: roleLast},
	0x03: {name: "SEND_LAST_WITH_IMMEDIATE", op: model.OpSend, role: roleLast, headers: hasImmDt},
	0x04: {name: "SEND_ONLY", op: model.OpSend, role: roleOnly},
	0x05: {name: "SEND_ONLY_WITH_IMMEDIATE", op: model.OpSend, role: roleOnly, headers: hasImmDt},
	0x06: {name: "RDMA_WRITE_FIRST", role: roleFirst, headers: hasRETH},
	0x07: {name: "RDMA_WRITE_MIDDLE", role: roleMiddle},
	0x08: {name: "RDMA_WRITE_LAST", role: roleLast},
	0x09: {name: "RDMA_WRITE_LAST_WITH_IMMEDIATE", role: roleLast, headers: hasImmDt},
	0x0a: {name: "RDMA_WRITE_ONLY", role: roleOnly, headers: hasRETH},
	0x0b: {name: "RDMA_WRITE_ONLY_WITH_IMMEDIATE", role: roleOnly, headers: hasRETH | hasImmDt},
	0x0c: {name: "RDMA_READ_REQUEST", op: model.OpRead, role: roleOnly, headers: hasRETH},
	0x0d: {name: "RDMA_READ_RESP_FIRST", headers: hasAETH},
	0x0e: {name: "RDMA_READ_RESP_MIDDLE"},
	0x0f: {name: "RDMA_READ_RESP_LAST", headers: hasAETH},
	0x10: {name: "RDMA_READ_RESP_ONLY", headers: hasAETH},
	0x11: {name: "ACKNOWLEDGE", headers: hasAETH},
	0x12: {name: "ATOMIC_ACKNOWLEDGE", headers: hasAETH | hasAtomicAckETH},
	0x13: {name: "COMPARE_SWAP", op: model.OpCompareSwap, role: roleOnly, headers: hasAtomicETH},
	0x14: {name: "FETCH_ADD", op: model.OpFetchAdd, role: roleOnly, headers: hasAtomicETH},
	0x16: {name: "SEND_LAST_WITH_INVALIDATE", op: model.OpSend, role: roleLast, headers: hasIETH},
	0x17: {name: "SEND_ONLY_WITH_INVALIDATE", op: model.OpSend, role: roleOnly, headers: hasIETH},
}

// opcodes is indexed by the opcode field.
var opcodes = opcodeTable()

func opcodeTable() (all [256]opcode) {
	for _, t := range []struct {
		transport, base, highest uint8 // highest operation that the transport has
		name                     string
		extra                    header // of requests
		always                   header // of every packet
	}{
		{transportRC, transportRC, 0x17, "RC_", 0, 0},
		{transportUC, transportUC, 0x0b, "UC_", 0, 0},
		{transportRD, transportRD, 0x14, "RD_", hasDETH, hasRDETH},
		{transportUD, transportUD, 0x05, "UD_", hasDETH, 0},
		{transportXRC, transportXRC, 0x17, "XRC_", hasXRCETH, 0},
		{transportDC, transportDC, 0x17, "DC_", 0, 0},
		{transportDC, transportDC + 0x20, 0x17, "DC_", 0, 0},
	} {
		for i, o := range operations[:t.highest+1] {
			if o.name == "" || t.base == transportUD && i < 0x04 {
				continue
			}
			o.name = t.name + o.name
			o.transport = t.transport
			o.headers |= t.always
			if o.role != roleNone {
				o.headers |= t.extra
			}
			all[int(t.base)+i] = o
		}
	}
	all[0x81] = opcode{name: "CNP", transport: transportCNP}
	return all
}

// reliable tells whether the transport sends a lost request again under its PSN.
func (o *opcode) reliable() bool {
	return o.transport == transportRC || o.transport == transportRD || o.transport == transportXRC
}

// textOpcodes maps what a text trace may write in its op column to the
// operation: R, W, S, the names of model.Op, and every opcode's name with or
// without its transport, in either case.
var textOpcodes = textOpcodeTable()

func textOpcodeTable() map[string]opcode {
	all := map[string]opcode{}
	put := func(name string, o opcode) {
		all[name], all[strings.ToLower(name)] = o, o
	}
	for i := range opcodes {
		o := opcodes[i]
		if o.name == "" {
			continue
		}
		put(o.name, o)
		put(strings.Replace(o.name, "READ_RESP_", "READ_RESPONSE_", 1), o)
		if i < 0x20 {
			put(strings.TrimPrefix(o.name, "RC_"), o)
		}
	}
	for op := range model.NumOps {
		put(op.String(), opcode{op: op, role: roleOnly})
	}
	put("R", opcode{op: model.OpRead, role: roleOnly})
	put("W", opcode{op: model.OpWrite, role: roleOnly})
	put("S", opcode{op: model.OpSend, role: roleOnly})
	return all
}

// parseOp reads the op column: a name, or an opcode's number.
func parseOp(text []byte) (opcode, bool) {
	if o, ok := textOpcodes[string(text)]; ok {
		return o, true
	}
	n, err := strconv.ParseUint(string(text), 0, 8)
	if err != nil || opcodes[n].name == "" {
		return opcode{}, false
	}
	return opcodes[n], true
}
