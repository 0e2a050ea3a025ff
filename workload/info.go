package workload

import (
	"fmt"

	"rnicmmu/model"
)

// AETHCounts sorts the acknowledgements of a capture by their syndrome.
type AETHCounts struct {
	ACK      uint64            `json:"ack"`
	RNR      uint64            `json:"rnr_nak"`
	NAK      uint64            `json:"nak"`
	NAKCodes map[string]uint64 `json:"nak_codes,omitempty"`
	Reserved uint64            `json:"reserved,omitempty"`
}

// Info is what a trace holds. Counts of packets are 0 for text traces.
type Info struct {
	File   string `json:"file"`
	Format Format `json:"format"`
	Gzip   bool   `json:"gzip"`

	// Packets = IBPackets + Foreign + Cut + Malformed.
	Packets    uint64            `json:"packets"`
	IBPackets  uint64            `json:"ib_packets"`
	Foreign    uint64            `json:"foreign"`   // other protocols
	Cut        uint64            `json:"cut"`       // the capture ends before the headers do
	Malformed  uint64            `json:"malformed"` // headers that contradict each other
	LinkLayers map[string]uint64 `json:"link_layers,omitempty"`
	Opcodes    map[string]uint64 `json:"opcodes,omitempty"`
	RETH       uint64            `json:"reth"`
	AtomicETH  uint64            `json:"atomiceth"`
	AETH       AETHCounts        `json:"aeth"`
	Duplicates uint64            `json:"duplicates"` // retransmissions, not replayed
	Incomplete uint64            `json:"incomplete"` // SENDs of which packets are missing, not replayed

	Accesses   uint64   `json:"accesses"`
	Reads      uint64   `json:"reads"`
	Writes     uint64   `json:"writes"`
	Sends      uint64   `json:"sends"`
	Atomics    uint64   `json:"atomics"`
	Bytes      uint64   `json:"bytes"`        // of all accesses
	Pages4K    uint64   `json:"pages_4kib"`   // distinct, over all hosts
	Refs4K     uint64   `json:"refs_4kib"`    // pages touched, counted once an access
	Hosts      uint64   `json:"hosts"`        // address spaces accessed
	QPs        uint64   `json:"qps"`          // accessed, by host
	Skipped    uint64   `json:"skipped"`      // rows, lines and requests that are not replayed
	TimeSpanPS int64    `json:"time_span_ps"` // first to last access; 0 without times
	HasKeys    bool     `json:"has_keys"`     // every access but SENDs names its key
	Warnings   []string `json:"warnings,omitempty"`
}

