package key

import (
	"errors"
	"fmt"

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

// Register adds a region and returns its key. Key and State of the argument
// are ignored. A region of length 0 is legal and contains nothing. Rules:
// [rdma-core] man ibv_reg_mr. Nothing changes on error.
func (t *Table) Register(r Region) (Key, error) {
	if err := r.validate(); err != nil {
		return 0, err
	}
	index, err := t.nextIndex()
	if err != nil {
		return 0, err
	}
	slot := &t.regions[index]
	r.Key = Make(index, slot.Key.Variant())
	r.State, r.suspends = Valid, 0
	*slot = r
	t.live++
	return r.Key, nil
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
func (t *Table) Check(k Key, pd PD, op model.Op, va model.VA, length uint64) (*Region, Verdict) {
	if length == 0 && (op == model.OpRead || op == model.OpWrite) {
		return nil, ZeroLength
	}
	r := t.Lookup(k)
	return r, Check(r, k, pd, op, va, length)
}

// Deregister removes a region in any state. The index goes to the end of the
// reuse order and its variant changes, so that the old key hits nothing.
func (t *Table) Deregister(k Key) error {
	r, err := t.exact(k)
	if err != nil {
		return err
	}
	*r = Region{Key: Make(k.Index(), k.Variant()+1)}
	t.freed = append(t.freed, k.Index())
	t.live--
	return nil
}

// Invalidate takes a fast-registration region from Valid to Free (LOCAL_INV or
// a peer's SEND with invalidate). On error the region is unchanged.
func (t *Table) Invalidate(k Key) error {
	r, err := t.exact(k)
	switch {
	case err != nil:
		return err
	case !r.FastReg:
		return ErrNotFastReg
	case r.State != Valid:
		return ErrState
	}
	r.State = Free
	return nil
}

// FastRegister makes a Free region Valid over new memory (REG_MR). Of the key
// only the variant may change; PD must be the region's own. On error the
// region is unchanged.
func (t *Table) FastRegister(k Key, pd PD, rights Rights, base model.VA, length uint64) error {
	r := t.Lookup(k)
	switch {
	case r == nil:
		return ErrKey
	case !r.FastReg:
		return ErrNotFastReg
	case r.State != Free:
		return ErrState
	case r.PD != pd:
		return ErrWrongDomain
	}
	n := *r
	n.Key, n.Rights, n.Base, n.Length, n.State = k, rights, base, length, Valid
	if err := n.validate(); err != nil {
		return err
	}
	*r = n
	return nil
}

// Suspend marks a region suspended. Suspensions nest: as many Resume calls end
// them.
func (t *Table) Suspend(k Key) error {
	r, err := t.exact(k)
	switch {
	case err != nil:
		return err
	case r.State != Valid && r.State != Suspended:
		return ErrState
	}
	r.State = Suspended
	r.suspends++
	return nil
}

// Resume undoes one Suspend.
func (t *Table) Resume(k Key) error {
	r, err := t.exact(k)
	switch {
	case err != nil:
		return err
	case r.State != Suspended:
		return ErrNotSuspended
	}
	if r.suspends--; r.suspends == 0 {
		r.State = Valid
	}
	return nil
}
