package protocol

// Refusal is why an event is no step of a protocol.
type Refusal uint8

// Refusals of a Follower.
const (
	Legal Refusal = iota
	StaleDMA
	FrameInUse
	LostWrite
	StrayResume
	StrayOpen
	Undrained
	NoSuchTranslation
	StaleFill
	FillMeetsZap
	WaitsAlready
	NoneOpen
	StrayReturn
	HasFrame
	NoFrame
	NotInFrame
	NotFlushed
	TagInUse
	FenceEarly
	StaleAnswer
	CompletedUndrained
	CachedFrame
	BeforeFence
	StrayResponse
	NotSeen
	TooMany
	NumRefusals
)

var refusals = [NumRefusals]string{
	Legal:              "legal",
	StaleDMA:           rules[ruleStaleDMA],
	FrameInUse:         rules[ruleFrameInUse],
	LostWrite:          rules[ruleLostWrite],
	StrayResume:        rules[ruleStrayResume],
	StrayOpen:          rules[ruleStrayOpen],
	Undrained:          "a command is complete while a translation from before it is out (INV-2)",
	NoSuchTranslation:  "the table has no such translation (INV-1)",
	StaleFill:          "the page is not in the frame that is filled in (FLT-4)",
	FillMeetsZap:       "an invalidation of the page is under way (FLT-4)",
	WaitsAlready:       "this fault is waiting already",
	NoneOpen:           "no command of the page is open",
	StrayReturn:        "no translation of this number is out",
	HasFrame:           "the page has a frame",
	NoFrame:            "the page has no frame",
	NotInFrame:         "the page is not in this frame",
	NotFlushed:         "the IOTLB is not invalidated before the adapter (ATS-1)",
	TagInUse:           "the ITag is out already (ATS-2)",
	FenceEarly:         "an invalidation before the fence is not complete (ATS-1)",
	StaleAnswer:        "the page is not in the frame that is answered (INV-1)",
	CompletedUndrained: "an invalidation is complete while a translation from before it is out (ATS-4)",
	CachedFrame:        "the adapter may keep an answer that leads to the frame (ATS-3)",
	BeforeFence:        "an invalidation of the page has no fence yet (INV-2)",
	StrayResponse:      rules[ruleStrayResponse],
	NotSeen:            "is not seen at a port",
	TooMany:            "only adapters below 16 can be followed",
}

// String is the reason for people, with the rule.
func (r Refusal) String() string {
	if r < NumRefusals {
		return refusals[r]
	}
	return "invalid refusal"
}
