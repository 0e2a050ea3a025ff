package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"rnicmmu/clocked"
)

// SummarySchema names the layout of summary.json.
const SummarySchema = "rnicmmu.summary.1"

// Summary is summary.json. Counters cover what was issued after the warm-up;
// times are picoseconds. The Recorder fills the figures that rows carry
// (Recorder.Finish lists them), the platform copies its units' counters into
// the rest.
type Summary struct {
	Schema           string              `json:"schema"`
	SimulatedPS      clocked.Time        `json:"simulated_ps"`
	WallS            float64             `json:"wall_s"`
	AccessesPerWallS float64             `json:"accesses_per_wall_s"`
	ResultHash       string              `json:"result_hash"`
	Interrupted      bool                `json:"interrupted,omitempty"`
	Accesses         AccessSummary       `json:"accesses"`
	TPT              TPTSummary          `json:"tpt"`
	PCIe             PCIeSummary         `json:"pcie"`
	IOMMU            IOMMUSummary        `json:"iommu"`
	Invalidations    InvalidationSummary `json:"invalidations"`
	Faults           FaultSummary        `json:"faults"`
	CPU              CPUSummary          `json:"cpu"`
	Transport        TransportSummary    `json:"transport"`
	Victim           TenantStats         `json:"victim"`            // tenant 0
	Aggressor        TenantStats         `json:"aggressor"`         // all others
	Tenants          []TenantStats       `json:"tenants,omitempty"` // by number
	Advertise        AdvertiseSummary    `json:"advertise"`
	Registration     RegistrationSummary `json:"registration"`
	Violations       []Violation         `json:"violations"`
	Warning          string              `json:"warning,omitempty"` // what the configuration does not back
}

// AccessSummary counts accesses. Latency and causes are those of completed
// accesses.
type AccessSummary struct {
	Issued          uint64    `json:"issued"`
	Completed       uint64    `json:"completed"` // status ok
	Bytes           uint64    `json:"bytes"`     // payload of the completed
	Failed          uint64    `json:"failed"`
	FailedBy        FailedBy  `json:"failed_by"`
	LatencyPS       Quantiles `json:"latency_ps"`
	CausePS         CausePS   `json:"cause_ps"`
	FailedLatencyPS Quantiles `json:"failed_latency_ps"`
	Warmup          uint64    `json:"warmup"` // finished, and left out of all other figures
}

// CacheStats counts the data translations of one translation cache.
type CacheStats struct {
	Lookups uint64 `json:"lookups"`
	Hits    uint64 `json:"hits"`
	Misses  uint64 `json:"misses"`
	Merged  uint64 `json:"merged"`  // misses that joined a walk in flight
	Replays uint64 `json:"replays"` // look-ups repeated after a fault, apart from all others
}

// L2Stats counts the second level of a translation cache, all 0 without one. Its
// look-ups are the misses of the first that joined no other.
type L2Stats struct {
	Lookups uint64 `json:"lookups"`
	Hits    uint64 `json:"hits"`
	Misses  uint64 `json:"misses"`
	Walks   uint64 `json:"walks"` // misses that started a table read: all
}

// MPTStats counts the protection-table cache.
type MPTStats struct {
	CacheStats
	Walks uint64  `json:"walks"` // misses that started a table read or a look-up in the second level
	L2    L2Stats `json:"l2"`
}

// MTTStats counts the translation-table cache.
type MTTStats struct {
	CacheStats
	Fills     uint64 `json:"fills"`
	Evictions uint64 `json:"evictions"`
	Walks     uint64 `json:"walks"` // misses that started a walk or a look-up in the second level

	L2       L2Stats       `json:"l2"`
	Prefetch PrefetchStats `json:"prefetch"`
}

// PrefetchStats counts translations read ahead, which are no look-ups.
type PrefetchStats struct {
	Issued  uint64 `json:"issued"`
	Useful  uint64 `json:"useful"`  // whose line a request then hit
	Late    uint64 `json:"late"`    // whose line a request wanted while they were under way
	Dropped uint64 `json:"dropped"` // given up for a change of the table, or refused
}

// TPTSummary counts the adapter's tables.
type TPTSummary struct {
	MPT         MPTStats `json:"mpt"`
	MTT         MTTStats `json:"mtt"`
	TableReads  uint64   `json:"table_reads"`
	TableErrors uint64   `json:"table_errors"` // of the reads, those that ended with an error
}

