package protocol

import "fmt"

// Kind is a kind of step.
type Kind uint8

// Event is a step of a protocol: who did what, with which page and frame. Token is
// the number of an access, which its fault and DMA carry too.
type Event struct {
	Kind    Kind
	Adapter uint16
	Page    uint32
	Frame   uint32
	Token   uint32
	Write   bool
}

// Kinds of steps. Arrivals are what the receiver sees.
const (
	Nothing Kind = iota

	// Of peers and of the host: the environment.
	Access
	Evict
	Move
	Protect
	Hold

	// Within an adapter.
	Walked
	Retry
	Returned

	// From an adapter.
	DMAIssued
	DMAArrived
	FaultArrived
	FilledArrived
	AckArrived
	HeldArrived
	Drained

	// Within the kernel.
	Lookup
	Update
	Reclaim
	Release

	// To an adapter.
	FillExecuted
	ZapExecuted
	ProtectExecuted
	SuspendExecuted
	UnsuspendExecuted
	ResumeExecuted

	// Between an adapter with an ATC, the IOMMU and the kernel.
	TranslationAsked
	TranslationArrived
	InvalidateArrived
	CompletionArrived
	PageRequestArrived
	PageResponseArrived
	IOTLBDropped
	DevTLBSent
	FencePassed
	FenceArrived
	TimedOut
	CutOff
	FaultRaised
	Answered

	// Seen at the ports of a run, for a Follower.
	FrameAssigned // to the page
	FrameCopied   // the page's content, to another frame, which is its frame now
	PagedOut      // the frame's content is in swap
	FrameFreed    // a frame that was the page's
	FillSent      // commands, as the kernel posts them
	ZapSent
	MoveZapSent
	ProtectSent
	SuspendSent
	UnsuspendSent
	ResumeSent       // Token: the fault's
	CommandCompleted // the oldest that is open, but for resumes; as the kernel sees it
	FaultSeen        // Token: the fault's
	TranslationGiven // Token: a handle of the adapter's
	TranslationReturned
	DMASeen // at memory, meant for the page
	GivenUp // the process does not want the page's content any more
	IOTLBOrdered
	DevTLBOrdered
	TranslationAnswered
	CompletionSent
	numKinds
)

