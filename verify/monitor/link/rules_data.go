package link

import "rnicmmu/verify/rule"

// Rules of completions.
var (
	NoRequest = &rule.Rule{ID: "PCIE-CPL-01", Title: "a completion has a request",
		Meaning: "What an endpoint takes as a completion names it as the requester and a tag whose request waits: none comes without a request, and none after the last.",
		Source:  "[PCIe]", Example: "the last completion of tag 2 comes, and then another one"}
	Address = &rule.Rule{ID: "PCIE-CPL-02", Title: "completions of a request come in address order",
		Meaning: "A completion begins (lower address) where the one before it ended, the first one where the request does. An IOMMU changes the page, and not the place in it.",
		Source:  "[PCIe]", Example: "a read of 128 bytes at 0x1000: the second completion begins at 0x1044"}
	Bytes = &rule.Rule{ID: "PCIE-CPL-03", Title: "completions bring the bytes that were asked for",
		Meaning: "The byte count of a completion is what is left of its request: their sum is what was asked for, and the one that brings the last byte is the last.",
		Source:  "[PCIe]", Example: "a read of 128 bytes ends with a completion after 124"}
	Boundary = &rule.Rule{ID: "PCIE-CPL-04", Title: "reads are cut at the boundary",
		Meaning: "Every completion but the last ends at a multiple of the completer's read completion boundary: pcie.rcb of a root port, 128 bytes of an endpoint.",
		Source:  "[PCIe] by way of [PG213] and [AN855]", Example: "rcb = 64: a completion that is not the last ends at 0x1050"}
	Status = &rule.Rule{ID: "PCIE-CPL-05", Title: "data and status agree",
		Meaning: "A completion with success has data; one without has none and is the last of its request.",
		Source:  "[PCIe]", Example: "a completion says unsupported request and has 64 bytes"}
	Alike = &rule.Rule{ID: "PCIE-CPL-06", Title: "a completion is like its request",
		Meaning: "It has the attribute RO of its request, and answers a request of its kind (a translation or data).",
		Source:  "[PCIe]", Example: "a read without RO gets a completion with RO"}
)

// Rules of sizes.
var (
	Payload = &rule.Rule{ID: "PCIE-SIZE-01", Title: "no more than MPS", Meaning: "The double words that a TLP carries are no more than pcie.mps.",
		Source: "[PCIe]", Example: "mps = 256B: a write of 256 bytes at 0x1002"}
	ReadRequest = &rule.Rule{ID: "PCIE-SIZE-02", Title: "no more than MRRS", Meaning: "The double words that a request asks for are no more than pcie.mrrs of its requester.",
		Source: "[PCIe]", Example: "mrrs = 512B: a read of 513 bytes"}
	Crossing = &rule.Rule{ID: "PCIE-SIZE-03", Title: "no request crosses 4 KiB", Meaning: "The bytes of a memory request lie within one block of 4096 bytes.",
		Source: "[PCIe]", Example: "a write of 64 bytes at 0x1ff0"}
	Header = &rule.Rule{ID: "PCIE-SIZE-04", Title: "a TLP takes its bytes on the wire",
		Meaning: "A header of 12 bytes, of 16 for messages and requests from 4 GiB on, a prefix of 4 for a PASID of a request, 4 of ECRC where its origin adds it, the double words of the payload, and 8 of framing and LCRC but in flit mode.",
		Source:  "[pcie-model], [cocotbext-pcie] get_wire_size", Example: "a read at 0xfffffffc takes 24 bytes"}
)

// Rules of the data link layer.
var (
	Numbers = &rule.Rule{ID: "PCIE-DLL-01", Title: "new TLPs are numbered in turn", Meaning: "Each new TLP has the number after the one before it, modulo 4096.",
		Source: "[PCIe]", Example: "TLPs 0, 1, 3"}
	ReplayBuffer = &rule.Rule{ID: "PCIE-DLL-02", Title: "what is not acknowledged fits into the replay buffer",
		Meaning: "TLPs sent and not acknowledged are no more than pcie.replay_buffer has, and less than 2048.",
		Source:  "[PCIe]", Example: "tlps = 1: two TLPs without an Ack between them"}
	ReplayOrder = &rule.Rule{ID: "PCIE-DLL-03", Title: "a replay is whole",
		Meaning: "After a Nak, or when the replay timer has ended, and not otherwise, all that is not acknowledged is sent again, from the oldest on, in order, before new TLPs.",
		Source:  "[PCIe]", Example: "TLPs 4, 5, 6 are out, a Nak names 3, and 5 is sent"}
	Once = &rule.Rule{ID: "PCIE-DLL-04", Title: "each TLP is delivered once, in order, unchanged",
		Meaning: "A receiver accepts a TLP exactly when it is undamaged and has the number that is due; what it accepts is what was sent with that number, and is taken out of the buffer once.",
		Source:  "[PCIe]", Example: "TLPs 4, 5, and 5 again: both are accepted"}
	Named = &rule.Rule{ID: "PCIE-DLL-05", Title: "an Ack names what was received",
		Meaning: "Ack and Nak name a TLP that was accepted, none before the last one that was named; at the sender, one that was sent.",
		Source:  "[PCIe]", Example: "TLPs up to 4 were accepted; an Ack names 5"}
	AckLate = &rule.Rule{ID: "PCIE-DLL-06", Title: "an Ack comes in time",
		Meaning: "What was accepted is acknowledged when pcie.ack says, and a duplicate at once; later only by what the line is busy with: one TLP twice, five packets of the data link layer, two SKP ordered sets, a retraining.",
		Source:  "[PCIe]; [cocotbext-pcie] get_update_factor", Example: "ack.delay = 85ns: a TLP is accepted; the Ack leaves 1 µs later on an idle line"}
	NakDue = &rule.Rule{ID: "PCIE-DLL-07", Title: "what is damaged or missing is asked for",
		Meaning: "A TLP that is damaged, or not the one that is due and no duplicate, has a Nak leave at once, unless one has left since the last TLP that was accepted.",
		Source:  "[PCIe]", Example: "TLP 3 is damaged, and no Nak leaves"}
	LineTime = &rule.Rule{ID: "PCIE-DLL-08", Title: "the line carries one packet at a time",
		Meaning: "A packet begins when the one before it has left and takes its bytes' time, none while the link retrains; its receiver has it pcie.link_latency after its last byte, not before.",
		Source:  "derived", Example: "two TLPs begin at the same time"}
)
