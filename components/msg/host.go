package msg

import (
	"rnicmmu/model"
	"rnicmmu/model/key"
)

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
	PageDiscard                    // the process gave Page up: what the frame (NoPage: none) and the slot held is nobody's, and zeros are due
	PageOrphan                     // as PageDiscard, but an old registration keeps the frame: its DMA that means Page is stale by design
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

// RegistrationOp is what software asks of the kernel for a dynamic region.
type RegistrationOp uint8

// Requests, and RegionUnmapped, which is a notice and not an answer.
const (
	RegisterRegion   RegistrationOp = iota // system call: pin (or not), write the table, make the key valid
	DeregisterRegion                       // system call: kill the key, then let the memory go
	FastRegister                           // work request (REG_MR): a region that is free becomes valid under a new key; where it has a window, the window does (BIND_MW)
	LocalInvalidate                        // work request (LOCAL_INV): a valid region, or its window, becomes free; its memory stays registered
	RemoteInvalidate                       // none: a receive completion has said that a peer's SEND did that
	AdviseRegion                           // system call: pages of the whole region are to be brought in; answered at once
	RemapRegion                            // system calls: the process unmaps the region's memory and maps fresh memory there
	RegionUnmapped                         // notice: the process has unmapped memory of the region
)

// Registration asks the kernel for a change of a dynamic region. A region has
// one change under way at a time.
type Registration struct {
	Op     RegistrationOp
	Region int        // index among the regions that the kernel was given
	Rights key.Rights // RegisterRegion, FastRegister: 0 for those of the region's set-up
	QP     uint32     // FastRegister of a window: the QP that it is bound to
	Advice uint8      // AdviseRegion: the kernel's
	Cookie uint64
}

// Registered answers a Registration, or gives notice. Notices of a region that
// software has not yet taken are one.
type Registered struct {
	Op         RegistrationOp
	Region     int
	Cookie     uint64
	Key        key.Key // valid from now on, where Err is nil and the Op makes one valid
	Allocation uint32  // counts the region's mappings: a registration of another one is stale
	Err        error   // nothing has changed
}
