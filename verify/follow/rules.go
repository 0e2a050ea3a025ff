package follow

import (
	"rnicmmu/verify/protocol"
	"rnicmmu/verify/rule"
)

// Rules of pages, and of paths with tables.
var (
	ruleFrame = &rule.Rule{ID: "PATH-TAB-01", Title: "a step of the kernel's takes no frame in use",
		Meaning: "When the kernel sends a page's frame to swap, copies it or frees it, no entry that an adapter has or may still have, and no translation that is out, leads there.",
		Source:  "INV-2, INV-3, SUS-3", Example: "CmdFill(frame 1); CmdInvalidate; PageFree(frame 1) before its completion"}
	ruleDrain = &rule.Rule{ID: "PATH-TAB-02", Title: "a completion is behind what was given before",
		Meaning: "A command that takes a right away is complete at the kernel when every translation that was given out before it was executed has come back.",
		Source:  "INV-2; [Linux] mlx5/umr.c", Example: "Translation(frame 1); CmdInvalidate; its completion; Release"}
	ruleGiven = &rule.Rule{ID: "PATH-TAB-03", Title: "a translation is one that the table has",
		Meaning: "What the unit gives out is the entry as it is after the commands that are complete and some of those that are not, in order, with the right that is given.",
		Source:  "INV-1, FLT-8, SUS-2", Example: "CmdFill(frame 1); CmdInvalidate; its completion; Translation(frame 1)"}
	ruleData = &rule.Rule{ID: "PATH-PAGE-03", Title: "DMA is at the page's frame",
		Meaning: "Data that mean a page come to memory at the frame that it has then.",
		Source:  "INV-1", Example: "PageCopy(frame 1 to 2); data for the page at frame 1"}
	ruleFill = &rule.Rule{ID: "PATH-TAB-04", Title: "a fill names the page's frame",
		Meaning: "A fill is posted with the frame that the page has, and to no adapter that is being told that the page goes.",
		Source:  "FLT-4", Example: "CmdInvalidate; CmdFill before its completion"}
	ruleFault = &rule.Rule{ID: "PATH-TAB-05", Title: "a fault is answered once",
		Meaning: "A resume is for a fault of the page that waits, and none waits twice.",
		Source:  "FLT-1, FLT-11", Example: "Event(token 1); CmdResume(1); CmdResume(1)"}
	ruleSaved = &rule.Rule{ID: "PATH-PAGE-01", Title: "what was stored is in swap when the frame goes",
		Meaning: "A frame that an adapter has stored to is freed when its content went to swap or to another frame behind the last store, or the process gave it up.",
		Source:  "INV-8", Example: "data stored to frame 1; PageFree(frame 1)"}
	ruleOwn = &rule.Rule{ID: "PATH-PAGE-02", Title: "a page has one frame",
		Meaning: "Page operations are in an order that gives a page one frame at a time: it has none when it is given one, and leaves the one that it has.",
		Source:  "INV-2; derived", Example: "PageZero(frame 1); PageIn(frame 2), for one page"}
	ruleOrder = &rule.Rule{ID: "PATH-TAB-06", Title: "what ends has begun",
		Meaning: "A completion is for a command of the page that is not complete, an end of a suspension for one that is active, and a translation comes back that is out.",
		Source:  "INV-5, SUS-2; derived", Example: "CmdUnsuspend for an entry that is not suspended"}
	ruleEnd = &rule.Rule{ID: "PATH-PAGE-04", Title: "what begins ends",
		Meaning: "At rest no command, fault or translation of a page is open.",
		Source:  "FLT-1, INV-6", Example: "Event(token 1), and no CmdResume(1)"}
)

