package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
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
	StallTag    // no free tag for a read
	StallBuffer // no completion space for a read
	StallReplay // no place in the replay buffer
	NumStalls
	stallNone = NumStalls
	stallHeld = NumStalls + 1 // a director keeps it back: nothing that a run measures
)

var stallNames = [NumStalls]string{"ph", "pd", "nph", "npd", "cplh", "cpld", "tag", "completion_buffer", "replay"}

// String is the cause's name in statistics.
func (s Stall) String() string { return stallNames[s] }

// Stats are what a unit has sent on its direction of the link, and received.
type Stats struct {
	TLPs           [numClasses]uint64 // posted, non-posted, completion; each once
	Kinds          [msg.NumKinds]uint64
	WireBytes      uint64 // with framing, header and LCRC
	PayloadBytes   uint64
	Busy           clocked.Time            // time that the link was sending TLPs
	Stalls         [NumStalls]clocked.Time // time that the link was idle with a TLP waiting, by what the oldest one lacked
	Replayed       uint64                  // TLPs sent again
	ReplayedBytes  uint64
	Naks           uint64 // received
	ReplayTimeouts uint64 // of the replay timer
	Rollovers      uint64 // of REPLAY_NUM: fourth replay without progress
	Recoveries     uint64 // retrainings that this end began
	Unclaimed      uint64 // doorbells received for a client that does not exist
	Dropped        uint64 // requests of disabled adapters that the root port did not take
	Refused        uint64 // requests that the unit does not serve: a root port those for an adapter, an endpoint reads outside its window
	Unexpected     uint64 // completions of requests that had timed out
	TimedOut       uint64 // requests without a completion in time
}

// stallTimes are times of stalls by what a ledger tells apart.
type stallTimes [numWaits]clocked.Time

const (
	waitCredit = iota
	waitTag
	waitBuffer
	waitReplay
	numWaits
)

// waitOf has the pools by default: waitCredit is 0.
var waitOf = [NumStalls]uint8{StallTag: waitTag, StallBuffer: waitBuffer, StallReplay: waitReplay}

var waitCauses = [numWaits]measure.Cause{measure.CauseCredit, measure.CauseTag, measure.CauseBuffer, measure.CauseReplay}

// snapshot is the time waited until now.
func (t *transmitter) snapshot(now clocked.Time) stallTimes {
	w := t.waited
	if t.stall < stallNone {
		w[waitOf[t.stall]] += now - t.stalled
	}
	return w
}

// charge books the wait of a DMA that was accepted at a snapshot and is sent
// now: what the link stood still for meanwhile, and the rest, in which it sent
// others.
func (t *transmitter) charge(now clocked.Time, l *measure.Ledger, accepted *stallTimes) {
	current := t.snapshot(now)
	for k := range current {
		if d := current[k] - accepted[k]; d > 0 {
			l.Charge(l.Last+d, waitCauses[k])
		}
	}
	l.Charge(now, measure.CauseDMAQueue)
}
