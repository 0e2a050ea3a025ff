package model

// Bytes is an amount of memory or data, in bytes.
type Bytes uint64

// BitRate is a rate of data, in bits per second.
type BitRate int64

// Transfers is the signalling rate of one lane, in transfers per second
// (32 GT/s is 32e9); how many bits a transfer carries is the encoding's matter.
type Transfers int64

// Rate is how often something is offered or served, in events per second.
type Rate int64

// Warmup is the start of a run that the figures leave out: a number of
// accesses or a simulated time. At most one of the two is not zero.
type Warmup struct {
	Accesses    uint64
	Picoseconds int64
}

// Setting gives one parameter, named by its dotted key, the value that Value
// spells (units written).
type Setting struct {
	Key, Value string
}

// Replicas counts units that are built alike, and says where they differ.
type Replicas struct {
	// Count is the number of units, 1 or more.
	Count int
	// Overrides is empty when all units are alike. Else it holds one list of
	// settings a unit, in the order of the units; an empty list is a unit
	// without differences.
	Overrides [][]Setting
}
