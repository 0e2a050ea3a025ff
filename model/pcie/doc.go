// Package pcie holds the rules of PCI Express that need no clock: what a TLP
// weighs, how long a byte takes, when an acknowledgement is due, what credits
// allow, who may overtake whom, how transfers are cut, and what the two ends of
// the data link layer conclude from what reaches them.
//
//	 transfer ─▶ RequestPiece ─▶ Shape, TLPBytes ─▶ MayPass, Account ─▶ Sender
//	                                                                       │
//	   ByteTime, SKP: how long the line takes                         ═════▼═════
//	                                                                       │
//	 completions ◀─ CompletionPiece ◀─ unit ◀─ Allocation ◀──────────── Receiver
//	                                             UpdateFC               Ack, Nak
//
//	rates.go      times of bytes and symbols, flits, SKP
//	size.go       bytes of TLPs and DLLPs
//	timers.go     limits of Ack, UpdateFC and replay
//	credits.go    pools, modular accounts of both ends, scales, least and most
//	order.go      the ordering table
//	split.go      requests and completions of a transfer
//	tags.go       tags by width
//	dll.go        sequence numbers, acknowledgement, replay
//	bandwidth.go  closed forms, and what keeps a link full
//
// All is plain values and pure functions; nothing that a TLP needs allocates.
// Times are picoseconds or symbol times as the names say. A generation outside
// 1 … 6, no lanes, or a size that [PCIe] does not know is the caller's mistake.
//
// # Not modelled
//
// Headers as bits; link training, equalization and power states; InitFC; types of
// DLLP other than Ack, Nak and UpdateFC, and their bytes; sequence numbers of
// flits, 10 bits and of their own replay rules: Sender and Receiver stand for
// them; shared credits of flit mode; more than one traffic class; nullified TLPs;
// I/O and configuration requests; bridges to PCI; IDE.
package pcie
