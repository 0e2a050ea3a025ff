package msg

import (
	"rnicmmu/measure"
	"rnicmmu/model"
)

// Kind is what a memory transaction is for. It decides nothing on the link;
// statistics and the receiver use it.
type Kind uint8

// Kinds of transactions.
const (
	KindData     Kind = iota // payload of an RDMA request or response
	KindWQE                  // fetch of a send work request
	KindRecvWQE              // fetch of a receive work request
	KindCommand              // fetch of a table command posted by the kernel
	KindQPC                  // QP context read or write-back
	KindMPT                  // memory-protection table read or write
	KindMTT                  // translation table read or write
	KindCQE                  // completion entry: Inbox message when it is in memory
	KindEQE                  // event entry: Inbox message when it is in memory
	KindMSI                  // MSI-X interrupt: Inbox message
	KindDoorbell             // MMIO write from the host to the adapter
	KindFlush                // read that pushes earlier writes to memory
	KindATS                  // translation request (Len: 8 bytes a translation) and its completion
	KindMessage              // message without an address, to or from the IOMMU: Body tells which
	KindWalk                 // the IOMMU's read of a page-table entry
	NumKinds
)

var kindNames = [NumKinds]string{
	"data", "wqe", "recv_wqe", "command", "qpc", "mpt", "mtt", "cqe", "eqe", "msi", "doorbell", "flush",
	"ats", "message", "walk",
}

// String is the kind's name in statistics.
func (k Kind) String() string { return kindNames[k] }

// Oracle is what the content check needs of a transfer; no hardware looks at it.
type Oracle struct {
	Page   uint32 // dense number of the process page that the access meant; NoPage: none
	Offset uint32 // of the first byte, within the message
	Write  uint64 // identity of the packet: that of its access from 1 on, and its own place in the message
}

// From is what belongs to the transfer's bytes from so many on.
func (o Oracle) From(n uint32) Oracle {
	o.Offset += n
	return o
}

// NoPage marks transfers outside user memory.
const NoPage = ^uint32(0)

// Status is how a request of an adapter ended on the link.
type Status uint8

// Completion statuses, and how a request ends that has no good completion; but
// for StatusRetry all that are not StatusSuccess are for good. StatusRetry stands
// for what an IOMMU that holds no page back answers where the page is absent: the
// page was asked for, come again.
const (
	StatusSuccess     Status = iota
	StatusUnsupported        // UR: blocked, or the service is off
	StatusAbort              // CA: the IOMMU's configuration is broken, or the page is absent
	StatusRetry
	StatusPoisoned // data came that were marked bad (EP): not to be used
	StatusTimeout  // no completion came in pcie.completion_timeout
	NumStatuses
)

var statusNames = [NumStatuses]string{"success", "unsupported request", "completer abort", "retry", "poisoned", "timeout"}

// String is the status for people.
func (s Status) String() string { return statusNames[s] }

// Address is what the IOMMU has to know of a request's address.
type Address struct {
	PASID      uint32 // process that it belongs to; 0: none, the adapter's DMA domain
	Translated bool   // it came from a translation completion (AT = 10)
	Store      bool   // KindATS: the right to store is asked for (NW = 0)
	Writer     uint32 // who writes to a process's address and then proves that by a read, from 1; 0: all others of the adapter
}

// DMA asks an adapter's endpoint for a transfer to or from host memory.
type DMA struct {
	Kind    Kind
	Write   bool
	Notify  bool // a write answers with DMADone when its last TLP is on the link; a read always does
	PA      model.PA
	Len     uint32          // bytes, ≥ 1; may cross MPS, MRRS and 4 KiB boundaries
	Cookie  uint64          // returned in DMADone, and in Inbox for CQE, EQE and MSI
	Body    any             // rides along to Inbox or the IOMMU: *Event, *Command, *PageRequest, *measure.Access … (pointers only)
	Ledger  *measure.Ledger // charged dma_queue, pcie, host_memory when not nil
	Counts  *measure.Counts // TLPs, bytes and IOTLB misses are added when not nil
	Oracle  Oracle
	Address Address
}

// DMADone answers a DMA.
type DMADone struct {
	Kind   Kind
	Write  bool
	Stale  bool // a read was served by a frame that did not hold the page meant
	Status Status
	Entry  uint64 // KindATS: the translation, encoded (model/ats)
	Cookie uint64
}

// TLPType is the PCIe ordering class.
type TLPType uint8

// Ordering classes.
const (
	Posted TLPType = iota
	NonPosted
	Completion
)

// TLP is a transaction layer packet on a link.
type TLP struct {
	Type     TLPType
	Kind     Kind
	Stale    bool
	Status   Status // of a completion
	Payload  bool   // carries data (MWr, CplD)
	Poisoned bool   // the data are marked bad (EP)
	Relaxed  bool   // attribute RO
	Last     bool   // the last TLP of its DMA, the last completion of its read
	Tag      uint16 // of the read
	Len      uint32 // payload bytes (MWr, CplD) or bytes asked for (MRd)
	PA       model.PA
	Cookie   uint64
	Body     any
	Ledger   *measure.Ledger
	Counts   *measure.Counts // of a request: what it causes is added when not nil
	Oracle   Oracle
	Address  Address
	Entry    uint64 // of a translation completion
}

// MemReq asks host memory for a transfer within one 4 KiB block.
type MemReq struct {
	Write    bool
	Poisoned bool // the data of a write are marked bad: they are not placed
	Relaxed  bool // attribute RO
	Kind     Kind
	Tag      uint16 // returned in MemDone
	Adapter  uint16 // whose request it is; returned in MemDone, and in Inbox
	Len      uint32
	PA       model.PA
	Cookie   uint64
	Body     any
	Ledger   *measure.Ledger // charged host_memory up to the answer; nil: none
	Counts   *measure.Counts // IOTLB misses are added when not nil
	Oracle   Oracle
	Address  Address
}

// MemDone answers a read.
type MemDone struct {
	Kind    Kind
	Stale   bool
	Relaxed bool // as of the request
	Status  Status
	Tag     uint16
	Adapter uint16
	Len     uint32
	PA      model.PA
	Entry   uint64 // KindATS: the translation, encoded
	Ledger  *measure.Ledger
}

// Inbox tells software (kernel or driver) that a completion entry, event entry
// or interrupt has arrived in memory.
type Inbox struct {
	Kind    Kind
	Adapter uint16
	Cookie  uint64
	Body    any
}

// Doorbell is a posted MMIO write from software to an adapter.
type Doorbell struct {
	Disable bool   // not for the adapter: its root port takes no more requests (bus master off)
	Message bool   // from the IOMMU: a message, not a memory write
	Client  uint8  // index of the endpoint's client that it is for
	Adapter uint16 // that it is for
	Len     uint32 // bytes written: 8 for a plain doorbell, more with an inline work request
	Cookie  uint64
	Body    any // *WQE (inline work request), *Command, *Invalidate, *PageResponse or nil
	Ledger  *measure.Ledger
}
