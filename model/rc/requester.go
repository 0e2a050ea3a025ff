package rc

import "fmt"

// Infinite is the retry budget that never ends.
const Infinite = 7

// RequesterConfig is fixed when the QP is made ready to send.
type RequesterConfig struct {
	Retry    uint8 // retry_cnt, 0 … 7
	RNRRetry uint8 // rnr_retry, 0 … 7
}

// Validate tells what is wrong with the configuration, or nil. The
// specification defines 7 as infinite for RNR retries; that it is so for
// retry_cnt too follows [Linux] rxe_comp.c.
func (c RequesterConfig) Validate() error {
	if c.Retry > Infinite || c.RNRRetry > Infinite {
		return fmt.Errorf("retry %d, RNR retry %d: each must be 0 to 7 (7 = without end)", c.Retry, c.RNRRetry)
	}
	return nil
}

// Status is how a work request fails.
type Status uint8

// Statuses.
const (
	Success Status = iota
	RetryExceeded
	RNRRetryExceeded
	RemoteInvalidRequest
	RemoteAccessError
	RemoteOpError
	BadResponse // an RD NAK, which RC does not have
)

var statusNames = [...]string{"SUCCESS", "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR", "REM_INV_REQ_ERR",
	"REM_ACCESS_ERR", "REM_OP_ERR", "BAD_RESP_ERR"}

// String is the status as verbs name it (IBV_WC_…).
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "invalid status"
}

// Step is what a requester does after an event.
type Step uint8

// Steps.
const (
	Nothing Step = iota
	GoBack       // send again from Next, which is the oldest PSN not acknowledged
	WaitRNR      // Next has gone back too; send nothing for Delay, then call RNRTimer
	QPError      // fail the oldest work request with Status, flush the rest
)

var stepNames = [...]string{"nothing", "go-back", "wait", "error"}

func (s Step) String() string {
	if int(s) < len(stepNames) {
		return stepNames[s]
	}
	return "invalid step"
}

// Outcome is the result of an event. Advanced tells that Oldest moved: work
// requests that end before it are complete, and the ACK timer restarts.
type Outcome struct {
	Step     Step
	Status   Status
	Advanced bool
	Delay    int64 // picoseconds
}

// Requester is the requester side of one QP. PSNs before Oldest are
// acknowledged; those from Oldest to Highest were sent; Next is sent next, and
// is before Highest while a go-back is under way.
type Requester struct {
	Oldest  PSN
	Next    PSN
	Highest PSN

	config  RequesterConfig
	retry   uint8
	rnr     uint8
	started bool // a go-back for the present loss has begun
	waiting bool // for the RNR timer
	failed  bool
	reads   []span // READs and atomics without full response, oldest first
}

type span struct {
	first PSN
	n     uint32
}

// NewRequester makes a requester that sends from a first PSN.
func NewRequester(c RequesterConfig, start PSN) (*Requester, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	start &= psnMask
	return &Requester{Oldest: start, Next: start, Highest: start, config: c,
		retry: c.Retry, rnr: c.RNRRetry}, nil
}

// Outstanding is the number of PSNs sent and not acknowledged.
func (r *Requester) Outstanding() uint32 { return uint32(r.Highest.Sub(r.Oldest)) }

// Reads is the number of READs and atomics sent and not fully answered.
func (r *Requester) Reads() int { return len(r.reads) }

// Resending tells whether what is sent next was sent before.
func (r *Requester) Resending() bool { return r.Next != r.Highest }

// Waiting tells whether an RNR delay is running.
func (r *Requester) Waiting() bool { return r.waiting }

// Failed tells whether the QP is in error.
func (r *Requester) Failed() bool { return r.failed }

// MaySend tells whether a request of n PSNs may leave now: no RNR delay runs,
// the QP lives, and the PSN window has room.
func (r *Requester) MaySend(n uint32) bool {
	used := uint32(r.Next.Sub(r.Oldest))
	return !r.waiting && !r.failed && n < MaxOutstanding && used+n < MaxOutstanding
}

// Issue takes n PSNs (see Span) for a request that MaySend and returns the
// first. responds marks a READ or atomic. After a go-back the same requests
// are issued again from Oldest on, a READ from its first missing packet.
func (r *Requester) Issue(n uint32, responds bool) PSN {
	p := r.Next
	r.Next = p.Add(n)
	if r.Highest.Before(r.Next) {
		r.Highest = r.Next
		if responds {
			r.reads = append(r.reads, span{p, n})
		}
	}
	return p
}

// sent tells whether a PSN is of a packet sent and not acknowledged.
func (r *Requester) sent(p PSN) bool { return !p.Before(r.Oldest) && p.Before(r.Highest) }

// moveTo acknowledges all before p, but never past a READ or atomic whose
// response is missing: then implied is true (an implied NAK).
func (r *Requester) moveTo(p PSN) (advanced, implied bool) {
	if len(r.reads) > 0 {
		next := r.reads[0].first
		if next.Before(r.Oldest) {
			next = r.Oldest
		}
		if next.Before(p) {
			p, implied = next, true
		}
	}
	return r.progress(p), implied
}

func (r *Requester) progress(p PSN) bool {
	if !r.Oldest.Before(p) {
		return false
	}
	r.Oldest = p
	if r.Next.Before(p) {
		r.Next = p
	}
	for len(r.reads) > 0 && !p.Before(r.reads[0].first.Add(r.reads[0].n)) {
		r.reads = r.reads[:copy(r.reads, r.reads[1:])]
	}
	r.retry, r.rnr, r.started = r.config.Retry, r.config.RNRRetry, false
	return true
}
