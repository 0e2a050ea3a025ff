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
	Free                   // invalidated or not yet bound: waits for a fast registration or a bind
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

// Kind is what stands behind a key.
type Kind uint8

// Kinds. Type 1 windows belong to a protection domain, type 2A to a QP, and
// type 2B to both (recalled; [Linux] rxe_mw.c knows types 1 and 2B).
const (
	Memory   Kind = iota // memory of its own
	Window1              // memory window bound by a verb
	Window2A             // memory window bound by a work request, of the QP that bound it
	Window2B             // as 2A, and of its protection domain
	Indirect             // a list of pieces of other keys
	Implicit             // on-demand root: a list of one child region for each GiB touched
	numKinds
)

// Window tells whether the kind is a memory window.
func (k Kind) Window() bool { return k >= Window1 && k <= Window2B }

// Direct tells whether the key's own entries translate: Region.MTT and
// Region.Page. The others need Table.Resolve.
func (k Kind) Direct() bool { return k < Indirect }

// EntryBytes is the size of one MPT entry in table memory: one 64 B line.
// Real adapters use 64 B of context a key as well (mlx5 mkey context, 512 bits: recalled).
const EntryBytes = 64

// Region is what a key opens: one entry of the MPT. A bound window carries the
// place of its region's entries, so that it translates like a region.
type Region struct {
	Key       Key
	PD        PD
	Rights    Rights
	QP        uint32          // of a bound type 2 window: the QP that may use it
	Base      model.VA        // first byte
	Length    uint64          // bytes; may be 0, and then nothing is inside
	MTT       uint64          // index of its first translation entry
	PageShift model.PageShift // of its translation entries
	Kind      Kind
	FastReg   bool // may be invalidated and registered again
	State     State
	List      *List // of an Indirect key

	suspends uint32   // nesting depth of Suspend
	windows  uint32   // bound to this region
	under    Key      // of a bound window its region, of a child its root
	entries  *entries // of an Implicit region
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

// Covers tells whether a registration cache may hand this region out to a user
// of pd who wants rights over [va, va+length): all of them, not some.
func (r *Region) Covers(pd PD, rights Rights, va model.VA, length uint64) bool {
	return r.State == Valid && r.PD == pd && r.Rights.Has(rights) && r.Contains(va, length)
}

// Fill is what a fault of the region makes of a page of memory that may or may
// not be stored to: whether its entry allows stores, and whether the page can
// be brought in at all. A region that may be stored to asks for a page that may
// be, whatever the access: [Linux] mlx5/odp.c.
func (r *Region) Fill(pageStores bool) (stores, ok bool) {
	stores = r.Rights.Has(LocalWrite)
	return stores, pageStores || !stores
}
