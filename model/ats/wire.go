package ats

import (
	"encoding/binary"
	"fmt"

	"rnicmmu/model"
)

// Format and type, the first byte of a TLP or prefix, as [riscv-iommu] names
// routes and codes of messages; the PASID prefix is recalled.
const (
	formatRead    = 0x20 // memory read, 64-bit address
	formatByID    = 0x32 // message routed by ID, no data
	formatDataID  = 0x72 // message routed by ID, with data
	formatToRoot  = 0x30 // message to the root complex, no data
	formatPASID   = 0x91 // end-to-end prefix with a PASID in its low 20 bits
	formatMessage = 0x30 // the bits that tell messages apart from other TLPs
)

// Message codes ([riscv-iommu] iommu_ats.h).
const (
	codeInvalidate   = 0x01
	codeInvalidated  = 0x02
	codePageRequest  = 0x04
	codePageResponse = 0x05
)

// Sizes of the parts of a TLP in bytes, and what an adapter may name.
const (
	prefixBytes = 4
	headerBytes = 16
	maxPASID    = 1<<20 - 1
)

// Fields of words; positions as seen in [riscv-iommu] iommu_ats.c (page request,
// completion) and [whisper] Ats.hpp (invalidate request, response). AT, NW and
// the byte enables of the translation request are recalled.
const (
	addressTranslate = 1 << 10 // AT = 01, DW 0
	byteEnables      = 0xFF    // DW 1
	noWrite          = 1 << 0  // NW, address word
	invalidateGlobal = 1 << 0
	pageRead         = 1 << 0
	pageWrite        = 1 << 1
	pageLast         = 1 << 2
	groupShift       = 3
	codeShift        = 12
)

// IDs are the requester ID of a TLP's sender and, of what is routed by ID, that
// of its receiver (else 0).
type IDs struct{ From, To uint16 }

// TranslationRequest asks for translations from the page of VA on.
type TranslationRequest struct {
	Tag     uint8
	Count   uint16 // translations asked for, 1 … 512
	NoWrite bool   // the right to write is not wanted
	PASID   uint32 // 0: none
	VA      model.VA
}

// tlp is a TLP without framing and LCRC.
type tlp struct {
	pasid uint32    // 0: no prefix
	words [2]uint64 // header: DW 0 and 1, DW 2 and 3
	data  uint64
	with  bool // data is there
}

// message is the first half of a message's header.
func message(format uint8, from uint16, tag, code uint8) uint64 {
	w := uint64(format)<<56 | uint64(from)<<16 | uint64(tag)<<8 | uint64(code)
	if format == formatDataID {
		w |= EntryBytes / 4 << 32
	}
	return w
}

func (p *tlp) append(b []byte) []byte {
	if p.pasid != 0 {
		b = binary.BigEndian.AppendUint32(b, formatPASID<<24|p.pasid&maxPASID)
	}
	b = binary.BigEndian.AppendUint64(b, p.words[0])
	b = binary.BigEndian.AppendUint64(b, p.words[1])
	if p.with {
		b = binary.BigEndian.AppendUint64(b, p.data)
	}
	return b
}