// PCIeSummary counts the adapters' links, added; up is towards the host.
type PCIeSummary struct {
	Up         LinkStats  `json:"up"`
	Down       LinkStats  `json:"down"`
	StallsPS   PCIeStalls `json:"stalls_ps"`
	Timeouts   uint64     `json:"completion_timeouts"`    // requests without a completion in time
	Unexpected uint64     `json:"unexpected_completions"` // of those, later
	Poisoned   uint64     `json:"poisoned_writes"`        // to memory of the host and of peers

	Upstream *UpstreamLinks `json:"upstream,omitempty"` // nil: no switch
}

// UpstreamLinks counts the links between root ports and switches, added.
type UpstreamLinks struct {
	Up       LinkStats  `json:"up"`
	Down     LinkStats  `json:"down"`
	StallsPS PCIeStalls `json:"stalls_ps"` // credits and replay only
}

// LinkStats counts one direction of a link.
type LinkStats struct {
	TLPs           uint64  `json:"tlps"`
	Bytes          uint64  `json:"bytes"` // on the wire, with overheads
	PayloadBytes   uint64  `json:"payload_bytes"`
	Replayed       uint64  `json:"replayed"`         // TLPs sent again by the data link layer, in neither of the above
	Naks           uint64  `json:"naks"`             // that the sender of this direction received
	ReplayTimeouts uint64  `json:"replay_timeouts"`  // of the sender's replay timer
	Rollovers      uint64  `json:"replay_rollovers"` // of its REPLAY_NUM: fourth replay without progress
	Recoveries     uint64  `json:"recoveries"`       // retrainings that the sender of this direction began
	Utilisation    float64 `json:"utilisation"`      // 0 … 1 of simulated time
}

// PCIeStalls is the time that work ready to go waited, by reason.
type PCIeStalls struct {
	Credit           clocked.Time `json:"credit"` // the six pools, added
	PH               clocked.Time `json:"ph"`
	PD               clocked.Time `json:"pd"`
	NPH              clocked.Time `json:"nph"`
	NPD              clocked.Time `json:"npd"`
	CPLH             clocked.Time `json:"cplh"`
	CPLD             clocked.Time `json:"cpld"`
	Tag              clocked.Time `json:"tag"`
	CompletionBuffer clocked.Time `json:"completion_buffer"`
	Replay           clocked.Time `json:"replay"`
	IIO              clocked.Time `json:"iio"` // of posted writes, at the host's root ports
}

// InvalidationSummary counts invalidations, one for each adapter.
type InvalidationSummary struct {
	Issued        uint64    `json:"issued"`
	Acknowledged  uint64    `json:"acknowledged"`
	TimedOut      uint64    `json:"timed_out"`
	DeadAdapters  uint64    `json:"dead_adapters"` // that did not answer in time, be it to an invalidation or to another command, and were cut off
	Pages         uint64    `json:"pages"`
	RoundTripPS   Quantiles `json:"round_trip_ps"` // notifier called … acknowledgement seen
	WholePS       Quantiles `json:"whole_ps"`      // notifier called … frame free
	StepPS        StepPS    `json:"step_ps"`       // the same in total, by step
	HazardPS      Quantiles `json:"hazard_ps"`     // translation … last bus access that used it
	StaleDMA      uint64    `json:"stale_dma"`
	StaleDeferred uint64    `json:"stale_deferred"` // allowed by design of the scheme
}

// FaultSummary counts faults of adapters and the paging that they caused.
type FaultSummary struct {
	Raised          uint64 `json:"raised"`
	Resumed         uint64 `json:"resumed"`
	Failed          uint64 `json:"failed"`
	QPGone          uint64 `json:"qp_gone"` // never resumed: their adapter was cut off
	Minor           uint64 `json:"minor"`
	Major           uint64 `json:"major"`
	FilledPages     uint64 `json:"filled_pages"`
	Evictions       uint64 `json:"evictions"`
	Refaults        uint64 `json:"refaults"` // of the filled, those that had left so recently that they should have stayed
	SwappedInPages  uint64 `json:"swapped_in_pages"`
	SwappedOutPages uint64 `json:"swapped_out_pages"`
	ExtraSwapOuts   uint64 `json:"extra_swap_outs"` // of pages that no store had dirtied
}

// TenantStats are the completed accesses of one tenant or several; all is 0
// where there is only one.
type TenantStats struct {
	Completed uint64      `json:"completed"`
	LatencyPS Quantiles   `json:"latency_ps"`
	MTT       TenantCache `json:"mtt"`
}

// TenantCache counts what they looked up in the translation cache.
type TenantCache struct {
	Lookups uint64 `json:"lookups"`
	Hits    uint64 `json:"hits"`
	Misses  uint64 `json:"misses"`
}

