package key

import (
	"errors"
	"fmt"
	"slices"

	"rnicmmu/model"
)

// Errors of registration and of operations on keys.
var (
	ErrFull         = errors.New("no free key index")
	ErrNeedLocal    = errors.New("REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE")
	ErrWraps        = errors.New("region wraps around the end of the address space")
	ErrPageShift    = errors.New("page shift must be 12 to 63")
	ErrKey          = errors.New("key names no region")
	ErrState        = errors.New("region is in the wrong state")
	ErrNotFastReg   = errors.New("region is not of the fast-registration type")
	ErrWrongDomain  = errors.New("region belongs to another protection domain")
	ErrNotSuspended = errors.New("region is not suspended")
	ErrKind         = errors.New("key is not of the kind that this is done to")
	ErrInUse        = errors.New("key index is in use or outside the table")
	ErrBound        = errors.New("memory windows are bound to the region; free them first")
	ErrNamed        = errors.New("the list of an implicit region names the child; make its entry null first")
	ErrNoBind       = errors.New("window needs a region with the MW_BIND right")
	ErrOutside      = errors.New("window reaches outside its region")
	ErrZeroBind     = errors.New("type 2 window cannot be bound to no bytes; invalidate it")
	ErrNoLength     = errors.New("length must not be 0")
	ErrNoPieces     = errors.New("indirect key needs a list of pieces")
	ErrChildAlign   = errors.New("implicit region must start and end at a multiple of 1 GiB")
)

// Table is the memory protection table. Index 0 is never handed out, so that a
// zeroed key names nothing.
type Table struct {
	regions  []Region // by index; grows to the indexes in use
	capacity uint32   // indexes 0 … capacity-1
	freed    []uint32 // indexes to reuse, the longest free first
	head     int      // of freed
	live     int
}

// NewTable makes a table of the given number of indexes, 2 … MaxRegions
// (index 0 included).
func NewTable(capacity int) (*Table, error) {
	if capacity < 2 || capacity > MaxRegions {
		return nil, fmt.Errorf("MPT of %d entries: must be 2 to %d", capacity, MaxRegions)
	}
	return &Table{regions: make([]Region, 1), capacity: uint32(capacity)}, nil
}

// Len counts the registered regions.
func (t *Table) Len() int { return t.live }

// Register adds a region of any kind and returns its key. Key and State of the
// argument are ignored. A region of length 0 is legal and contains nothing. A
// window has only its PD, and is free until Bind; an indirect key takes its
// length from its List. Rules: [rdma-core] man ibv_reg_mr. Nothing changes on
// error.
func (t *Table) Register(r Region) (Key, error) {
	if err := r.settle(); err != nil {
		return 0, err
	}
	index, err := t.nextIndex()
	if err != nil {
		return 0, err
	}
	r.Key = Make(index, t.regions[index].Key.Variant())
	t.regions[index] = r
	t.live++
	return r.Key, nil
}

// RegisterAs is Register under a key of the caller's, whose index must be
// unused. Who allots keys this way takes care that none is given twice.
func (t *Table) RegisterAs(k Key, r Region) error {
	if err := r.settle(); err != nil {
		return err
	}
	i := k.Index()
	if i == 0 || i >= t.capacity || t.Lookup(k) != nil {
		return ErrInUse
	}
	for n := uint32(len(t.regions)); n <= i; n++ {
		t.regions = append(t.regions, Region{Key: Make(n, 0)})
		t.freed = append(t.freed, n)
	}
	if at := slices.Index(t.freed[t.head:], i); at >= 0 {
		t.freed = slices.Delete(t.freed, t.head+at, t.head+at+1)
	}
	r.Key = k
	t.regions[i] = r
	t.live++
	return nil
}

// settle fills in what the kind implies, as of a new region, and checks it.
func (r *Region) settle() error {
	r.State, r.suspends, r.windows, r.under, r.entries = Valid, 0, 0, 0, nil
	if r.Kind != Indirect {
		r.List = nil
	}
	switch {
	case r.Kind >= numKinds || r.FastReg && r.Kind != Memory:
		return ErrKind
	case r.Kind.Window():
		*r = Region{PD: r.PD, Kind: r.Kind, State: Free}
		return nil
	case r.Kind == Indirect && r.List == nil:
		return ErrNoPieces
	case r.Kind == Indirect:
		r.Length, r.PageShift = r.List.Length(), model.Shift4K
	case r.Kind == Implicit && (uint64(r.Base)|r.Length)&(ChildShift.Bytes()-1) != 0:
		return ErrChildAlign
	case r.Kind == Implicit:
		r.Rights |= OnDemand
		r.entries = new(entries)
	}
	return r.validate()
}

func (r *Region) validate() error {
	switch {
	case r.Rights&(RemoteWrite|RemoteAtomic) != 0 && !r.Rights.Has(LocalWrite):
		return ErrNeedLocal
	case r.Length != 0 && uint64(r.Base)+(r.Length-1) < uint64(r.Base):
		return ErrWraps
	case r.PageShift < model.Shift4K || r.PageShift > 63:
		return ErrPageShift
	}
	return nil
}

// nextIndex prefers an index never used, then the one freed longest ago: a
// freed index goes to the end of the reuse order.
func (t *Table) nextIndex() (uint32, error) {
	if n := uint32(len(t.regions)); n < t.capacity {
		t.regions = append(t.regions, Region{Key: Make(n, 0)})
		return n, nil
	}
	if t.head == len(t.freed) {
		return 0, ErrFull
	}
	index := t.freed[t.head]
	t.head++
	if t.head > len(t.freed)/2 {
		t.freed = t.freed[:copy(t.freed, t.freed[t.head:])]
		t.head = 0
	}
	return index, nil
}

// Lookup is the region at the key's index, whatever the key's variant, or nil
// where the index names none. The pointer holds until the next Register.
func (t *Table) Lookup(k Key) *Region {
	if i := k.Index(); int(i) < len(t.regions) && t.regions[i].State != Unused {
		return &t.regions[i]
	}
	return nil
}

// exact is the region whose whole key is k.
func (t *Table) exact(k Key) (*Region, error) {
	if r := t.Lookup(k); r != nil && r.Key == k {
		return r, nil
	}
	return nil, ErrKey
}

// Check looks the key up and applies Check. A READ or WRITE of no bytes is not
// looked up.
func (t *Table) Check(k Key, pd PD, qp uint32, op model.Op, va model.VA, length uint64) (*Region, Verdict) {
	if length == 0 && (op == model.OpRead || op == model.OpWrite) {
		return nil, ZeroLength
	}
	r := t.Lookup(k)
	return r, Check(r, k, pd, qp, op, va, length)
}

// Deregister removes a region in any state. The index goes to the end of the
// reuse order and its variant changes, so that the old key hits nothing. It is
// refused while windows are bound to the region, and while the list of an
// implicit region names it. An implicit region's list goes with it.
func (t *Table) Deregister(k Key) error {
	r, err := t.exact(k)
	switch {
	case err != nil:
		return err
	case r.windows > 0:
		return ErrBound
	case t.isChild(r):
		return ErrNamed
	case r.Kind.Window():
		t.unbind(r)
	}
	*r = Region{Key: Make(k.Index(), k.Variant()+1)}
	t.freed = append(t.freed, k.Index())
	t.live--
	return nil
}
