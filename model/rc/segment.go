package rc

import "rnicmmu/model"

// MaxMessage is the largest message in bytes (2 GiB).
const MaxMessage = 1 << 31

// AtomicBytes is the operand size of an atomic.
const AtomicBytes = 8

// ValidMTU tells whether a path MTU in bytes is one that InfiniBand has.
func ValidMTU(mtu uint32) bool { return mtu >= 256 && mtu <= 4096 && mtu&(mtu-1) == 0 }

// Packets is the number of packets that carry length bytes: one at least.
func Packets(length uint64, mtu uint32) uint32 {
	if length == 0 {
		return 1
	}
	return uint32((length-1)/uint64(mtu)) + 1
}

// RequestPackets is the number of packets that a request sends.
func RequestPackets(op model.Op, length uint64, mtu uint32) uint32 {
	if op.Responds() {
		return 1
	}
	return Packets(length, mtu)
}

// Span is the number of PSNs that a request consumes: its packets; of a READ,
// the packets of its response.
func Span(op model.Op, length uint64, mtu uint32) uint32 {
	if op.Atomic() {
		return 1
	}
	return Packets(length, mtu)
}

// Payload is the number of bytes in packet i of a message of length bytes.
func Payload(i uint32, length uint64, mtu uint32) uint32 {
	start := uint64(i) * uint64(mtu)
	if start >= length {
		return 0
	}
	return uint32(min(length-start, uint64(mtu)))
}

// Extra is what the last packet of a request carries beside data.
type Extra uint8

// Extras.
const (
	NoExtra        Extra = iota
	WithImmediate        // SEND and WRITE
	WithInvalidate       // SEND
)

// position is 0 first, 1 middle, 2 last, 3 only.
func position(i, n uint32) int {
	switch {
	case n == 1:
		return 3
	case i == 0:
		return 0
	case i+1 < n:
		return 1
	}
	return 2
}

var (
	sendOpcodes = [3][4]Opcode{
		{SendFirst, SendMiddle, SendLast, SendOnly},
		{SendFirst, SendMiddle, SendLastImmediate, SendOnlyImmediate},
		{SendFirst, SendMiddle, SendLastInvalidate, SendOnlyInvalidate},
	}
	writeOpcodes = [3][4]Opcode{
		{WriteFirst, WriteMiddle, WriteLast, WriteOnly},
		{WriteFirst, WriteMiddle, WriteLastImmediate, WriteOnlyImmediate},
		{NoOpcode, NoOpcode, NoOpcode, NoOpcode},
	}
)

// RequestOpcode is the opcode of packet i of the n that a request sends, or
// NoOpcode where the operation cannot carry the extra.
func RequestOpcode(op model.Op, extra Extra, i, n uint32) Opcode {
	if i >= n || extra > WithInvalidate {
		return NoOpcode
	}
	switch op {
	case model.OpSend:
		return sendOpcodes[extra][position(i, n)]
	case model.OpWrite:
		return writeOpcodes[extra][position(i, n)]
	}
	if extra != NoExtra || n != 1 {
		return NoOpcode
	}
	switch op {
	case model.OpRead:
		return ReadRequest
	case model.OpCompareSwap:
		return CompareSwap
	case model.OpFetchAdd:
		return FetchAdd
	}
	return NoOpcode
}
