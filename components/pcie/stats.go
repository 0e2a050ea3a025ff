package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// Stall is why the link stood idle although a TLP was there to be sent.
type Stall uint8

// Stalls. The first six are credit pools, in the order of pcie.credits.
const (
	StallPH Stall = iota
	StallPD
	StallNPH
	StallNPD
	StallCPLH
	StallCPLD
	StallTag      // no free tag for a read
	StallBuffer   // no completion space for a read
	StallReceiver // a receiver of infinite credits that does not drain
	NumStalls
	stallNone = NumStalls
)

var stallNames = [NumStalls]string{"ph", "pd", "nph", "npd", "cplh", "cpld", "tag", "completion_buffer", "receiver"}

// String is the cause's name in statistics.
func (s Stall) String() string { return stallNames[s] }

// Stats are what a unit has sent on its direction of the link.
type Stats struct {
	TLPs         [numClasses]uint64 // posted, non-posted, completion
	Kinds        [msg.NumKinds]uint64
	WireBytes    uint64 // with framing, header and LCRC
	PayloadBytes uint64
	Busy         clocked.Time            // time that the link was sending
	Stalls       [NumStalls]clocked.Time // time that the link was idle with a TLP waiting, by what the oldest one lacked
	Unclaimed    uint64                  // doorbells received for a client that does not exist
	Dropped      uint64                  // requests of its adapter that a disabled root port did not take
}
