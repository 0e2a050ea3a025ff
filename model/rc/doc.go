// Package rc holds the rules of the InfiniBand reliable connection: packet
// sequence numbers, opcodes, segmentation, acknowledgement codes and timers,
// and what responder and requester do about each packet and event.
//
//	requester                                        responder
//	Issue ──────────── request packets ───────────▶  Admit      QP, PSN, opcode, rights, resources, length
//	                                                  Authorize  key verdict, WRITE length
//	                                                  Translate  page present?
//	                                                  Execute    buffer, alignment; ACK
//	Acknowledge ◀───── ACK, NAK, RNR NAK ──────────  Action
//	Respond     ◀───── READ and atomic responses ──
//	Timeout, RNRTimer ◀─ timers of the caller
//
// The order of the responder's steps is law: the first failing check decides,
// so no packet that a key refuses reaches translation ([Linux] rxe_resp.c states
// the IBA order). A responder moves only in Execute. A caller with several
// packets of a QP in its pipeline executes each as soon as it is admitted,
// keeps the Cursor from before it, and puts the Cursor back when the packet
// turns out to need an RNR NAK; what was admitted behind it is then dropped.
//
// Both ends are plain state without clock: delays are results, in picoseconds.
//
// # Not modelled
//
// End-to-end credits (the ACK code is encoded, never acted upon), migration,
// SRQ, and class-A errors of the local side. Keys and windows are package key's.
package rc
