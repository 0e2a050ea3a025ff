package protocol

// rule is a rule that a state breaks.
type rule uint8

const (
	ruleNone rule = iota
	ruleStaleDMA
	ruleProtectedDMA
	ruleFrameInUse
	ruleLostWrite
	ruleStrayResume
	ruleBound
	ruleStrayOpen
	ruleHeld
	ruleEndless
	ruleITag
	ruleStrayResponse
	numRules
)

var rules = [numRules]string{
	ruleStaleDMA:      "DMA reaches a frame that is not its page's (INV-1)",
	ruleProtectedDMA:  "DMA stores to a page that may not be stored to (FLT-8)",
	ruleFrameInUse:    "a frame is given up while an adapter can still use it (INV-2)",
	ruleLostWrite:     "a page leaves and what was stored to it is nowhere (INV-8)",
	ruleStrayResume:   "a fault is answered that does not wait for an answer (FLT-11)",
	ruleBound:         "more is under way than there can be (PROTO-BOUND)",
	ruleStrayOpen:     "a suspension ends that is not active (SUS-2)",
	ruleHeld:          "a translation is given while its page is suspended (SUS-2)",
	ruleEndless:       "steps that need not wait follow each other without end (PROTO-ENDLESS)",
	ruleITag:          "an Invalidate Completion answers for another request (ATS-2)",
	ruleStrayResponse: "a group is answered that does not wait for an answer (ATS-5)",
}

// endless is more steps at once than any state has.
const endless = 100
