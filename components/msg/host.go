package msg

import "rnicmmu/model"

// PageOpKind is what the kernel or the CPU does to the content of a frame.
type PageOpKind uint8

// Page operations. Memory owns frames' content and charges its bandwidth.
const (
	PageZero     PageOpKind = iota // assign the frame to Page and clear it (first touch)
	PageIn                         // assign the frame to Page and load it from the swap slot
	PageOut                        // save the frame to the swap slot
	PageFree                       // the frame belongs to nobody
	PageCPUWrite                   // the CPU stores 64 bytes
	PageCPURead                    // the CPU loads 64 bytes
	PageCopy                       // assign the frame to Page and copy it from frame Slot (migration)
)

// PageOp asks memory for a page operation.
type PageOp struct {
	Kind   PageOpKind
	Frame  uint32
	Page   uint32 // dense number of the process page
	Slot   uint32 // swap slot; of PageCopy: the frame to copy from
	Write  uint64 // identity of a CPU store
	Cookie uint64
}

// PageDone answers a PageOp.
type PageDone struct {
	Kind   PageOpKind
	Lost   bool // the content was not what the process must see
	Same   bool // PageOut: swap held this content already (or the page was never written)
	Cookie uint64
}

// FramePA is the address of a frame of host memory.
func FramePA(frame uint32, shift model.PageShift) model.PA {
	return model.PA(uint64(frame) << shift)
}
