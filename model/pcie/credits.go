package pcie

// Pool is one of the six kinds of flow-control credit.
type Pool uint8

// Pools: headers and data of each kind of TLP.
const (
	PH Pool = iota
	PD
	NPH
	NPD
	CPLH
	CPLD
	NumPools
)

var poolNames = [NumPools]string{"ph", "pd", "nph", "npd", "cplh", "cpld"}

// String is the pool's name as parameters have it.
func (p Pool) String() string {
	if p < NumPools {
		return poolNames[p]
	}
	return "invalid pool"
}

// data tells whether the pool is of data credits.
func (p Pool) data() bool { return p&1 != 0 }

// creditBytes is the payload that one data credit stands for: 4 double words
// ([PCIe]).
const creditBytes = 16

// DataCredits is the number of data credits that a payload of so many bytes takes.
func DataCredits(payload uint32) uint32 { return (payload + creditBytes - 1) / creditBytes }

// Scale is how many credits one step of a flow-control field stands for: 1, 4
// or 16. A scale widens the counters by 2 or 4 bits; what travels stays 8 bits
// of headers and 12 of data.
type Scale uint8

// shift is the number of low bits that do not travel.
func (s Scale) shift() uint {
	switch s {
	case 4:
		return 2
	case 16:
		return 4
	}
	return 0
}

// FieldBits is the width of a pool's field as it travels.
func FieldBits(p Pool) uint {
	if p.data() {
		return 12
	}
	return 8
}

// CounterBits is the width of a pool's counters at either end.
func CounterBits(p Pool, s Scale) uint { return FieldBits(p) + s.shift() }

// MaxCredits is the most that a pool may have outstanding: 127 headers and 2047
// units of data, times the scale.
func MaxCredits(p Pool, s Scale) uint32 { return (1<<(FieldBits(p)-1) - 1) << s.shift() }

// MinCredits is the least that a receiver may advertise where it does not
// advertise 0 (infinite), in credits: one header, and the data of one maximal
// TLP; one of non-posted data, for there are no AtomicOps; all in whole steps of the scale
// (recalled). mps is in bytes.
func MinCredits(p Pool, s Scale, mps uint32) uint32 {
	n := uint32(1)
	if p == PD || p == CPLD {
		n = DataCredits(mps)
	}
	step := uint32(1) << s.shift()
	return (n + step - 1) / step * step
}

// Account is the sender's view of one pool of the other end. Both counters are
// totals since the link came up, modulo the width of the counter, so an update
// that is lost or comes twice does no harm. Right while no more than MaxCredits
// are outstanding.
type Account struct {
	limit, consumed uint32
	mask            uint32
	shift           uint8
	infinite        bool
}

// NewAccount is the account of a pool of which so many credits are advertised; 0
// is infinite. What is not a whole step of the scale is lost, and at most
// MaxCredits count.
func NewAccount(p Pool, s Scale, advertised uint32) Account {
	shift := s.shift()
	return Account{
		limit:    min(advertised, MaxCredits(p, s)) >> shift << shift,
		mask:     1<<CounterBits(p, s) - 1,
		shift:    uint8(shift),
		infinite: advertised == 0,
	}
}

// Infinite tells whether the pool never lacks anything.
func (a *Account) Infinite() bool { return a.infinite }

// Lacks tells whether a TLP that takes n credits has to wait. n is at most
// MaxCredits.
func (a *Account) Lacks(n uint32) bool {
	return !a.infinite && (a.limit-a.consumed-n)&a.mask > (a.mask+1)/2
}

// Take books n credits that Lacks let go.
func (a *Account) Take(n uint32) { a.consumed = (a.consumed + n) & a.mask }

// Free is how many credits are left; 0 of an infinite pool.
func (a *Account) Free() uint32 {
	if a.infinite {
		return 0
	}
	return (a.limit - a.consumed) & a.mask
}

// Update books the field of an UpdateFC. Those of an infinite pool are ignored.
func (a *Account) Update(field uint16) { a.limit = uint32(field) << a.shift & a.mask }

// Allocation is the receiver's view of one pool of its own.
type Allocation struct {
	allocated uint32
	mask      uint32
	shift     uint8
	infinite  bool
}

// NewAllocation is that of a pool of which so many credits are advertised; see
// NewAccount.
func NewAllocation(p Pool, s Scale, advertised uint32) Allocation {
	a := NewAccount(p, s, advertised)
	return Allocation{allocated: a.limit, mask: a.mask, shift: a.shift, infinite: a.infinite}
}

// Infinite tells whether nothing is ever returned.
func (a *Allocation) Infinite() bool { return a.infinite }

// Return books n credits that a drained TLP frees.
func (a *Allocation) Return(n uint32) { a.allocated = (a.allocated + n) & a.mask }

// Field is what an InitFC or UpdateFC carries: the total without the bits below
// a step of the scale, which come with a later update; 0 of an infinite pool.
func (a *Allocation) Field() uint16 {
	if a.infinite {
		return 0
	}
	return uint16(a.allocated >> a.shift)
}
