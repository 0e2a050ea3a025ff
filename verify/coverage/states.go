package coverage

import "rnicmmu/model"

// entry is the state of a page in an adapter's table.
type entry uint8

const (
	entryAbsent entry = iota
	entryReadOnly
	entryWritable
	entrySuspended
	entryMoving
)

// What happens to an entry.
const (
	eventFillRead = iota
	eventFillWrite
	eventInvalidate
	eventProtect
	eventSuspend
	eventUnsuspend
	eventLoad
	eventStore
	eventReadAhead
)

var entryEvent = cross("entry_event", "state of a page in an adapter's table × what comes to it, in the order in which the adapter executes",
	[]string{"absent", "read-only", "writable", "suspended", "moving"},
	[]string{"fill to read", "fill to store", "invalidate", "protect", "suspend", "unsuspend", "load", "store", "read ahead"})

// content is where a page of the process is.
type content uint8

const (
	contentNone    content = iota // never touched, or given up
	contentPresent                // in a frame
	contentStored                 // in a frame, and an adapter has stored to it there
	contentSwapped
)

// pageEvent crosses with msg.PageOpKind, in its order.
var pageEvent = cross("page_event", "where a page of the process is × what the kernel or the CPU does to it",
	[]string{"nowhere", "in a frame", "stored to by DMA", "in swap"},
	[]string{"zero", "swap in", "swap out", "free", "CPU store", "CPU load", "copy", "discard", "orphan"})

// queuePair is the state of a queue pair as its packets show it.
type queuePair uint8

const (
	qpFresh   queuePair = iota // nothing was sent
	qpSent                     // the newest packet was sent for the first time
	qpResent                   // it was sent again
	qpWaiting                  // an RNR NAK came, and nothing was sent since
	qpBroken                   // it was told to end
)

var qpNames = []string{"fresh", "sending", "sending again", "RNR wait", "broken"}

// Responses, by class.
const (
	responseAck = iota
	responseRead
	responseAtomic
	responseRNR
	responseSequence // and the three NAKs behind it
	responseInvalid
	responseAccess
	responseOperation
)

var (
	qpResponse = cross("qp_response", "state of a queue pair × response that its requester takes", qpNames,
		[]string{"ACK", "READ response", "atomic response", "RNR NAK", "NAK sequence", "NAK invalid request", "NAK remote access", "NAK remote operation"})
	qpRequest = cross("qp_request", "state of a queue pair × request that its requester sends", qpNames, names(model.NumOps))
)

// Segments of iWARP.
const (
	segmentRequest = iota
	segmentResponse
	segmentAck
	segmentTerminate
	segmentReset
)

var tcpSegment = cross("tcp_segment", "iWARP: who sends and whether it sends again × kind of segment",
	[]string{"requester", "requester again", "responder", "responder again"}, []string{"request", "response", "pure ACK", "Terminate", "reset"})