// Rules of paths with translation caches.
var (
	ruleFlushed = &rule.Rule{ID: "PATH-ATS-01", Title: "the IOTLB is invalidated before the adapter",
		Meaning: "The kernel queues an invalidation of a page at an adapter behind one of that page in the IOTLB, which no earlier invalidation at this adapter has used.",
		Source:  "ATS-1", Example: "DevTLBInvalidate; IOTLBInvalidate; Fence"}
	ruleFence = &rule.Rule{ID: "PATH-ATS-02", Title: "a fence is behind the invalidations before it",
		Meaning: "A fence comes back when each Invalidate Request of the page that was queued before it is complete or was given up, and no page leaves its frame before.",
		Source:  "ATS-1, INV-2", Example: "DevTLBInvalidate; Fence; fence event; Invalidate Completion"}
	ruleTag = &rule.Rule{ID: "PATH-ATS-03", Title: "an ITag names one Invalidate Request",
		Meaning: "An Invalidate Request leaves with an ITag of which all completions have come, however late, and a completion is for one that is out. Seen at the IOMMU.",
		Source:  "ATS-2", Example: "Invalidate Request (ITag 0); Invalidate Request (ITag 0); Invalidate Completion (ITag 0)"}
	ruleAnswer = &rule.Rule{ID: "PATH-ATS-04", Title: "an answer names the page's frame",
		Meaning: "A translation completion that grants something leaves the IOMMU with the frame that the page has then.",
		Source:  "INV-1, ATS-3", Example: "PageCopy(frame 1 to 2); translation completion (frame 1)"}
	ruleKept = &rule.Rule{ID: "PATH-ATS-05", Title: "a step of the kernel's takes no frame from under a cache",
		Meaning: "When the kernel sends a page's frame to swap, copies it or frees it, each adapter has completed an Invalidate Request that left the IOMMU behind the last answer with this frame, and holds no translation of it.",
		Source:  "INV-2, ATS-3", Example: "translation completion (frame 1); PageFree(frame 1)"}
	ruleCached = &rule.Rule{ID: "PATH-ATS-06", Title: "a translation is one that was answered",
		Meaning: "What a translation cache gives out is an answer that left the IOMMU behind the last Invalidate Request of the page that is complete.",
		Source:  "INV-1, ATS-3", Example: "translation completion (frame 1); Invalidate Request; its completion; Translation(frame 1)"}
	ruleBehind = &rule.Rule{ID: "PATH-ATS-07", Title: "an Invalidate Completion is behind what was given before",
		Meaning: "When an Invalidate Completion comes to the IOMMU every translation of the page by an answer from before its request has come back.",
		Source:  "ATS-4", Example: "Translation(frame 1); Invalidate Request; Invalidate Completion; Release"}
	ruleGroup = &rule.Rule{ID: "PATH-ATS-08", Title: "a group is answered once",
		Meaning: "A page response leaves for a group that waits, and no group waits twice. Seen at the IOMMU.",
		Source:  "ATS-5", Example: "page request (group 3); page response (group 3); page response (group 3)"}
)

// byRefusalOfCache are the rules of an adapter with a cache, where they are others.
var byRefusalOfCache = [protocol.NumRefusals]*rule.Rule{
	protocol.WaitsAlready:      ruleGroup,
	protocol.NoSuchTranslation: ruleCached,
}

// byRefusal are the rules by what a follower says.
var byRefusal = [protocol.NumRefusals]*rule.Rule{
	protocol.StaleDMA:           ruleData,
	protocol.FrameInUse:         ruleFrame,
	protocol.LostWrite:          ruleSaved,
	protocol.StrayResume:        ruleFault,
	protocol.WaitsAlready:       ruleFault,
	protocol.StrayOpen:          ruleOrder,
	protocol.NoneOpen:           ruleOrder,
	protocol.StrayReturn:        ruleOrder,
	protocol.NotSeen:            ruleOrder,
	protocol.TooMany:            ruleOrder,
	protocol.Undrained:          ruleDrain,
	protocol.NoSuchTranslation:  ruleGiven,
	protocol.StaleFill:          ruleFill,
	protocol.FillMeetsZap:       ruleFill,
	protocol.NotFlushed:         ruleFlushed,
	protocol.FenceEarly:         ruleFence,
	protocol.BeforeFence:        ruleFence,
	protocol.TagInUse:           ruleTag,
	protocol.StaleAnswer:        ruleAnswer,
	protocol.CachedFrame:        ruleKept,
	protocol.CompletedUndrained: ruleBehind,
	protocol.StrayResponse:      ruleGroup,
	protocol.HasFrame:           ruleOwn,
	protocol.NoFrame:            ruleOwn,
	protocol.NotInFrame:         ruleOwn,
}

// Rules are those of this package.
func Rules() []*rule.Rule {
	return []*rule.Rule{ruleSaved, ruleOwn, ruleData, ruleEnd, ruleFrame, ruleDrain, ruleGiven, ruleFill, ruleFault, ruleOrder,
		ruleFlushed, ruleFence, ruleTag, ruleAnswer, ruleKept, ruleCached, ruleBehind, ruleGroup}
}
