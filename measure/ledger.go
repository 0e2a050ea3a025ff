package measure

import "rnicmmu/clocked"

// Cause names what an access was waiting for. The list is closed: summaries,
// columns (cause_NAME_ps) and figures use these names in this order.
type Cause uint8

// Causes, in the order of an access's life.
const (
	CausePost         Cause = iota // doorbell and work-request fetch at the requester
	CauseSendQueue                 // not sent yet: behind earlier work of its QP, max_rd_atomic slots, send window
	CausePayload                   // the requester reads the data to send from its own memory
	CauseNetwork                   // serialization and propagation on the wire, both directions
	CauseRxBuffer                  // in the receive buffer, behind packets whose translation waits
	CauseResponder                 // responder pipeline: packet checks, response generation
	CauseQPC                       // QP-context cache miss: table read
	CauseReceiveWQE                // SEND: fetch of the receive work request
	CauseTranslate                 // translation pipeline: cache lookups, hit or miss
	CauseMPTMiss                   // memory-protection entry read from the table
	CauseMTTMiss                   // translation entry read: walk of the table levels
	CauseMSHR                      // no free miss register or translation slot, or behind a request that has none
	CauseFault                     // held at the adapter until a page is present
	CauseDMAQueue                  // DMA engine: behind others that the link sends
	CauseCredit                    // DMA engine: the link stands still for want of flow-control credits
	CauseTag                       // DMA engine: … of a tag
	CauseBuffer                    // DMA engine: … of completion space
	CauseReplay                    // DMA engine: … of a place in the replay buffer
	CausePCIe                      // on the PCIe link
	CauseIIO                       // in the root port, which cannot hand it on
	CauseHostMemory                // root complex and memory
	CauseRNRWait                   // RNR timer of its QP; all that was sent when the NAK came must be sent again
	CauseRetransmit                // sent in vain: until the loss was noticed and sending went back
	CauseATS                       // translation request to the IOMMU and back
	CauseIOMMU                     // IOTLB miss of the transfer itself: page-table walk at the root complex
	CauseRTOWait                   // TCP's retransmission time-out; all that was sent must be sent again
	CauseGrant                     // the peer waits until the host advertises the buffer
	CauseRegistration              // the host registers the buffer before the access
	CauseCompletion                // completion entry and data written at the requester, until software sees it
	NumCauses
)

var causeNames = [NumCauses]string{
	"post", "send_queue", "payload", "network", "rx_buffer", "responder", "qpc_miss", "receive_wqe",
	"translate", "mpt_miss", "mtt_miss", "mshr", "fault", "dma_queue", "credit", "tag",
	"completion_buffer", "replay", "pcie", "iio", "host_memory",
	"rnr_wait", "retransmit", "ats", "iommu", "rto_wait", "grant", "registration", "completion",
}

var causeDocs = [NumCauses]string{
	"doorbell and work-request fetch at the requester",
	"not sent yet: behind earlier work of its QP, a max_rd_atomic slot or the send window",
	"the requester reads the data to send from its own memory",
	"serialization and propagation on the network, both directions",
	"in the receive buffer, behind packets that wait",
	"responder pipeline: packet checks and response generation",
	"QP context read from its table after a cache miss",
	"fetch of the receive work request (SEND)",
	"translation pipeline: cache look-ups, hit or miss",
	"memory-protection entry read from its table after a cache miss",
	"translation entry read: the walk of the table levels",
	"no free miss register or translation slot, or behind a request that has none",
	"held at the adapter until the page is present",
	"DMA engine: behind others that the link sends",
	"DMA engine: the link stands still for want of flow-control credits",
	"DMA engine: the link stands still for want of a tag",
	"DMA engine: the link stands still for want of completion space",
	"DMA engine: the link stands still for want of a place in the replay buffer",
	"on the PCIe link",
	"in the root port, which cannot hand it on to memory or the IOMMU",
	"root complex and host memory",
	"its QP waits for an RNR timer, and it was sent before the NAK: it is sent again, whosever page was absent",
	"sent in vain, until sending went back",
	"translation request to the IOMMU and back (ATS)",
	"page-table walk of the IOMMU for the transfer itself",
	"TCP waits for its retransmission time-out, and it was sent before: it is sent again, whosever segment was lost (iWARP)",
	"the peer waits until the host advertises the buffer",
	"the host registers the buffer before the access",
	"data and completion entry written at the requester, until software sees them",
}

// String is the cause's name in result files.
func (c Cause) String() string { return causeNames[c] }

// Doc says in one line what the cause covers.
func (c Cause) Doc() string { return causeDocs[c] }

// Ledger splits an elapsed time exactly into causes. Whoever has held the
// access since the last charge charges that time to one cause, so the causes
// add up to Last minus the opening time by construction.
type Ledger struct {
	Last   clocked.Time
	Causes [NumCauses]clocked.Time
}

// Open starts an empty ledger at now.
func (l *Ledger) Open(now clocked.Time) { *l = Ledger{Last: now} }

// Charge books the time since the last charge to cause c.
func (l *Ledger) Charge(now clocked.Time, c Cause) {
	l.Causes[c] += now - l.Last
	l.Last = now
}

// Join appends a part that was opened at l.Last: of the parts of a split access
// the one that finished last gates completion and is joined.
func (l *Ledger) Join(part *Ledger) {
	for c := range l.Causes {
		l.Causes[c] += part.Causes[c]
	}
	l.Last = part.Last
}

// Sum is the total of all causes in picoseconds.
func (l *Ledger) Sum() clocked.Time {
	var sum clocked.Time
	for _, t := range l.Causes {
		sum += t
	}
	return sum
}
