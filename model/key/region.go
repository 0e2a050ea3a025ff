package key

import "rnicmmu/model"

// Key is a memory key as it appears in RETH, AtomicETH and work requests.
type Key uint32

// IndexBits is the width of the index part of a key.
const IndexBits = 24

// MaxRegions is the number of keys' indexes.
const MaxRegions = 1 << IndexBits

// Make builds a key; only the low IndexBits of index count.
func Make(index uint32, variant uint8) Key { return Key(index<<8 | uint32(variant)) }

// Index is the entry of the MPT that the key names.
func (k Key) Index() uint32 { return uint32(k >> 8) }

// Variant is the part that must match the entry.
func (k Key) Variant() uint8 { return uint8(k) }

// PD is a protection domain number.
type PD uint32

// Rights are access flags, at the bit positions of the verbs interface
// (ib_user_ioctl_verbs.h of rdma-core).
type Rights uint32

// Access flags.
const (
	LocalWrite Rights = 1 << iota
	RemoteWrite
	RemoteRead
	RemoteAtomic
	WindowBind
	ZeroBased
	OnDemand // pages are brought in by faults, not pinned
	HugeTLB
	FlushGlobal
	FlushPersistent
)

// Has tells whether all of want are granted.
func (r Rights) Has(want Rights) bool { return r&want == want }

// State is what a region permits as a whole.
type State uint8

// States; the package documentation has the diagram.
const (
	Unused    State = iota // the index names no region
	Free                   // invalidated, waits for a fast registration
	Valid                  // accessible
	Suspended              // its memory is being moved: the access must come back later
	numStates
)

var stateNames = [numStates]string{"unused", "free", "valid", "suspended"}

func (s State) String() string {
	if s < numStates {
		return stateNames[s]
	}
	return "invalid state"
}

// EntryBytes is the size of one MPT entry in table memory: one 64 B line.
// Real adapters use 64 B of context a key as well (mlx5 mkey context, 512 bits: recalled).
const EntryBytes = 64

// Region is a memory region: one entry of the MPT.
type Region struct {
	Key       Key
	PD        PD
	Rights    Rights
	Base      model.VA        // first byte
	Length    uint64          // bytes; may be 0, and then nothing is inside
	PageShift model.PageShift // of its translation entries
	MTT       uint64          // index of its first translation entry
	FastReg   bool            // may be invalidated and registered again
	State     State
	suspends  uint32 // nesting depth of Suspend
}

// OnDemand tells whether pages of the region may be absent.
func (r *Region) OnDemand() bool { return r.Rights.Has(OnDemand) }

// Contains tells whether [va, va+length) lies inside the region. No sum is
// formed that could wrap.
func (r *Region) Contains(va model.VA, length uint64) bool {
	if va < r.Base {
		return false
	}
	offset := uint64(va - r.Base)
	return offset <= r.Length && length <= r.Length-offset
}

// Page is the number of the translation entry, counted from the region's
// first, that translates va. The address must lie inside the region.
func (r *Region) Page(va model.VA) uint64 {
	return r.PageShift.Number(va) - r.PageShift.Number(r.Base)
}

// Pages is the number of translation entries of the region.
func (r *Region) Pages() uint64 { return r.PageShift.Span(r.Base, r.Length) }
