package msg

import (
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// Invalidate is an ATS Invalidate Request on its way to an adapter, the body of
// a Doorbell. The IOMMU owns it again when the ITag is free.
type Invalidate struct {
	ats.InvalidateRequest
	Record *measure.Invalidation // the adapter stamps Received, Marked and Drained
}

// InvalidateDone is an ATS Invalidate Completion, the body of a DMA of
// KindMessage: posted behind the writes that used the old translations.
type InvalidateDone struct{ ats.InvalidateCompletion }

// PageRequest is a PRI page request, the body of a DMA of KindMessage.
type PageRequest struct {
	ats.PageRequest
	QP uint32 // for dumps
}

// PageResponse is a PRG response, the body of a Doorbell.
type PageResponse struct{ ats.PageResponse }

// IOMMUOp is what the kernel asks of the IOMMU by its command queue.
type IOMMUOp uint8

// Commands. They execute in order; DevTLBInvalidate does not wait for the
// adapter, Fence waits for all that came before.
const (
	IOTLBInvalidate   IOMMUOp = iota // drop IOTLB and paging-structure entries of Range
	ContextInvalidate                // drop the cached context of Adapter and PASID, and all that depends on it
	DevTLBInvalidate                 // Invalidate Request for Range to Adapter
	Fence                            // returned as an IOMMUEvent when all before it are complete
	RespondPage                      // PRG response Response to Adapter
	FreeRing                         // the kernel has taken Count page requests off the ring (a register, not the queue)
)

// IOMMUCommand is a descriptor of the IOMMU's command queue. The kernel owns it
// until it is pushed, and again from the event of the next Fence on.
type IOMMUCommand struct {
	Op       IOMMUOp
	TimedOut bool // out: the adapter did not complete in time
	Refused  bool // out: there is no such command or adapter; nothing was done
	Adapter  uint16
	PASID    uint32
	First    model.VA // of the range, page-aligned
	Len      uint64   // bytes; 0: everything
	Count    uint32
	Response ats.PageResponse
	Owner    uint32                // kernel's own reference
	Record   *measure.Invalidation // IOTLBInvalidate stamps IOTLB, DevTLBInvalidate Sent … Acknowledged and DevTLB
}

// IOMMUEventKind is what the IOMMU tells the kernel.
type IOMMUEventKind uint8

// Events.
const (
	EventFence  IOMMUEventKind = iota // Command, a Fence, is complete
	EventPage                         // a page request is in the ring
	EventAbsent                       // an untranslated request met an absent page
)

// IOMMUEvent is an entry that the IOMMU wrote for the kernel.
type IOMMUEvent struct {
	Kind    IOMMUEventKind
	Adapter uint16
	Write   bool          // EventAbsent
	VA      model.VA      // EventAbsent
	Command *IOMMUCommand // EventFence
	Request PageRequest   // EventPage
	Lost    bool          // EventPage: requests found the ring full since the one before
}
