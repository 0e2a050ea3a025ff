package follow

import (
	"rnicmmu/verify/protocol"
	"rnicmmu/verify/rule"
)

// Rules of paths with tables.
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
	ruleData = &rule.Rule{ID: "PATH-TAB-04", Title: "DMA is at the page's frame",
		Meaning: "Data that mean a page come to memory at the frame that it has then.",
		Source:  "INV-1", Example: "PageCopy(frame 1 to 2); data for the page at frame 1"}
	ruleFill = &rule.Rule{ID: "PATH-TAB-05", Title: "a fill names the page's frame",
		Meaning: "A fill is posted with the frame that the page has, and to no adapter that is being told that the page goes.",
		Source:  "FLT-4", Example: "CmdInvalidate; CmdFill before its completion"}
	ruleFault = &rule.Rule{ID: "PATH-TAB-06", Title: "a fault is answered once",
		Meaning: "A resume is for a fault of the page that waits, and none waits twice.",
		Source:  "FLT-1, FLT-11", Example: "Event(token 1); CmdResume(1); CmdResume(1)"}
	ruleSaved = &rule.Rule{ID: "PATH-TAB-07", Title: "what was stored is in swap when the frame goes",
		Meaning: "A frame that an adapter has stored to is freed when its content went to swap or to another frame behind the last store, or the process gave it up.",
		Source:  "INV-8", Example: "data stored to frame 1; PageFree(frame 1)"}
	ruleOwn = &rule.Rule{ID: "PATH-TAB-08", Title: "a page has one frame",
		Meaning: "Page operations are in an order that gives a page one frame at a time: it has none when it is given one, and leaves the one that it has.",
		Source:  "INV-2; derived", Example: "PageZero(frame 1); PageIn(frame 2), for one page"}
	ruleOrder = &rule.Rule{ID: "PATH-TAB-09", Title: "what ends has begun",
		Meaning: "A completion is for a command of the page that is not complete, an end of a suspension for one that is active, and a translation comes back that is out.",
		Source:  "INV-5, SUS-2; derived", Example: "CmdUnsuspend for an entry that is not suspended"}
	ruleEnd = &rule.Rule{ID: "PATH-TAB-10", Title: "what begins ends",
		Meaning: "At rest no command, fault or translation of a page is open.",
		Source:  "FLT-1, INV-6", Example: "Event(token 1), and no CmdResume(1)"}
)

// byRefusal are the rules by what a follower says.
var byRefusal = [protocol.NumRefusals]*rule.Rule{
	protocol.StaleDMA:          ruleData,
	protocol.FrameInUse:        ruleFrame,
	protocol.LostWrite:         ruleSaved,
	protocol.StrayResume:       ruleFault,
	protocol.WaitsAlready:      ruleFault,
	protocol.StrayOpen:         ruleOrder,
	protocol.NoneOpen:          ruleOrder,
	protocol.StrayReturn:       ruleOrder,
	protocol.NotSeen:           ruleOrder,
	protocol.TooMany:           ruleOrder,
	protocol.Undrained:         ruleDrain,
	protocol.NoSuchTranslation: ruleGiven,
	protocol.StaleFill:         ruleFill,
	protocol.FillMeetsZap:      ruleFill,
	protocol.HasFrame:          ruleOwn,
	protocol.NoFrame:           ruleOwn,
	protocol.NotInFrame:        ruleOwn,
}

// Rules are those of this package.
func Rules() []*rule.Rule {
	return []*rule.Rule{ruleFrame, ruleDrain, ruleGiven, ruleData, ruleFill, ruleFault, ruleSaved, ruleOwn, ruleOrder, ruleEnd}
}
