package measure

import "rnicmmu/clocked"

// Step is a leg of an invalidation, named after what ends it.
type Step uint8

// Steps of an invalidation. Their order in time depends on the scheme; of two
// that end at once the first in this order is the earlier.
const (
	StepChecks      Step = iota // the notifier's checks, before anybody is asked
	StepIOTLB                   // the IOMMU's own caches
	StepSend                    // the queue: until the command is on its way
	StepReceive                 // until the adapter has it
	StepMark                    // entries, cached copies and walks
	StepDrain                   // DMA translated before
	StepAcknowledge             // until the kernel, or the IOMMU, has seen the completion
	StepDevTLB                  // completions of the adapters' translation caches
	StepOthers                  // until the kernel has the last adapter's answer
	StepFinish                  // unmapping, page table and CPU TLBs: the frame may be reused
	NumSteps
)

var stepNames = [NumSteps]string{
	"checks", "iotlb", "send", "receive", "mark", "drain", "acknowledge", "devtlb", "others", "finish",
}

// String is the step's name in result files.
func (s Step) String() string { return stepNames[s] }

// StepPS is a total a step, an object in JSON with the steps' names.
type StepPS [NumSteps]clocked.Time

// MarshalJSON writes the steps in their order.
func (s StepPS) MarshalJSON() ([]byte, error) { return marshalNamed(s[:], Step(0)), nil }

// UnmarshalJSON reads an object of totals; names that are no step are ignored.
func (s *StepPS) UnmarshalJSON(data []byte) error { return unmarshalNamed(data, s[:], Step(0)) }

// Instants are the ends of the steps; 0: the step does not exist.
func (v *Invalidation) Instants() [NumSteps]clocked.Time {
	return [NumSteps]clocked.Time{v.Checked, v.IOTLB, v.Sent, v.Received, v.Marked, v.Drained, v.Acknowledged, v.DevTLB, v.Others, v.Done}
}

// Steps splits the time from Notified to Done: a step runs from the latest
// instant before its end, so the steps add up to the whole in every order.
func (v *Invalidation) Steps() (steps StepPS) {
	ends := v.Instants()
	last := v.Notified
	for range ends {
		next := NumSteps
		for s, end := range ends {
			if end > 0 && (next == NumSteps || end < ends[next]) {
				next = Step(s)
			}
		}
		if next == NumSteps {
			break
		}
		steps[next] = ends[next] - last
		last = ends[next]
		ends[next] = 0
	}
	return steps
}
