package link

import "rnicmmu/verify/rule"

// Rules are those of PCI Express links.
func Rules() []*rule.Rule {
	return []*rule.Rule{
		PassedPosted, PassedOwn, TakenEarly, HeldUp, Attributes,
		Asked, Routed, Left, Answered,
		NoCredit, Overflow, OverReturn, Unreturned, CreditSize,
		TagBusy, TagRange, TagRest, Reserve,
		NoRequest, Address, Bytes, Boundary, Status, Alike,
		Payload, ReadRequest, Crossing, Header,
		Numbers, ReplayBuffer, ReplayOrder, Once, Named, AckLate, NakDue, LineTime,
	}
}

// Rules of ordering.
var (
	PassedPosted = &rule.Rule{ID: "PCIE-ORD-01", Title: "nothing passes a posted TLP that may not",
		Meaning: "What a unit sends goes behind every posted TLP that the unit accepted before it for the same way, unless the ordering table lets it pass: RO for posted TLPs and completions; IDO where the requester, or the PASID, is another.",
		Source:  "[PCIe] table 2-40", Example: "a write is accepted, then an answer without RO; the completion is sent first"}
	PassedOwn = &rule.Rule{ID: "PCIE-ORD-02", Title: "completions of one request stay in order",
		Meaning: "Completions of the same requester and tag leave in the order in which they were accepted, whatever their attributes.",
		Source:  "[PCIe] table 2-40", Example: "two completions of tag 3 come to a switch; the second is sent first"}
	TakenEarly = &rule.Rule{ID: "PCIE-ORD-03", Title: "a receiver keeps the order too",
		Meaning: "A unit takes no TLP out of its receive buffer before an earlier posted one that it may not pass.",
		Source:  "[PCIe] table 2-40", Example: "a doorbell arrives, then a completion without RO; the completion is taken while the doorbell stands"}
	HeldUp = &rule.Rule{ID: "PCIE-ORD-04", Title: "what can go goes, and what has to pass passes",
		Meaning: "The line does not stand idle while the oldest TLP of a class has credits, a place in the replay buffer and, a request, a tag and completion space, and no older posted TLP keeps it: nothing else may block it, or deadlock threatens. A tag that is never used again shows here.",
		Source:  "[PCIe] table 2-40 (yes: must be able to pass)", Example: "reads wait for credits; a write is accepted behind them, has credits, and stays"}
	Attributes = &rule.Rule{ID: "PCIE-ORD-05", Title: "only payload may pass",
		Meaning: "RO and IDO are on reads and writes of payload, as the link is set, and RO on their completions; on nothing that tells of them. Requester ID and PASID are those of the transfer.",
		Source:  "[PCIe]; docs/pcie.md, Ordering", Example: "a completion entry is written with RO"}
)

// Rules of transfers.
var (
	Asked = &rule.Rule{ID: "PCIE-TXN-01", Title: "each TLP is the next part of what was asked for",
		Meaning: "TLPs of a unit are the parts of the DMAs, MMIO writes, messages and answers that it accepted, from the first byte to the last, each once, with their address, address type and status; the last one says that it is. A switch sends what it received.",
		Source:  "derived", Example: "a write of 512 bytes is sent as 256 at its address and 256 at its address + 260"}
	Routed = &rule.Rule{ID: "PCIE-TXN-02", Title: "a switch sends by the right port, not before its latency",
		Meaning: "Completions go by requester, messages of the host by adapter, requests by address, all else to the root port.",
		Source:  "[PCIe]; docs/pcie.md, A switch", Example: "a completion for adapter 1 leaves by the port of adapter 0"}
	Left = &rule.Rule{ID: "PCIE-TXN-03", Title: "at rest nothing is left",
		Meaning: "When the system has come to rest, what a unit accepted was sent, what was sent has arrived, and what has arrived was taken.",
		Source:  "derived", Example: "a write is accepted and never sent"}
	Answered = &rule.Rule{ID: "PCIE-TXN-04", Title: "each DMA that wants an answer gets one",
		Meaning: "An endpoint answers every read, and every write with Notify, once: with what came, or with a time-out.",
		Source:  "derived", Example: "a read's completion comes twice, and its client gets two answers"}
)

// Rules of credits.
var (
	NoCredit = &rule.Rule{ID: "PCIE-CRD-01", Title: "nothing is sent without credits",
		Meaning: "By InitFC and the UpdateFC that have arrived, the pools of the TLP's class have one header credit and one data credit for each 16 bytes of double words that it carries.",
		Source:  "[PCIe]", Example: "ph = 1: two writes are sent, and no UpdateFC has come"}
	Overflow = &rule.Rule{ID: "PCIE-CRD-02", Title: "no buffer holds more than was advertised",
		Meaning: "TLPs accepted and not yet taken hold no more header and data credits than the receiver advertised.",
		Source:  "[PCIe]", Example: "nph = 1: a second read arrives before the first was taken"}
	OverReturn = &rule.Rule{ID: "PCIE-CRD-03", Title: "no credit is returned that was not freed",
		Meaning: "The fields of an UpdateFC, modulo their width and in steps of the scale, say no more than what was advertised and what has left the buffer.",
		Source:  "[PCIe]", Example: "one write is taken, and the UpdateFC brings two headers"}
	Unreturned = &rule.Rule{ID: "PCIE-CRD-04", Title: "every credit comes back in time",
		Meaning: "What leaves the buffer is in an UpdateFC when pcie.update says, later only by what the line is busy with; at rest all is returned, but for what is less than a step of the scale and what pcie.inject.withhold keeps.",
		Source:  "[PCIe]; [cocotbext-pcie] get_update_factor", Example: "a write is taken; the UpdateFC after it brings a header and no data"}
	CreditSize = &rule.Rule{ID: "PCIE-CRD-05", Title: "a TLP takes the credits of its payload",
		Meaning: "One data credit for each 16 bytes begun of the double words that the payload touches; a TLP without data takes none.",
		Source:  "[PCIe]", Example: "a write of 17 bytes takes one data credit"}
)

// Rules of tags.
var (
	TagBusy = &rule.Rule{ID: "PCIE-TAG-01", Title: "a tag names one request",
		Meaning: "A requester takes a tag again only when the last completion of its request was taken, also after a time-out.",
		Source:  "[PCIe]", Example: "a read with tag 5 waits; another read is sent with tag 5"}
	TagRange = &rule.Rule{ID: "PCIE-TAG-02", Title: "tags have their width",
		Meaning: "Tags of 5 and 8 bits begin with 0, those of 10 bits with 256, those of 14 with 1024, and no more requests wait than pcie.tags.",
		Source:  "[R-Tile]; 14 bits: recalled", Example: "tag_bits = 10: a read with tag 255"}
	TagRest = &rule.Rule{ID: "PCIE-TAG-03", Title: "at rest no request waits",
		Meaning: "Every request has had its last completion when the system has come to rest, unless the host has disabled its adapter.",
		Source:  "derived", Example: "a read is sent and memory never answers"}
	Reserve = &rule.Rule{ID: "PCIE-TAG-04", Title: "data that are asked for have a place",
		Meaning: "An endpoint has infinite completion credits, so that what its requests that have not timed out still wait for fits into pcie.completion_buffer.",
		Source:  "[R-Tile]", Example: "completion_buffer = 512B: two reads of 512 bytes wait"}
)
