// Package protocol explores the paging protocols between an adapter and its host,
// over all interleavings and all delays of messages that the bus allows, and
// follows what runs of the cycle model show at their ports by the same rules.
//
//	Tables   adapters with tables: faults, invalidations (notifier), suspension
//	ATS      an adapter with a translation cache: ATS, page requests, the IOMMU
//	Check    explores one of them (package explore) and reports
//	Follower takes the events of one page, and refuses what is no step
//
// A step of an actor is a small verb; what the components ask of model/ the verbs
// ask there too: what a table entry becomes and what an access meets in it
// (model/mtt), ITags and translations (model/ats), and which message may arrive
// before which (model/pcie). docs/protocols.md has the systems as pictures, with
// their invariants and the figures measured.
//
// # Abstractions
//
// A page's sequence number is one bit at each fault that has looked the page up:
// has it changed since. Content is one bit a page: is it all in swap, or zeros. An
// invalidation's end (dirty mark, page table, copy, free frame) is one step with
// the last acknowledgement's arrival, and a CPU fault is one step: nobody but
// memory sees what is between. A read is over when it reaches memory.
//
// # Symmetry
//
// Adapters, pages, accesses and frames have no names that a rule looks at, so
// that a state and one in which they are renamed have like futures. Of a state's
// renamings the one with the least key stands for all: frames are numbered in the
// order in which they are met, and only actors that look alike are tried in every
// order. Messages that may pass each other both ways are kept in one order.
// Accesses of different traffic classes are not renamed.
//
// # Steps at once
//
// A step that need not wait is taken together with the one that makes it
// possible, because waiting with it shows nothing that a delay elsewhere does not:
//
//   - A fault event's arrival, a fill's completion, and the handler's look-up. A
//     handler that looks up early finds the sequence changed, and looks up again.
//     Where frames are scarce or faults compete, who is first is left open.
//   - Commands that give (fill, end of a suspension, resume), once at the front of
//     their queue: who looks up before them faults or waits, and comes to the same
//     look-up later. Behind a command that takes they wait in the queue.
//   - The acknowledgement's leaving when all is drained, its arrival when nothing
//     is before it that it may not pass, and a void table read's repetition.
//   - Under ATS: commands to the IOMMU but the flush of its IOTLB, a page request's
//     leaving, an Invalidate Request's execution, and a fence's completion.
//
// DMA, table reads, translation requests and completions, invalidations, checks of
// the sequence, and time-outs always wait as long as they can. The tests explore
// small bounds with each step by itself too, and compare verdicts.
//
// # Not modelled
//
// Several entries of an adapter for one page, page request groups of several
// requests, Response Failure, prefetch, pins, key changes, the IOMMU in front of
// tables, walks of several levels, copies that a cache drops by itself, and the
// CPU's stores.
package protocol
