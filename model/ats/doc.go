// Package ats holds the untimed rules of PCI Express address translation
// services (ATS) and of its page request interface (PRI): what the messages
// contain, how ranges and sizes are encoded, and which tags, groups and credits
// are in use.
//
//	adapter                                     host
//	TranslationRequest ───────────────────────▶ IOMMU
//	       ◀───────────────────── Translation   Encode, Decode
//	       ◀─────────────── InvalidateRequest   Cover, Tags
//	InvalidateCompletion ─────────────────────▶ Tags
//	PageRequest ──────────────────────────────▶ IOMMU ─▶ kernel
//	Groups                                      Collector
//	       ◀──────────────────── PageResponse
//
// Every message has a form of bytes: Append writes the TLP's prefix, header and
// data as they stand on the link, without framing and LCRC, and the Decode
// functions read them. Reserved bits are written 0 and not looked at.
//
// # Not modelled
//
// Execute and privileged rights, no-snoop and CXL.io attributes, segments, tags
// of more than 8 bits in a TLP's bytes, and page requests that are turned on
// again after a ResponseFailure.
package ats
