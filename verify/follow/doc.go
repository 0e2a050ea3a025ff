// Package follow checks that the log of a run is a path of the protocols'
// transition systems (verify/protocol).
//
//	kernel ──Doorbell: commands──────────▶ ┌─────────┐
//	kernel ◀──Inbox: completions, faults── │ places  │   events    ┌──────────┐
//	kernel ──PageOp──────────────────────▶ │ of each │────────────▶│ Follower │──▶ first refusal
//	tpt ◀──Translate, Release── responder  │ page    │ of one page │ of each  │    with the last
//	tpt ──Translation─────────▶ responder  │         │             │ page     │    16 events
//	memory ◀──MemReq: data──────────────── └─────────┘             └──────────┘
//
// # Tables
//
// A page is followed at one byte of it: the first that anybody had to do with.
// Of each adapter the table entry that holds this byte counts, whatever the size
// of its pages, so that pages of host and adapter need not be equal. A page has a
// follower when something of it is seen for the first time, with the state that
// the system was set up in.
//
// Behind an IOMMU entries hold addresses of the DMA domain. One that does hold the
// page's counts as one of the frame that the page has then.
//
// Nothing is told any more of a page behind its first event that is no step.
//
// # Left out
//
//   - pages of which one adapter has two entries: regions that overlap
//   - pages that a registration has outlived (PageOrphan), from then on: what
//     goes to the old frame is stale by design
//   - systems whose IOMMU flushes late (host.iommu.mode=deferred), for the same
//     reason, and those with more than 16 adapters
//   - SENDs' data, which mean no page before a receive buffer is chosen
//
// Stats say how many pages and events were followed and how many pages left out.
package follow
