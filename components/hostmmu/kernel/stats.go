package kernel

import (
	"rnicmmu/clocked"
)

// Stats are totals since time 0.
type Stats struct {
	Events         uint64 // page-fault events taken from adapters
	Resumed        uint64 // answered with success
	Failed         uint64 // answered with an error
	Gone           uint64 // not answered: the adapter was cut off
	Minor, Major   uint64 // CPU faults done for adapters: without and with a swap read
	Coalesced      uint64 // events that found the page mapped already
	Retries        uint64 // mapping steps repeated because of an invalidation
	TryAgain       uint64 // events given back to the adapter at the deadline
	Stalls         uint64 // times that the event queue or the ring waited for a free context
	PageRequests   uint64 // taken off the ring; their groups count as events
	PartsDiscarded uint64 // requests of groups that the IOMMU answered for want of room
	StopMarkers    uint64
	Absent         uint64 // pages that untranslated requests met absent

	FilledPages    uint64 // pages that became resident
	Initial        uint64 // pages resident at time 0
	Evictions      uint64 // pages that left
	Refaults       uint64 // of FilledPages, those that a quarter more memory would have kept
	SwappedIn      uint64
	SwappedOut     uint64
	ExtraSwapOuts  uint64 // of those, pages that held nothing new: dirty only because an adapter might have stored
	Dropped        uint64 // evicted without a swap write
	ReadaheadPages uint64
	DirectReclaims uint64 // faults that found no free frame
	Wakeups        uint64 // of background reclaim
	Suspensions    uint64 // commands

	InvalidationsIssued       uint64 // records: one an adapter that is told
	InvalidationsAcknowledged uint64
	InvalidationsTimedOut     uint64
	UnmappedInvalidations     uint64 // that cost the checks only
	DeadAdapters              uint64 // that did not answer in time and were cut off

	DMAMaps, DMAUnmaps uint64 // pages into and out of the DMA domain
	IOTLBFlushes       uint64 // commands to the IOMMU
	LazyFlushes        uint64 // of those, for unmapped pages that were put off
	UpgradeFlushes     uint64 // of those, for pages that got the right to store
	AccessFlushes      uint64 // of those, for pages whose accessed bit was cleared
	Fences             uint64

	CPUAccesses, CPUFaults uint64
	CPUMinor, CPUMajor     uint64
	CPUStall               clocked.Time // waiting for pages
	LostPages              uint64       // page operations that saw other content than the process must
	FrameErrors            uint64       // ticks at whose end the frames' uses did not add up
	TableErrors            uint64       // changes of page tables and of children's keys refused: 0 in a correct kernel
	UnknownInbox           uint64       // entries that were not for the kernel

	RegistrationTime clocked.Time // before time 0

	ChildStats
	EventStats
	PrefetchStats
	RegistrarStats
}
