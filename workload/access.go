package workload

import "rnicmmu/model"

// NoTime is the TimePS of an access that says nothing about when it is offered.
const NoTime int64 = -1

// MaxMessage is the longest RDMA message, 2^31 bytes ([IBA] section 9.7.7);
// longer lengths are refused.
const MaxMessage = 1 << 31

// Access is one request to memory, as a generator or a trace gives it. It is a
// plain value of 32 bytes, so that millions fit in a slice.
type Access struct {
	VA     model.VA // first byte; 0 for a SEND, which names no address
	TimePS int64    // offered at, picoseconds from the start; NoTime when unknown
	Len    uint32   // bytes, at most MaxMessage
	QP     uint32   // destination queue pair, 24 bits
	Key    uint32   // remote key; valid when HasKey
	Host   uint16   // address space: destination host of a capture, 0 for traces
	Op     model.Op
	HasKey bool
}

// Source gives accesses one after the other.
type Source interface {
	// Next fills a and reports true, or reports false at the end or on an error.
	Next(a *Access) bool
	// Err is the error that ended the source, or nil at its proper end.
	Err() error
}

// Slice is a Source over accesses held in memory. Many Slices may share one
// backing array, because none of them writes to it.
type Slice struct {
	rest []Access
}

// NewSlice gives the accesses of all in order.
func NewSlice(all []Access) *Slice { return &Slice{rest: all} }

// Next implements Source.
func (s *Slice) Next(a *Access) bool {
	if len(s.rest) == 0 {
		return false
	}
	*a = s.rest[0]
	s.rest = s.rest[1:]
	return true
}

// Err implements Source; a Slice cannot fail.
func (s *Slice) Err() error { return nil }

// ReadAll reads at most limit accesses of src into memory (limit 0: all).
func ReadAll(src Source, limit uint64) ([]Access, error) {
	var (
		all []Access
		a   Access
	)
	for (limit == 0 || uint64(len(all)) < limit) && src.Next(&a) {
		all = append(all, a)
	}
	return all, src.Err()
}