// kinds are who does a step, to whom, and what it is.
var kinds = [numKinds]struct{ from, to, what string }{
	Access:              {"peer", "adapter", "access"},
	Evict:               {"host", "kernel", "evict the page"},
	Move:                {"host", "kernel", "move the page"},
	Protect:             {"host", "kernel", "take the right to store"},
	Hold:                {"host", "kernel", "suspend the page for a while"},
	Walked:              {"adapter", "adapter", "table read ends"},
	Retry:               {"adapter", "adapter", "access comes again"},
	Returned:            {"adapter", "adapter", "translation called back is returned unused"},
	DMAIssued:           {"adapter", "memory", "DMA leaves"},
	DMAArrived:          {"adapter", "memory", "DMA arrives"},
	FaultArrived:        {"adapter", "kernel", "fault event arrives"},
	FilledArrived:       {"adapter", "kernel", "completion of the fill arrives"},
	AckArrived:          {"adapter", "kernel", "acknowledgement of the invalidation arrives"},
	HeldArrived:         {"adapter", "kernel", "acknowledgement of the suspension arrives"},
	Drained:             {"adapter", "memory", "drained: acknowledgement leaves"},
	Lookup:              {"kernel", "kernel", "fault handler looks the page up"},
	Update:              {"kernel", "adapter", "fault handler checks the sequence and answers"},
	Reclaim:             {"kernel", "kernel", "reclaim the page"},
	Release:             {"kernel", "adapter", "end of the suspension leaves"},
	FillExecuted:        {"kernel", "adapter", "fill is executed"},
	ZapExecuted:         {"kernel", "adapter", "invalidation is executed"},
	ProtectExecuted:     {"kernel", "adapter", "protection is executed"},
	SuspendExecuted:     {"kernel", "adapter", "suspension is executed"},
	UnsuspendExecuted:   {"kernel", "adapter", "end of the suspension is executed"},
	ResumeExecuted:      {"kernel", "adapter", "resume is executed"},
	TranslationAsked:    {"adapter", "IOMMU", "translation request arrives"},
	TranslationArrived:  {"IOMMU", "adapter", "translation completion arrives"},
	InvalidateArrived:   {"IOMMU", "adapter", "Invalidate Request arrives"},
	CompletionArrived:   {"adapter", "IOMMU", "Invalidate Completion arrives"},
	PageRequestArrived:  {"adapter", "IOMMU", "page request arrives"},
	PageResponseArrived: {"IOMMU", "adapter", "page response arrives"},
	IOTLBDropped:        {"kernel", "IOMMU", "IOTLB invalidation is executed"},
	DevTLBSent:          {"IOMMU", "adapter", "Invalidate Request leaves"},
	FencePassed:         {"kernel", "IOMMU", "fence is reached"},
	FenceArrived:        {"IOMMU", "kernel", "fence is complete"},
	TimedOut:            {"IOMMU", "kernel", "invalidation times out"},
	CutOff:              {"kernel", "adapter", "adapter is cut off"},
	FaultRaised:         {"adapter", "IOMMU", "page request leaves"},
	Answered:            {"IOMMU", "adapter", "page response leaves"},
	FrameAssigned:       {"kernel", "memory", "frame is assigned"},
	FrameCopied:         {"kernel", "memory", "page is copied to a frame"},
	PagedOut:            {"kernel", "memory", "page goes to swap"},
	FrameFreed:          {"kernel", "memory", "frame is freed"},
	FillSent:            {"kernel", "adapter", "fill"},
	ZapSent:             {"kernel", "adapter", "invalidation"},
	MoveZapSent:         {"kernel", "adapter", "invalidation of a page that moves"},
	ProtectSent:         {"kernel", "adapter", "protection"},
	SuspendSent:         {"kernel", "adapter", "suspension"},
	UnsuspendSent:       {"kernel", "adapter", "end of the suspension"},
	ResumeSent:          {"kernel", "adapter", "resume"},
	CommandCompleted:    {"adapter", "kernel", "completion"},
	FaultSeen:           {"adapter", "kernel", "fault"},
	TranslationGiven:    {"adapter", "adapter", "translation is given out"},
	TranslationReturned: {"adapter", "adapter", "translation is returned"},
	DMASeen:             {"adapter", "memory", "DMA"},
	IOTLBOrdered:        {"kernel", "IOMMU", "IOTLB invalidation"},
	DevTLBOrdered:       {"kernel", "IOMMU", "invalidation of the adapter"},
	CompletionSent:      {"adapter", "IOMMU", "Invalidate Completion leaves"},
	TranslationAnswered: {"IOMMU", "adapter", "translation completion leaves"},
	GivenUp:             {"kernel", "memory", "content is given up"},
}

// String is the kind for people.
func (k Kind) String() string {
	if k < numKinds {
		return kinds[k].what
	}
	return "invalid kind"
}

// String is who → whom, and the message.
func (e Event) String() string {
	k := kinds[min(e.Kind, numKinds-1)]
	name := func(who string) string {
		if who == "adapter" {
			return fmt.Sprintf("adapter %d", e.Adapter)
		}
		return who
	}
	text := name(k.from)
	if k.to != k.from {
		text += " → " + name(k.to)
	}
	text += ": " + k.what + fmt.Sprintf(", page %d", e.Page)
	if e.Frame != 0 {
		text += fmt.Sprintf(", frame %d", e.Frame)
	}
	switch e.Kind {
	case ResumeSent, FaultSeen, TranslationReturned, CompletionArrived, CompletionSent:
		text += fmt.Sprintf(", number %d", e.Token)
	case FillSent, TranslationGiven, DMASeen:
		text += fmt.Sprintf(" (%s)", map[bool]string{false: "read", true: "write"}[e.Write])
	case Access, Walked, Retry, Returned, DMAIssued, DMAArrived, FaultArrived, Lookup, Update, FilledArrived, ResumeExecuted, PageRequestArrived, PageResponseArrived, FaultRaised, Answered:
		text += fmt.Sprintf(", access %d (%s)", e.Token, map[bool]string{false: "read", true: "write"}[e.Write])
	}
	return text
}