// CPUSummary counts the host's own user of memory.
type CPUSummary struct {
	Accesses  uint64       `json:"accesses"`
	Faults    uint64       `json:"faults"`
	StallPS   clocked.Time `json:"stall_ps"`
	LatencyPS Quantiles    `json:"latency_ps"`
}

// TransportSummary counts packets on the network.
type TransportSummary struct {
	PacketsSent     uint64       `json:"packets_sent"`
	PacketsResent   uint64       `json:"packets_resent"`
	RNRNaks         RNRClasses   `json:"rnr_naks"`
	TCPDrops        DropClasses  `json:"tcp_drops"`
	FastRetransmits uint64       `json:"fast_retransmits"` // TCP: for three duplicate ACKs
	BackedUp        uint64       `json:"backed_up"`        // pieces of packets kept in the backup ring
	BackupLost      uint64       `json:"backup_lost"`      // of those, never merged, though acknowledged
	Timeouts        uint64       `json:"timeouts"`
	DeadQPs         uint64       `json:"dead_qps"`
	ContextErrors   uint64       `json:"context_errors"` // QP contexts that the host's adapters could not read
	RxDrops         uint64       `json:"rx_drops"`       // packets lost to a full receive buffer
	RxPausePS       clocked.Time `json:"rx_pause_ps"`    // the sender was paused by a full receive buffer
}

// RNRClasses counts RNR NAKs by why the host was not ready.
type RNRClasses struct {
	DropClasses
	NoReceive uint64 `json:"no_receive"` // no receive buffer posted
}

// DropClasses counts refusals by the state of the page.
type DropClasses struct {
	Moving         uint64 `json:"moving"`          // present, being moved or suspended
	Paging         uint64 `json:"paging"`          // absent, advertised ≤ reserved
	OverAdvertised uint64 `json:"over_advertised"` // absent, advertised > reserved
}

// AdvertiseSummary is the promise of memory and what stands behind it, in bytes.
type AdvertiseSummary struct {
	AdvertiseStats
	Peers []AdvertiseStats `json:"peers,omitempty"` // by peer number, at the end of the run
}

// AdvertiseStats is the promise to one peer or to all.
type AdvertiseStats struct {
	BytesAdvertised uint64 `json:"bytes_advertised"`
	BytesReserved   uint64 `json:"bytes_reserved"`
	BytesResident   uint64 `json:"bytes_resident"`
	Refused         uint64 `json:"refused"` // advertisements refused
}

// RegistrationSummary counts what registering memory during the run took.
type RegistrationSummary struct {
	Registered        uint64       `json:"registered"`         // registrations made by system calls
	Deregistered      uint64       `json:"deregistered"`       // ended by system calls
	FastRegistered    uint64       `json:"fast_registered"`    // keys made valid by work requests
	Invalidated       uint64       `json:"invalidated"`        // keys invalidated by work requests
	RemoteInvalidated uint64       `json:"remote_invalidated"` // keys invalidated by peers' SENDs
	Refused           uint64       `json:"refused"`            // not enough memory to pin
	CacheHits         uint64       `json:"cache_hits"`         // accesses whose region was registered when they came
	PinnedPages       uint64       `json:"pinned_pages"`       // by registrations, all together
	Remaps            uint64       `json:"remaps"`             // of regions, by the process
	ChildrenMade      uint64       `json:"children_made"`      // of implicit regions
	ChildrenDestroyed uint64       `json:"children_destroyed"`
	ChildrenResident  uint64       `json:"children_resident"` // there at the end
	TimePS            clocked.Time `json:"time_ps"`           // of system calls to register and deregister, all together
}

// Violation is a broken rule.
type Violation struct {
	Rule   string       `json:"rule"`
	TimePS clocked.Time `json:"time_ps"`
	What   string       `json:"what"`
	Repro  string       `json:"repro"` // command that shows it again
}

// JSON is the summary as summary.json holds it.
func (s *Summary) JSON() ([]byte, error) {
	out := *s
	if out.Violations == nil {
		out.Violations = []Violation{}
	}
	return indented(out)
}

func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(v)
	return b.Bytes(), err
}

// ReadSummary reads a summary.json. One of another layout, or without a
// result_hash, is an error.
func ReadSummary(path string) (Summary, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Summary{}, err
	}
	return parseSummary(path, data)
}

func parseSummary(path string, data []byte) (s Summary, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: no summary of a run: %w", path, err)
	}
	if s.Schema != SummarySchema || s.ResultHash == "" {
		return s, fmt.Errorf("%s: no complete results of layout %s; run again", path, SummarySchema)
	}
	return s, nil
}
