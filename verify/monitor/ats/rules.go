package ats

import "rnicmmu/verify/rule"

// The rules that this package watches for.
var (
	Translated = &rule.Rule{ID: "ATS-AT-01", Title: "translated requests only where ATS is on",
		Meaning: "An adapter marks a request as translated (AT = 10) only where ATS is on for it, and there every transfer of user data is.",
		Source:  "[PCIe]", Example: "scheme odp: DMA(translated)"}
	Aligned = &rule.Rule{ID: "ATS-STU-01", Title: "translation requests by the smallest unit",
		Meaning: "A translation request names an address that is a multiple of 4 KiB, asks for whole entries of 8 bytes and carries the process of its adapter.",
		Source:  "[PCIe]", Example: "translation request(0x1800)"}
	Empty = &rule.Rule{ID: "ATS-NUL-01", Title: "an answer without rights is not kept",
		Meaning: "No translation is given out of an answer with R = W = 0, nor with an error: a later use asks anew.",
		Source:  "ATS-3; [riscv-iommu]", Example: "translation request(page 1); completion(R = W = 0); Translation(page 1)"}
	Untranslated = &rule.Rule{ID: "ATS-UNT-01", Title: "what is for untranslated requests is not used translated",
		Meaning: "No translation is given out of an answer with U = 1.",
		Source:  "[PCIe]", Example: "translation request(page 1); completion(U); Translation(page 1)"}
	Stale = &rule.Rule{ID: "ATS-STALE-01", Title: "no translation from before a completed invalidation",
		Meaning: "What was asked for before an Invalidate Request of its range came is not given out once the Invalidate Completion was sent.",
		Source:  "ATS-3, INV-3; [riscv-iommu]", Example: "translation request(page 1); Invalidate Request(page 1); Invalidate Completion; completion; Translation(page 1)"}
	Drained = &rule.Rule{ID: "ATS-DRAIN-01", Title: "an Invalidate Completion comes behind the last use",
		Meaning: "When an Invalidate Completion leaves the adapter, nothing that was asked for before its request came is given out for the range.",
		Source:  "ATS-4, INV-1; [PCIe]", Example: "Translation(page 1); Invalidate Request(page 1); Invalidate Completion; Release"}
	Permitted = &rule.Rule{ID: "ATS-PERM-01", Title: "use within rights and size",
		Meaning: "A translation that is given out leads where the last answer for its page does, and allows stores only where that does.",
		Source:  "ATS-3, FLT-8; [riscv-iommu]", Example: "completion(page 1, R); Translation(page 1, write)"}
	Pushed = &rule.Rule{ID: "ATS-POST-01", Title: "an Invalidate Completion comes behind the stores",
		Meaning: "When an Invalidate Completion comes to the IOMMU, every store by the translations that it ends has come.",
		Source:  "ATS-4; [PCIe]", Example: "DMA write(frame 1); Invalidate Completion arrives; the write arrives"}
	Tagged = &rule.Rule{ID: "ATS-TAG-01", Title: "an ITag has one request",
		Meaning: "No Invalidate Request carries an ITag for which completions of an earlier one are due, though that has timed out.",
		Source:  "ATS-2; [riscv-iommu]", Example: "Invalidate Request(ITag 3); Invalidate Request(ITag 3)"}
	Counted = &rule.Rule{ID: "ATS-CC-01", Title: "completions answer requests",
		Meaning: "Each ITag that an Invalidate Completion names has a request that waits, and its count is 1 to 8.",
		Source:  "ATS-2; [riscv-iommu]", Example: "Invalidate Completion(ITag 3)"}
	Bounded = &rule.Rule{ID: "ATS-DEPTH-01", Title: "no more invalidations than the adapter takes",
		Meaning: "An adapter has no more Invalidate Requests outstanding than its queue has places, and at most 32.",
		Source:  "ATS-2; [Linux] pci_regs.h", Example: "depth 1: Invalidate Request(ITag 0); Invalidate Request(ITag 1)"}
	Ordered = &rule.Rule{ID: "ATS-ORD-01", Title: "IOTLB before devTLB",
		Meaning: "The kernel has an adapter's cache invalidated behind the IOTLB: each devTLB command has an IOTLB command of its range and process before it, of its own.",
		Source:  "ATS-1; [Linux] intel/cache.c", Example: "DevTLBInvalidate(page 1); IOTLBInvalidate(page 1)"}
	Covered = &rule.Rule{ID: "ATS-RNG-01", Title: "an Invalidate Request covers its command",
		Meaning: "The range of an Invalidate Request holds all that the oldest command of its adapter names.",
		Source:  "INV-11; [Linux] intel/cache.c", Example: "DevTLBInvalidate(pages 3, 4); Invalidate Request(page 3)"}
	Fenced = &rule.Rule{ID: "ATS-FEN-01", Title: "a fence waits for what is before it",
		Meaning: "Fences come back once each, in order, each when every devTLB invalidation before it is complete, given up or refused.",
		Source:  "ATS-1, ATS-10; [Linux] intel/dmar.c", Example: "DevTLBInvalidate; Fence; EventFence; Invalidate Completion"}

	Credited = &rule.Rule{ID: "PRI-CRED-01", Title: "page requests within the allocation",
		Meaning: "An adapter has no more page requests outstanding than were allocated to it.",
		Source:  "ATS-6; [Linux] pci_regs.h", Example: "allocation 1: page request(group 0); page request(group 1)"}
	Indexed = &rule.Rule{ID: "PRI-IDX-01", Title: "a group's index serves again behind its response",
		Meaning: "Behind the last request of a group none carries its index before the response.",
		Source:  "ATS-5; [PCIe]", Example: "page request(group 0, last); page request(group 0, last)"}
	Responded = &rule.Rule{ID: "PRI-RSP-01", Title: "each group has one response",
		Meaning: "A response names a group whose last request was sent and that waits; every group has one when nothing moves any more, and a stop marker none.",
		Source:  "ATS-5; [Linux] io-pgfault.c", Example: "page request(group 0, last); response(group 1)"}
	Disabled = &rule.Rule{ID: "PRI-FAIL-01", Title: "no page request behind a Response Failure",
		Meaning: "An adapter that was answered Response Failure sends no page request.",
		Source:  "[PCIe]", Example: "response(group 0, failure); page request(group 1)"}
	Marked = &rule.Rule{ID: "PRI-STOP-01", Title: "a stop marker is the last of its process",
		Meaning: "Behind a stop marker no page request of its process comes.",
		Source:  "ATS-5; [PCIe]", Example: "stop marker(process 1); page request(process 1)"}
)

// Rules are those of this package.
func Rules() []*rule.Rule {
	return []*rule.Rule{Translated, Aligned, Empty, Untranslated, Stale, Drained, Permitted, Pushed, Tagged, Counted, Bounded,
		Ordered, Covered, Fenced, Credited, Indexed, Responded, Disabled, Marked}
}
