// Package model is the untimed core of the RNIC memory-management unit: what
// the right answer is, never when it comes. It imports no engine, no clock and
// no port, so that the same code is the simulator's truth, the scoreboard's
// golden model and the predictor behind a C interface.
//
// This file holds the types that cross package boundaries. Sub-packages hold
// the rules: key (memory keys and regions), mtt (translation tables),
// pagetable (x86-64 radix tables), ats (translation services), pcie (the link),
// rc (responder rules), tcp and ddp (iWARP), cache (set-associative caches), frame
// (frames, owners and content tags).
package model

// VA is a virtual address of the process that registered the memory, in bytes.
type VA uint64

// PA is a host physical address, in bytes.
type PA uint64

// PageShift is the base-2 logarithm of a page size in bytes (12 = 4 KiB).
type PageShift uint8

// Page shifts that hosts and adapters use.
const (
	Shift4K  PageShift = 12
	Shift64K PageShift = 16
	Shift2M  PageShift = 21
	Shift1G  PageShift = 30
	Shift2G  PageShift = 31
)

// Bytes is the page size in bytes.
func (s PageShift) Bytes() uint64 { return 1 << s }

// Number is the page number of va.
func (s PageShift) Number(va VA) uint64 { return uint64(va) >> s }

// Span counts the pages that [va, va+length) touches; a zero length touches none.
func (s PageShift) Span(va VA, length uint64) uint64 {
	if length == 0 {
		return 0
	}
	return s.Number(va+VA(length-1)) - s.Number(va) + 1
}

// Op is what an RDMA request does to memory.
type Op uint8

// Operations, in the order that result files number them.
const (
	OpWrite Op = iota // RDMA WRITE
	OpRead            // RDMA READ
	OpSend            // SEND into the next receive buffer
	OpCompareSwap
	OpFetchAdd
	NumOps
)

var opNames = [NumOps]string{"WRITE", "READ", "SEND", "COMPARE_SWAP", "FETCH_ADD"}

// String is the operation's name as result files print it.
func (o Op) String() string {
	if o < NumOps {
		return opNames[o]
	}
	return "INVALID"
}

// Atomic tells whether the operation is an 8-byte atomic.
func (o Op) Atomic() bool { return o == OpCompareSwap || o == OpFetchAdd }

// Responds tells whether the responder returns data (READ and atomics), so
// that the request holds one of the QP's max_rd_atomic slots.
func (o Op) Responds() bool { return o == OpRead || o.Atomic() }

// Writes tells whether the operation stores to the target memory.
func (o Op) Writes() bool { return o != OpRead }
