package transport

import "rnicmmu/verify/rule"

// The rules that this package watches for.
var (
	Numbered = &rule.Rule{ID: "RC-PSN-01", Title: "sequence numbers without gap",
		Meaning: "A request packet carries the first number that was never sent, or one that was sent and is not acknowledged; numbers live on a circle of 2^24.",
		Source:  "RC-8; [IBA]", Example: "packet(PSN 0); packet(PSN 2)"}
	Moderate = &rule.Rule{ID: "RC-ACK-01", Title: "only what was sent is acknowledged",
		Meaning: "A response names a request packet that has come to the responder, and acknowledgements of SENDs and WRITEs do not go back.",
		Source:  "RC-1; [IBA]", Example: "packet(PSN 0) arrives; ACK(PSN 1)"}
	Quiet = &rule.Rule{ID: "RC-RNR-01", Title: "nothing leaves during an RNR delay",
		Meaning: "From an RNR NAK for an outstanding packet until the delay of its timer code is over, neither that packet nor a later one leaves. Code 0 is the longest, 655.36 ms.",
		Source:  "RC-2; [Linux] rxe_comp.c", Example: "RNR NAK(PSN 0, code 1); 5 µs later packet(PSN 0)"}
	OneNAK = &rule.Rule{ID: "RC-NAK-01", Title: "one sequence NAK for a gap",
		Meaning: "A responder names the same missing packet again only when that packet has left again since.",
		Source:  "RC-5; [Linux] rxe_resp.c", Example: "packet(PSN 1); NAK(PSN 0); packet(PSN 2); NAK(PSN 0)"}
	Bounded = &rule.Rule{ID: "RC-RTY-01", Title: "budgets of retries are kept",
		Meaning: "Without progress a queue pair sends again for at most qp.rnr_retry RNR NAKs and goes back at most qp.retry times for other reasons; 7 is any number.",
		Source:  "RC-3; [Linux] rxe_comp.c", Example: "rnr_retry 0: RNR NAK(PSN 0); packet(PSN 0)"}
	Waited = &rule.Rule{ID: "RC-FNC-01", Title: "a fence waits for READs and atomics",
		Meaning: "The first packet of a request with a fence leaves when all earlier READs and atomics of its queue pair are answered in full.",
		Source:  "RC-7", Example: "READ; WRITE(fence); packet of the READ; packet of the WRITE"}
	Ordered = &rule.Rule{ID: "RC-ORD-01", Title: "requests leave in order",
		Meaning: "The first packets of a queue pair's requests leave in the order in which they were posted.",
		Source:  "RC-1; [IBA]", Example: "post 1, post 2; first packet of 2"}
	Completed = &rule.Rule{ID: "RC-CQE-01", Title: "one completion a request, in order",
		Meaning: "Every request that was posted has one completion, in the order of posting.",
		Source:  "RC-1, RC-4; [IBA]", Example: "post 1, post 2; completion of 2"}
	Acknowledged = &rule.Rule{ID: "RC-DONE-01", Title: "success comes behind the acknowledgement",
		Meaning: "A request completes well only when its last packet is acknowledged, a READ or an atomic when it is answered in full.",
		Source:  "RC-1; [IBA]", Example: "post 1; packet(PSN 0); completion of 1"}
	Flushed = &rule.Rule{ID: "RC-ERR-01", Title: "an error ends its queue pair",
		Meaning: "Behind a request that failed all complete as flushed, and behind a NAK that is final no packet leaves.",
		Source:  "KEY-6; [Linux] rxe_comp.c", Example: "NAK remote access error(PSN 0); packet(PSN 1)"}
	Single = &rule.Rule{ID: "RC-ATM-01", Title: "an atomic stores once",
		Meaning: "The data of an atomic are stored once, however often it is asked for.",
		Source:  "KEY-5; [Linux] rxe_resp.c", Example: "FETCH_ADD; DMA write; FETCH_ADD again; DMA write"}
	Contiguous = &rule.Rule{ID: "IWP-SEQ-01", Title: "the stream has no gap",
		Meaning: "A segment begins behind all that was sent, or is one that was sent and is not acknowledged, cut as it was. An acknowledgement counts for a responder behind adapter.rx_pipeline.",
		Source:  "[RFC6298]", Example: "segment(0, 100 B); segment(200, 100 B)"}
	Received = &rule.Rule{ID: "IWP-ACK-01", Title: "only what has come is acknowledged",
		Meaning: "An acknowledgement names no byte behind those that have come without gap, and does not go back.",
		Source:  "[RFC5681]", Example: "segment(100, 100 B) arrives; ACK(200)"}
	Windowed = &rule.Rule{ID: "IWP-WND-01", Title: "the window is respected",
		Meaning: "No byte is sent first beyond the window that the other end last offered.",
		Source:  "[RFC5681]", Example: "ACK(0, window 1000); segment(0, 1500 B)"}
	Returned = &rule.Rule{ID: "IWP-RTX-01", Title: "what was dropped is sent again",
		Meaning: "When nothing moves any more, all bytes of a connection that was not given up are acknowledged.",
		Source:  "[RFC6298]", Example: "segment(0, 100 B); end"}
	Sequenced = &rule.Rule{ID: "IWP-MSN-01", Title: "messages come in order",
		Meaning: "Responses of a connection begin in the order in which their requests were sent first.",
		Source:  "[RFC5040]", Example: "READ 1, READ 2; first segment of response 2"}
)

// Rules are those of this package.
func Rules() []*rule.Rule {
	return []*rule.Rule{Numbered, Moderate, Quiet, OneNAK, Bounded, Waited, Ordered, Completed, Acknowledged, Flushed, Single,
		Contiguous, Received, Windowed, Returned, Sequenced}
}
