package scoreboard

import "rnicmmu/verify/rule"

// Rules of the scoreboard.
var (
	ruleUse = &rule.Rule{ID: "SCB-XLAT-01", Title: "no forbidden translation",
		Meaning: "Data go to or come from memory only by a table entry that the adapter may use: one that was filled, and whose last invalidation has not been completed. Seen at the root port, where completions of invalidations pass too.",
		Source:  "INV-1, INV-3; [Linux] mlx5/odp.c",
		Example: "fill entry 3 → frame 7; invalidate entry 3; completion entry of that; data to frame 7"}
	ruleRight = &rule.Rule{ID: "SCB-XLAT-02", Title: "no store without the right",
		Meaning: "Data are stored only by a table entry that was filled for storing and has not been protected since. Seen at the root port.",
		Source:  "FLT-8; [Linux] umem_odp.c",
		Example: "fill entry 3 → frame 7, not to be stored to; data stored to frame 7"}
	ruleFrame = &rule.Rule{ID: "SCB-FRAME-01", Title: "the frame is the page's",
		Meaning: "Data that mean a page go to or come from the frame that holds it. Seen at memory.",
		Source:  "INV-1, INV-2",
		Example: "page 4 moves from frame 7 to frame 9; data for page 4 are stored to frame 7"}
	ruleTaken = &rule.Rule{ID: "SCB-FRAME-02", Title: "no frame is taken from under an adapter",
		Meaning: "The kernel writes a frame out, copies it away or frees it only when no adapter may use it any more. Seen where page operations are sent.",
		Source:  "INV-2; [Linux] mm/mmu_notifier.c",
		Example: "fill entry 3 → frame 7 on two adapters; both are told to invalidate it, one has; frame 7 is freed"}
	ruleOwner = &rule.Rule{ID: "SCB-FRAME-03", Title: "a frame has one page",
		Meaning: "A frame is given to a page only when it is nobody's, and a page has one frame at a time. Seen where page operations are answered.",
		Source:  "INV-2",
		Example: "page 4 is read into frame 7, which holds page 2"}
	ruleContent = &rule.Rule{ID: "SCB-BYTE-01", Title: "what is read is what was stored",
		Meaning: "The bytes that a read, a page operation or the end of the run finds in a frame, or in swap, are those of the process's page: each from the last store to it, and from its place in that store.",
		Source:  "INV-8; derived",
		Example: "WRITE of 64 bytes to page 4, acknowledged; page 4 goes to swap without them and comes back; READ"}
	rulePlace = &rule.Rule{ID: "SCB-BYTE-02", Title: "bytes go where they belong",
		Meaning: "Byte x of a message is stored to, or read from, byte x of the access's range, and within the packet's part of it. Seen at memory.",
		Source:  "KEY-4; derived",
		Example: "WRITE of 64 bytes to va 0x1ff0: the second 48 bytes are stored to 0x1000"}
	ruleWhole = &rule.Rule{ID: "SCB-BYTE-03", Title: "what is acknowledged is whole",
		Meaning: "An access that succeeds has stored, or read and sent back, each of its bytes: a READ, and under qp.ack_point placement without a backup ring a WRITE, when it completes; others by the end of the run.",
		Source:  "RC-1, FLT-6",
		Example: "WRITE of two packets; the second is dropped for a fault; both are acknowledged"}
	ruleAtomic = &rule.Rule{ID: "SCB-ATOM-01", Title: "an atomic executes once",
		Meaning: "An atomic that succeeds has stored to memory once by the end of the run, and one that fails at most once.",
		Source:  "KEY-5; [Linux] rxe_resp.c",
		Example: "FETCH_ADD; its response is late; the request is sent again, and 8 bytes are stored again"}
	ruleResponse = &rule.Rule{ID: "SCB-BYTE-04", Title: "a response carries what was read for it",
		Meaning: "Each byte of a READ response was read from memory for this access before the response was sent.",
		Source:  "derived",
		Example: "READ of 4096 bytes; a response of 1024 bytes leaves when 512 have come from memory"}
)

// Rules are those of the scoreboard.
func Rules() []*rule.Rule {
	return []*rule.Rule{ruleUse, ruleRight, ruleFrame, ruleTaken, ruleOwner, ruleContent, rulePlace, ruleWhole, ruleResponse, ruleAtomic}
}
