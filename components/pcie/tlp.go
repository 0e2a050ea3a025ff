package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// invalidateBytes is the data of an Invalidate Request; other messages of ATS
// and PRI have none ([riscv-iommu] iommu_ats.h).
const invalidateBytes = 8

// pageBytes is what a translation request names at least: its address has no
// lower bits.
const pageBytes = 4096

// combiningLine is the write-combining buffer of a processor: an MMIO write
// leaves it in pieces of at most this many bytes.
const combiningLine = 64

const numClasses = 3

var classNames = [numClasses]string{"posted", "non-posted", "completion"}

// rows are the classes in the ordering table.
var rows = [numClasses]rules.Class{msg.Posted: rules.Posted, msg.NonPosted: rules.NonPosted, msg.Completion: rules.Completion}

func headers(class msg.TLPType) rules.Pool { return rows[class].Headers() }
func data(class msg.TLPType) rules.Pool    { return rows[class].Data() }

// prefixes is how many a request for a process has: completions have none
// ([PCIe]), and they take no credit of their own ([R-Tile]).
func prefixes(pasid uint32) uint8 {
	if pasid == 0 {
		return 0
	}
	return 1
}

// messageSize is the data and the process of a message to the adapter, in bytes.
func messageSize(body any) (payload uint32, pasid uint32) {
	switch m := body.(type) {
	case *msg.Invalidate:
		return invalidateBytes, m.PASID
	case *msg.PageResponse:
		return 0, m.PASID
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

var severity = [...]uint8{msg.StatusSuccess: 0, msg.StatusRetry: 1, msg.StatusPoisoned: 2, msg.StatusUnsupported: 3, msg.StatusAbort: 4, msg.StatusTimeout: 5}

// packet is a TLP in the replay buffer or in a receive buffer.
type packet struct {
	msg.TLP
	rule    rules.Packet // what the ordering table looks at
	bytes   uint32       // on the wire
	credits uint32       // of data
	written uint32       // of the last TLP of a write: bytes of all of them; of a message: of its data
	seq     uint16       // on the line
	to      uint16       // completions and messages to adapters: the adapter
	client  uint8        // messages to adapters: the client
	order   uint64       // number of the TLP on its direction
	arrival clocked.Time // of its last byte
}

// shaping is what a link adds to all its TLPs.
type shaping struct {
	gen    int
	digest bool
}

// request fits an offer to a request at pa with so many bytes of data.
func (s shaping) request(o *offer, pa model.PA, payload uint32, pasid uint32) {
	s.fit(o, rules.Shape{Header: rules.RequestHeader(pa), Prefixes: prefixes(pasid), Payload: rules.Carried(pa, payload)})
}

// message fits an offer to a message, or a write above 4 GiB.
func (s shaping) message(o *offer, payload uint32, pasid uint32) {
	s.fit(o, rules.Shape{Header: rules.Header4DW, Prefixes: prefixes(pasid), Payload: payload})
}

// completion fits an offer to a completion whose data begin at pa.
func (s shaping) completion(o *offer, pa model.PA, payload uint32) {
	s.fit(o, rules.Shape{Header: rules.Header3DW, Payload: rules.Carried(pa, payload)})
}

func (s shaping) fit(o *offer, shape rules.Shape) {
	shape.Digest = s.digest
	o.wire, o.credits = uint32(rules.TLPBytes(s.gen, shape)), rules.DataCredits(shape.Payload)
}
