package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// Bytes of a TLP on the wire beside its payload: framing and sequence number 4,
// LCRC 4, header 16 (64-bit address) or 12 (completion); [pcie-model], and
// get_wire_size of [cocotbext-pcie].
const (
	requestOverhead    = 24 // MWr, MRd, translation requests and messages
	completionOverhead = 20 // CplD, Cpl
)

// prefixBytes is the size of the PASID prefix that a request carries in front
// of its header; completions have none ([PCIe]). It takes no credit of its own
// ([R-Tile]).
const prefixBytes = 4

// invalidateBytes is the data of an Invalidate Request; other messages of ATS
// and PRI have none ([riscv-iommu] iommu_ats.h).
const invalidateBytes = 8

// addressBlock is the boundary that no request may cross, in bytes.
const addressBlock = 4096

// combiningLine is the write-combining buffer of a processor: an MMIO write
// leaves it in pieces of at most this many bytes.
const combiningLine = 64

// WireBytes is the size of a TLP on the link with the given payload in bytes.
func WireBytes(class msg.TLPType, payload uint32) int64 {
	if class == msg.Completion {
		return completionOverhead + int64(payload)
	}
	return requestOverhead + int64(payload)
}

// prefixOf is the prefix of a request for a process, in bytes; 0: for none.
func prefixOf(pasid uint32) uint8 {
	if pasid == 0 {
		return 0
	}
	return prefixBytes
}

// messageSize is the data and the prefix of a message to the adapter, in bytes.
func messageSize(body any) (payload uint32, prefix uint8) {
	switch m := body.(type) {
	case *msg.Invalidate:
		return invalidateBytes, prefixOf(m.PASID)
	case *msg.PageResponse:
		return 0, prefixOf(m.PASID)
	}
	return 0, 0
}

// worse is the status of a read of which two requests ended differently: one
// that is refused for good counts before one that may come again.
func worse(a, b msg.Status) msg.Status {
	if severity[a] < severity[b] {
		return b
	}
	return a
}

var severity = [...]uint8{msg.StatusSuccess: 0, msg.StatusRetry: 1, msg.StatusUnsupported: 2, msg.StatusAbort: 3, msg.StatusPoisoned: 4,
	msg.StatusTimeout: 5}

// ByteTime is the exact time of one byte on all lanes, num/den picoseconds,
// after line encoding ([cocotbext-pcie]). gen is 1 to 5, lanes at least 1.
func ByteTime(gen, lanes int) (num, den int64) {
	const bitsPerByte, picoseconds = 8, 4000 // of a quarter of a gigatransfer a second
	quarters := [...]int64{10, 20, 32, 64, 128}[gen-1]
	if gen <= 2 {
		return bitsPerByte * 10 * picoseconds, 8 * quarters * int64(lanes)
	}
	return bitsPerByte * 130 * picoseconds, 128 * quarters * int64(lanes)
}

// requestPiece is how many of the left bytes at pa the next request takes: at
// most limit (MPS or MRRS), and none beyond the 4 KiB block.
func requestPiece(pa model.PA, left, limit uint32) uint32 {
	return min(left, limit, addressBlock-uint32(pa%addressBlock))
}

// completionPiece is how many of the left bytes at pa the next completion
// takes ([PG213], [AN855]): it ends at the end of the request or at a multiple
// of rcb, and carries at most mps, itself a multiple of rcb.
func completionPiece(pa model.PA, left, rcb, mps uint32, everyBoundary bool) uint32 {
	offset := uint32(pa) % rcb
	if everyBoundary {
		return min(left, rcb-offset)
	}
	if left <= mps {
		return left
	}
	return mps - offset
}

// dataCredits is the number of data credits that a payload takes.
func dataCredits(payload uint32) int32 { return int32((payload + creditBytes - 1) / creditBytes) }

// mayPass is the ordering table without relaxed or ID-based ordering: whether
// a TLP of the row's class may overtake an earlier one of the column's. Entries
// left open by the table are yes, so that nothing waits without need; within a
// class order is kept.
var mayPass = [numClasses][numClasses]bool{
	msg.Posted:     {msg.NonPosted: true, msg.Completion: true},
	msg.NonPosted:  {msg.Completion: true},
	msg.Completion: {msg.NonPosted: true},
}

const numClasses = 3

var classNames = [numClasses]string{"posted", "non-posted", "completion"}

// packet is a TLP in flight or in a receive buffer.
type packet struct {
	msg.TLP
	order   uint64       // number of the TLP on its direction
	arrival clocked.Time // of its last byte
	client  uint8        // doorbells: the client it is for
	written uint32       // doorbells: bytes of the whole MMIO write or message
}
