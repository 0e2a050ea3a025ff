package coverage

// phase is how far something that takes translations away has come.
type phase uint8

const (
	phaseSent         phase = iota // on its way to the adapter, or in its queue
	phaseReceived                  // in execution, nothing taken away yet
	phaseMarked                    // entries are gone, translations called back are out
	phaseDrained                   // all are back; the acknowledgement is on its way
	phaseAcknowledged              // the kernel is told; what it was for is not over
	numPhases
)

var phaseNames = []string{"sent", "received", "marked", "drained", "acknowledged"}

// meet is what goes on at a page meanwhile.
type meet uint8

const (
	meetAsked        meet = iota // a translation is asked for and not answered
	meetWalk                     // its entry is being read for a request, or asked of the IOMMU
	meetReadAhead                // its entry is being read for nobody
	meetHeld                     // a translation is out
	meetWrite                    // DMA writes that use one are on their way
	meetRead                     // so are reads
	meetFault                    // a fault is reported and not resumed
	meetFill                     // a fill is under way for a fault
	meetPrefetch                 // a fill is under way that no fault asked for
	meetInvalidation             // another invalidation is under way
	meetSuspension               // another suspension is under way
	meetResume                   // a suspension or fault is being ended
	numMeets
)

var meetNames = []string{"translation asked", "walk", "read ahead", "translation out", "DMA write", "DMA read", "fault", "fill", "prefetch",
	"invalidation", "suspension", "resume"}

// kind is what takes translations away.
type kind uint8

const (
	kindInvalidate kind = iota
	kindSuspend
	kindProtect
	kindATS
	kindKey
	numKinds
)

// races are the groups of races by kind.
var races = [numKinds]*Group{
	kindInvalidate: cross("race_invalidate", "phase of an invalidation of a page × what goes on at the page", phaseNames, meetNames),
	kindSuspend:    cross("race_suspend", "phase of a suspension × what goes on at the page", phaseNames, meetNames),
	kindProtect:    cross("race_protect", "phase of taking the right to store away × what goes on at the page", phaseNames, meetNames),
	kindATS:        cross("race_ats", "phase of an ATS Invalidate × what goes on at a page of its range; fault: a page request", phaseNames, meetNames),
	kindKey:        cross("race_key", "phase of the death of a key (deregistration, local invalidation, SEND with invalidate) × what goes on at its pages", phaseNames, meetNames),
}

func init() {
	for _, later := range []string{phaseNames[phaseDrained], phaseNames[phaseAcknowledged]} {
		for _, k := range []kind{kindInvalidate, kindSuspend} {
			races[k].ignore("all older ones are back, and newer ones need a fill, which waits for its end", later+times+"translation out", later+times+"DMA read", later+times+"DMA write")
		}
	}
	races[kindSuspend].ignore("a fill under a suspension counts as one for a fault", "*"+times+"prefetch")
	races[kindATS].ignore("an adapter with ATS has no table", "*"+times+"fill", "*"+times+"prefetch", "*"+times+"suspension")
}

// allowedSet counts uses of translations by how many were permitted.
var allowedSet = cross("allowed_set", "DMA at the root port × translations of its page that were permitted: the one, and one more for each invalidation under way",
	[]string{"store", "read"}, []string{"1", "2", "3 or more"})
