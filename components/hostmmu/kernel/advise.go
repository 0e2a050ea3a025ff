package kernel

import (
	"errors"
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Advice is what a process says of registered memory that peers will use soon.
type Advice uint8

// Kinds of advice ([rdma-core] man ibv_advise_mr).
const (
	AdvisePrefetch        Advice = iota // bring pages in to be read: table entries forbid stores
	AdvisePrefetchWrite                 // bring pages in to be stored to
	AdvisePrefetchNoFault               // map pages that are present as the process may use them, and bring none in
)

// AdviseFlush, added to an Advice, asks for the work before the call returns;
// without it the work is queued, and a full queue drops it.
const AdviseFlush Advice = 1 << 7

// Errors of Advise, with the verbs interface's names for them.
var (
	ErrNoRegion    = errors.New("no such region (ENOENT)")
	ErrNotOnDemand = errors.New("the region's pages are pinned, not brought in on demand (EINVAL)")
	ErrAdvice      = errors.New("no such advice (EINVAL)")
	ErrReadOnly    = errors.New("the region may not be stored to (EPERM)")
	ErrOutside     = errors.New("the range leaves the region (EFAULT)")
)

// Advise starts to bring [va, va+length) of a region, an index of those given
// to Register, into the table of its adapter. Errors are found before anything
// starts; after that it is best effort: pages that no free frame is there for,
// or that are being taken away, stay absent and fault when they are used. The
// end of it is told to Config.OnPrefetched. It is called like Protect.
func (k *Kernel) Advise(now clocked.Time, adapter, region int, advice Advice, va model.VA, length uint64) error {
	if region < 0 || region >= len(k.regions) || k.regions[region].Adapter != adapter || !k.serves(region) {
		return fmt.Errorf("advise: region %d of adapter %d: %w", region, adapter, ErrNoRegion)
	}
	r := &k.regions[region]
	what := advice &^ AdviseFlush
	switch {
	case k.registrar.regions[region].pinned:
		return fmt.Errorf("advise: region %d: %w", region, ErrNotOnDemand)
	case what > AdvisePrefetchNoFault:
		return fmt.Errorf("advise: advice %d: %w", advice, ErrAdvice)
	case what == AdvisePrefetchWrite && !r.Writable:
		return fmt.Errorf("advise: region %d: %w", region, ErrReadOnly)
	case va < r.VA || uint64(va-r.VA) > r.Length || length > r.Length-uint64(va-r.VA):
		return fmt.Errorf("advise: [0x%x, +%d B) of region %d: %w", uint64(va), length, region, ErrOutside)
	}
	k.nudge(now)
	if advice&AdviseFlush == 0 && !k.queueable() {
		return nil
	}
	first := r.FirstPage + uint32(k.shift.Number(va)-k.shift.Number(r.VA))
	k.prefetch(now, region, what, first, uint32(k.shift.Span(va, length)), true)
	return nil
}

// queueable tells whether the queue takes another prefetch, and counts it as
// dropped if not.
func (k *Kernel) queueable() bool {
	if k.prefetches.used >= k.spec.Fault.Contexts {
		k.Stats.PrefetchesDropped++
		return false
	}
	return true
}

// prefetchAhead follows a fault that went well, from the page after its last up
// to the region's end. What becomes of it is nothing to the fault.
func (k *Kernel) prefetchAhead(now clocked.Time, region int, first uint32) {
	what := AdvisePrefetch
	switch k.spec.Prefetch.Advice {
	case "write":
		what = AdvisePrefetchWrite
	case "no_fault":
		what = AdvisePrefetchNoFault
	case "read":
	default:
		return
	}
	r := &k.regions[region]
	if what == AdvisePrefetchWrite && !r.Writable {
		return
	}
	count := min(uint32(k.spec.Prefetch.Ahead), r.FirstPage+k.pagesOf(r)-first)
	if count > 0 && k.missing(region, first, count) && k.queueable() {
		k.prefetch(now, region, what, first, count, false)
	}
}

// missing tells whether a region's adapter lacks one of a run of pages.
func (k *Kernel) missing(region int, first, count uint32) bool {
	for p := first; p < first+count; p++ {
		if !k.mappedAs(region, p, false) {
			return true
		}
	}
	return false
}

// regionOf is the region of a bit.
func (s *segment) regionOf(bit uint16) int {
	for i, r := range s.regions {
		if 1<<i == bit {
			return r
		}
	}
	return -1
}
