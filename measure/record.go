package measure

import (
	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Status is how an access ended.
type Status uint8

// Outcomes of an access.
const (
	StatusOK              Status = iota
	StatusRemoteAccess           // NAK remote access error: key, rights or bounds
	StatusInvalidReq             // NAK invalid request
	StatusRemoteOp               // NAK remote operational error
	StatusRetryExceeded          // transport retries used up
	StatusRNRExceeded            // RNR retries used up
	StatusFlushed                // its QP was in error
	StatusTerminated             // iWARP: the peer sent a Terminate message
	StatusNotAdvertised          // the host refused to advertise the buffer: nothing was sent
	StatusLocalProtection        // the requester's bus refused it the data to send
	StatusLocalOp                // the requester could not read the work request or the data to send
	NumStatuses
)

var statusNames = [NumStatuses]string{
	"ok", "remote_access_error", "invalid_request", "remote_operational_error",
	"retry_exceeded", "rnr_retry_exceeded", "flushed", "terminated", "not_advertised",
	"local_protection_error", "local_operation_error",
}

// String is the status as result files print it.
func (s Status) String() string { return statusNames[s] }

// Counts are what an access caused, summed over its packets and retries.
type Counts struct {
	Pages       uint32 // pages looked up
	MPTHits     uint32
	MPTMisses   uint32
	MTTHits     uint32
	MTTMisses   uint32
	MTTMerged   uint32 // of the misses, those that joined a walk in flight
	IOTLBMisses uint32
	TableReads  uint32 // reads of adapter tables that this access started
	Faults      uint32
	RNRNaks     uint32
	TCPDrops    uint32
	Resends     uint32 // packets sent again
	TLPs        uint32 // on the link of the adapter whose memory is accessed
	PCIeBytes   uint64 // wire bytes of those TLPs
}

// Access is the passport of one access: it travels by pointer with the work
// from post to completion and is then one row of accesses.parquet. Units add to
// Counts; the requester owns the ledger and joins the parts into it.
type Access struct {
	ID       uint64 // from 0 in issue order, per run
	Slot     uint32 // the driver's own: where the passport is kept
	Adapter  uint16
	Op       model.Op
	Status   Status
	Warmup   bool // left out of the figures
	QP       uint32
	Key      uint32
	Len      uint32
	Placed   uint32 // bytes executed, each once: what a resent packet places again is not counted
	VA       model.VA
	Issue    clocked.Time
	Complete clocked.Time
	Counts   Counts
	Ledger   Ledger
}

// Trigger is why the kernel invalidated.
type Trigger uint8

// Causes of an invalidation.
const (
	TriggerEvict Trigger = iota
	TriggerMigrate
	TriggerUnmap
	TriggerProtect
	TriggerCOW
	TriggerSplit
	TriggerCollapse
	TriggerSuspend
	NumTriggers
)

var triggerNames = [NumTriggers]string{
	"evict", "migrate", "unmap", "protect", "cow", "split", "collapse", "suspend",
}

// String is the trigger as result files print it.
func (t Trigger) String() string { return triggerNames[t] }

// Invalidation is one round trip to one adapter: a row of
// invalidations.parquet. Times are instants in picoseconds, 0 where a step does
// not exist.
type Invalidation struct {
	ID      uint64
	Adapter uint16
	Trigger Trigger
	Pages   uint32 // host pages that were valid in the adapter's table

	Notified     clocked.Time // the kernel called the notifier
	Sent         clocked.Time // command written and doorbell rung
	Received     clocked.Time // the adapter has fetched the command
	Marked       clocked.Time // entries zapped, cached copies and walks dropped
	Drained      clocked.Time // DMA translated before has been issued and reads returned
	Acknowledged clocked.Time // the kernel has seen the completion
	IOTLB        clocked.Time // the IOMMU has dropped the pages, and what it had translated before is through
	DevTLB       clocked.Time // the IOMMU has seen the Invalidate Completion of the adapter's translation cache
	Done         clocked.Time // DMA unmapped, page table changed: the frame may be reused
	Checked      clocked.Time // the notifier's checks are over: adapters are told from here on
	Others       clocked.Time // the kernel has the last adapter's answer, or has cut it off
	TimedOut     bool
	Warmup       bool // left out of the figures
}