// Info reads the whole trace and counts. A text trace with a bad line gives
// an error alone. A capture without a single RDMA packet gives its Info and an
// error.
func (t *Trace) Info() (*Info, error) {
	p, err := t.pass()
	if err != nil {
		return nil, err
	}
	defer p.file.Close()
	info := &Info{File: t.name, Format: t.format, Gzip: t.zipped, HasKeys: true}
	info.count(p)
	p.fill(info)
	if r, ok := p.records.(*replay); ok {
		switch {
		case r.failure != nil:
			return nil, r.failure
		case info.IBPackets > 0:
			return info, nil
		}
		return info, p.Err()
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return info, nil
}

// count drains src.
func (i *Info) count(src Source) {
	type queue struct {
		host uint16
		qp   uint32
	}
	var (
		pages       pageSet
		hosts       = map[uint16]struct{}{}
		queues      = map[queue]struct{}{}
		last        = queue{qp: 1 << 31}
		first, late = NoTime, NoTime
		a           Access
	)
	for src.Next(&a) {
		i.Accesses++
		i.Bytes += uint64(a.Len)
		i.countOp(&a)
		if q := (queue{a.Host, a.QP}); q != last {
			hosts[a.Host], queues[q], last = struct{}{}, struct{}{}, q
		}
		if a.Op != model.OpSend {
			i.Refs4K += model.Shift4K.Span(a.VA, uint64(a.Len))
			i.HasKeys = i.HasKeys && a.HasKey
			pages.add(a.Host, 0, a.VA, uint64(a.Len))
		}
		if a.TimePS != NoTime {
			if first == NoTime {
				first, late = a.TimePS, a.TimePS
			}
			first, late = min(first, a.TimePS), max(late, a.TimePS)
		}
	}
	i.Pages4K = pages.count()
	i.Hosts, i.QPs = uint64(len(hosts)), uint64(len(queues))
	i.TimeSpanPS = late - first
}

func (i *Info) countOp(a *Access) {
	switch {
	case a.Op == model.OpRead:
		i.Reads++
	case a.Op == model.OpWrite:
		i.Writes++
	case a.Op == model.OpSend:
		i.Sends++
	default:
		i.Atomics++
	}
}

func (i *Info) warn(format string, args ...any) {
	i.Warnings = append(i.Warnings, fmt.Sprintf(format, args...))
}

func (r *csvReader) fill(i *Info) {
	i.Skipped = r.skipped
	if r.skipped > 0 {
		i.warn("%s: %d rows are responses or later packets of a message; %d accesses read, %d skipped", r.name, r.skipped, r.accesses, r.skipped)
	}
}

func (r *lackeyReader) fill(i *Info) { i.Skipped = r.skipped }

func (r *akitaReader) fill(i *Info) {
	i.Skipped = r.elsewhere
	if r.elsewhere > 0 {
		i.warn("%s: requests of other components than %s are left out; %d accesses read, %d skipped", r.name, r.where, r.accesses, r.elsewhere)
	}
}

// nakNames are the codes of a NAK's syndrome ([Linux] rxe_hdr.h).
var nakNames = [...]string{
	"psn_sequence_error", "invalid_request", "remote_access_error", "remote_operational_error", "invalid_rd_request",
}

func (r *replay) fill(i *Info) {
	n := &r.counts
	i.Packets, i.Foreign, i.Cut, i.Malformed = r.frame, n.foreign, n.cut, n.malformed
	i.LinkLayers, i.Opcodes = n.links, map[string]uint64{}
	for code, count := range n.opcodes {
		if count > 0 {
			i.Opcodes[opcodes[code].name] += count
			i.IBPackets += count
		}
	}
	i.RETH, i.AtomicETH = n.reth, n.atomicETH
	i.AETH = AETHCounts{ACK: n.ack, RNR: n.rnr, Reserved: n.reservedAETH, NAKCodes: map[string]uint64{}}
	for code, count := range n.nak {
		if count == 0 {
			continue
		}
		name := fmt.Sprintf("code_%d", code)
		if code < len(nakNames) {
			name = nakNames[code]
		}
		i.AETH.NAKCodes[name] = count
		i.AETH.NAK += count
	}
	i.Duplicates, i.Incomplete = r.duplicates, r.unfinished()
	i.Skipped = n.cut + n.malformed + i.Incomplete + r.outside
	r.warnings(i)
}

// unfinished counts the SENDs that were begun and not ended, too.
func (r *replay) unfinished() uint64 {
	n := r.incomplete
	for _, f := range r.flows {
		if f.open {
			n++
		}
	}
	return n
}

func (r *replay) warnings(i *Info) {
	n := &r.counts
	if r.ending != "" {
		i.warn("%s", r.ending)
	}
	if n.cut > 0 {
		i.warn("%s: frame %d is cut at %d bytes (snaplen): %s; %d accesses read, %d skipped",
			r.name, n.firstCut.frame, n.firstCut.bytes, n.firstCut.why, r.accesses, n.cut)
	}
	if n.malformed > 0 {
		i.warn("%s: frame %d is malformed: %s; %d accesses read, %d skipped",
			r.name, n.firstMalformed.frame, n.firstMalformed.why, r.accesses, n.malformed)
	}
	if i.Incomplete > 0 {
		i.warn("%s: %d SENDs have packets outside the capture; %d accesses read, %d skipped", r.name, i.Incomplete, r.accesses, i.Incomplete)
	}
	if r.outside > 0 {
		i.warn("%s: %d requests pass the end of the address space, 2GiB, or 65536 hosts; %d accesses read, %d skipped",
			r.name, r.outside, r.accesses, r.outside)
	}
}
