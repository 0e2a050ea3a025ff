// Package ats holds the untimed rules of PCI Express address translation
// services (ATS) and of its page request interface (PRI): what the messages
// contain, how ranges and sizes are encoded, and which tags, groups and credits
// are in use.
//
//	adapter                                     host
//	TranslationRequest ───────────────────────▶ IOMMU
//	       ◀─────────── TranslationCompletion   Complete; its entries: Encode, Decode
//	       ◀─────────────── InvalidateRequest   Cover, Tags
//	InvalidateCompletion ─────────────────────▶ Tags
//	PageRequest ──────────────────────────────▶ IOMMU ─▶ kernel
//	Groups                                      Collector
//	       ◀──────────────────── PageResponse
//
// Every message has a form of bytes: Append writes the TLP's prefix, header and
// data as they stand on the link, without framing, digest and LCRC, and the Decode
// functions read them; DecodeTLP finds out which message it is. Reserved bits,
// traffic class and attributes are written 0 and not looked at.
//
// # Not modelled
//
// What execute and privileged rights, no-snoop and CXL.io mean: the bytes have
// them, and nobody asks for them. Attributes of an entry (AMA), segments, flit
// mode's headers, more than one prefix, tags of 14 bits, and page requests that
// are turned on again after a ResponseFailure.
package ats