// parse reads a TLP that must have the given format and, of messages, code.
func parse(b []byte, name string, format, code uint8) (p tlp, ids IDs, err error) {
	size := len(b)
	if size >= prefixBytes && b[0] == formatPASID {
		p.pasid = binary.BigEndian.Uint32(b) & maxPASID
		b = b[prefixBytes:]
	}
	p.with = format == formatDataID
	due := headerBytes
	if p.with {
		due += EntryBytes
	}
	if len(b) != due {
		return p, ids, fmt.Errorf("%s of %d B: %d are due, or %d with a PASID prefix", name, size, due, due+prefixBytes)
	}
	p.words = [2]uint64{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
	if p.with {
		p.data = binary.BigEndian.Uint64(b[headerBytes:])
	}
	if b[0] != format || format&formatMessage == formatMessage && b[7] != code {
		return p, ids, fmt.Errorf("%s: type %#02x, code %#02x: %#02x, %#02x is due", name, b[0], b[7], format, code)
	}
	ids.From = uint16(p.words[0] >> 16)
	if format == formatByID || format == formatDataID {
		ids.To = uint16(p.words[1] >> 48)
	}
	return p, ids, nil
}

// Append writes the request's TLP to b.
func (r *TranslationRequest) Append(b []byte, from uint16) []byte {
	p := tlp{pasid: r.PASID}
	length := uint64(r.Count) * EntryBytes / 4 & 0x3FF // 1024 DW are written 0
	p.words[0] = formatRead<<56 | (length|addressTranslate)<<32 | uint64(from)<<16 | uint64(r.Tag)<<8 | byteEnables
	p.words[1] = uint64(r.VA)&^pageBits | when(r.NoWrite, noWrite)
	return p.append(b)
}

// DecodeTranslationRequest reads a translation request.
func DecodeTranslationRequest(b []byte) (TranslationRequest, IDs, error) {
	const name = "translation request"
	p, ids, err := parse(b, name, formatRead, 0)
	if err != nil {
		return TranslationRequest{}, ids, err
	}
	dw0 := p.words[0] >> 32
	if at := dw0 >> 10 & 3; at != 1 || dw0&1 != 0 {
		return TranslationRequest{}, ids, fmt.Errorf("%s: address type %d, %d DW: 1 and two for each translation are due", name, at, dw0&0x3FF)
	}
	count := uint16(dw0 & 0x3FF / 2)
	if count == 0 {
		count = 512
	}
	return TranslationRequest{Tag: uint8(p.words[0] >> 8), Count: count, NoWrite: p.words[1]&noWrite != 0,
		PASID: p.pasid, VA: model.VA(p.words[1] &^ pageBits)}, ids, nil
}

// Body is the request's 8 bytes of data: address, size and G.
func (r *InvalidateRequest) Body() uint64 {
	return withSize(uint64(r.Range.VA), r.Range.Shift) | when(r.Global, invalidateGlobal)
}

// Append writes the request's TLP, a message with data, to b.
func (r *InvalidateRequest) Append(b []byte, ids IDs) []byte {
	p := tlp{pasid: r.PASID, data: r.Body(), with: true}
	p.words = [2]uint64{message(formatDataID, ids.From, r.ITag%MaxTags, codeInvalidate), uint64(ids.To) << 48}
	return p.append(b)
}

// DecodeInvalidateRequest reads an Invalidate Request.
func DecodeInvalidateRequest(b []byte) (InvalidateRequest, IDs, error) {
	p, ids, err := parse(b, "invalidate request", formatDataID, codeInvalidate)
	if err != nil {
		return InvalidateRequest{}, ids, err
	}
	base, shift := splitSize(p.data)
	return InvalidateRequest{ITag: uint8(p.words[0]>>8) % MaxTags, PASID: p.pasid,
		Range: Range{VA: model.VA(base), Shift: shift}, Global: p.data&invalidateGlobal != 0}, ids, nil
}

// Append writes the completion's TLP to b. A Count of 8 is written 0.
func (c *InvalidateCompletion) Append(b []byte, ids IDs) []byte {
	var p tlp
	p.words[0] = message(formatByID, ids.From, 0, codeInvalidated)
	p.words[1] = uint64(ids.To)<<48 | uint64(c.Count%mostCompletions)<<32 | uint64(c.ITags)
	return p.append(b)
}

// DecodeInvalidateCompletion reads an Invalidate Completion.
func DecodeInvalidateCompletion(b []byte) (InvalidateCompletion, IDs, error) {
	p, ids, err := parse(b, "invalidate completion", formatByID, codeInvalidated)
	if err != nil {
		return InvalidateCompletion{}, ids, err
	}
	return InvalidateCompletion{ITags: uint32(p.words[1]), Count: count(uint8(p.words[1]>>32) % mostCompletions)}, ids, nil
}

// Append writes the request's TLP to b.
func (r *PageRequest) Append(b []byte, from uint16) []byte {
	p := tlp{pasid: r.PASID}
	p.words[0] = message(formatToRoot, from, 0, codePageRequest)
	p.words[1] = uint64(r.VA)&^pageBits | uint64(r.Group%MaxGroups)<<groupShift |
		when(r.Read, pageRead) | when(r.Write, pageWrite) | when(r.Last, pageLast)
	return p.append(b)
}

// DecodePageRequest reads a page request.
func DecodePageRequest(b []byte) (PageRequest, IDs, error) {
	p, ids, err := parse(b, "page request", formatToRoot, codePageRequest)
	if err != nil {
		return PageRequest{}, ids, err
	}
	w := p.words[1]
	return PageRequest{Group: uint16(w>>groupShift) % MaxGroups, Last: w&pageLast != 0, Read: w&pageRead != 0,
		Write: w&pageWrite != 0, PASID: p.pasid, VA: model.VA(w &^ pageBits)}, ids, nil
}

// Append writes the response's TLP to b.
func (r *PageResponse) Append(b []byte, ids IDs) []byte {
	p := tlp{pasid: r.PASID}
	p.words[0] = message(formatByID, ids.From, 0, codePageResponse)
	p.words[1] = uint64(ids.To)<<48 | uint64(r.Code&0xF)<<(codeShift+32) | uint64(r.Group%MaxGroups)<<32
	return p.append(b)
}

// DecodePageResponse reads a PRG response.
func DecodePageResponse(b []byte) (PageResponse, IDs, error) {
	p, ids, err := parse(b, "page request group response", formatByID, codePageResponse)
	if err != nil {
		return PageResponse{}, ids, err
	}
	w := p.words[1] >> 32
	return PageResponse{Group: uint16(w) % MaxGroups, PASID: p.pasid, Code: ResponseCode(w >> codeShift & 0xF)}, ids, nil
}
