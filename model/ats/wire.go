package ats

import (
	"fmt"

	"rnicmmu/model"
)

// Fields of words: of the address word of page and invalidate requests, and of a
// response and a completion, as seen in [riscv-iommu] iommu_ats.c, [whisper]
// Ats.hpp and [Simics]. NW of the translation request is recalled.
const (
	noWrite          = 1 << 0 // NW, address word
	byteEnables      = 0xFF   // all bytes of the first and the last DW
	invalidateGlobal = 1 << 0
	pageRead         = 1 << 0
	pageWrite        = 1 << 1
	pageLast         = 1 << 2
	groupShift       = 3
	codeShift        = 12
)

// TranslationRequest asks for translations from the page of VA on. A host takes
// no more than fit into its read completion boundary, 8 or 16.
type TranslationRequest struct {
	Tag        uint16 // 10 bits
	Count      uint16 // translations asked for, 1 … 512
	NoWrite    bool   // the right to write is not wanted
	PASID      uint32 // 0: none
	Execute    bool   // the right to execute is wanted; with a PASID
	Privileged bool   // asked for in privileged mode; with a PASID
	VA         model.VA
}

// Append writes the request's TLP to b, with the short header where the address
// is below 4 GiB.
func (r *TranslationRequest) Append(b []byte, from uint16) []byte {
	p := tlp{pasid: r.PASID, rights: rights{r.Execute, r.Privileged}}
	va := uint64(r.VA)&^pageBits | when(r.NoWrite, noWrite)
	format := uint8(formatRead)
	if va>>32 == 0 {
		format = formatRead32
		va <<= 32
	}
	p.header[0] = first(format, int(r.Count)) | 1<<typeShift | tagBits(r.Tag)
	p.header[1] = uint32(from)<<16 | uint32(r.Tag&0xFF)<<8 | byteEnables
	p.setLow(va)
	return p.append(b)
}

// tagBits are the upper two bits of a tag in the first DW.
func tagBits(tag uint16) uint32 {
	return uint32(when(tag&(1<<8) != 0, tag8) | when(tag&(1<<9) != 0, tag9))
}

// tagOf is the tag of a TLP that has its lower 8 bits in the given DW.
func (p *tlp) tagOf(dw int) uint16 {
	return uint16(p.header[dw]>>8)&0xFF | uint16(when(p.header[0]&tag8 != 0, 1<<8)|when(p.header[0]&tag9 != 0, 1<<9))
}

// DecodeTranslationRequest reads a translation request.
func DecodeTranslationRequest(b []byte) (TranslationRequest, IDs, error) {
	const name = "translation request"
	p, err := parse(b, name)
	if err != nil {
		return TranslationRequest{}, IDs{}, err
	}
	if f := p.format(); f != formatRead && f != formatRead32 {
		return TranslationRequest{}, IDs{}, fmt.Errorf("%s: type %#02x: a memory read, 0x00 or 0x20, is due", name, f)
	}
	length := p.header[0] & lengthMask
	if at := p.header[0] >> typeShift & 3; at != 1 || length&1 != 0 {
		return TranslationRequest{}, IDs{}, fmt.Errorf("%s: address type %d, %d DW: 1 and two for each translation are due", name, at, length)
	}
	va := p.low()
	if p.format() == formatRead32 {
		va >>= 32
	}
	return TranslationRequest{Tag: p.tagOf(1), Count: uint16((length-1)&lengthMask+1) / 2, NoWrite: va&noWrite != 0, PASID: p.pasid,
		Execute: p.rights.execute, Privileged: p.rights.privileged, VA: model.VA(va &^ pageBits)}, IDs{From: uint16(p.header[1] >> 16)}, nil
}

// Body is the request's 8 bytes of data: address, size and G.
func (r *InvalidateRequest) Body() uint64 {
	return withSize(uint64(r.Range.VA), r.Range.Shift) | when(r.Global, invalidateGlobal)
}

// Append writes the request's TLP, a message with data, to b.
func (r *InvalidateRequest) Append(b []byte, ids IDs) []byte {
	p := tlp{pasid: r.PASID, data: []uint64{r.Body()}}
	p.message(formatDataID, ids.From, r.ITag%MaxTags, codeInvalidate)
	p.header[2] = uint32(ids.To) << 16
	return p.append(b)
}

// DecodeInvalidateRequest reads an Invalidate Request.
func DecodeInvalidateRequest(b []byte) (InvalidateRequest, IDs, error) {
	const name = "invalidate request"
	p, ids, err := parseMessage(b, name, formatDataID, codeInvalidate)
	switch {
	case err != nil:
		return InvalidateRequest{}, ids, err
	case len(p.data) != 1:
		return InvalidateRequest{}, ids, fmt.Errorf("%s of %d B of data: 8 are due", name, len(p.data)*EntryBytes)
	}
	base, shift := splitSize(p.data[0])
	return InvalidateRequest{ITag: uint8(p.header[1]>>8) % MaxTags, PASID: p.pasid,
		Range: Range{VA: model.VA(base), Shift: shift}, Global: p.data[0]&invalidateGlobal != 0}, ids, nil
}

// Append writes the completion's TLP to b. A Count of 8 is written 0.
func (c *InvalidateCompletion) Append(b []byte, ids IDs) []byte {
	var p tlp
	p.message(formatByID, ids.From, 0, codeInvalidated)
	p.setLow(uint64(ids.To)<<48 | uint64(c.Count%mostCompletions)<<32 | uint64(c.ITags))
	return p.append(b)
}

// DecodeInvalidateCompletion reads an Invalidate Completion.
func DecodeInvalidateCompletion(b []byte) (InvalidateCompletion, IDs, error) {
	p, ids, err := parseMessage(b, "invalidate completion", formatByID, codeInvalidated)
	if err != nil {
		return InvalidateCompletion{}, ids, err
	}
	return InvalidateCompletion{ITags: p.header[3], Count: count(uint8(p.header[2]) % mostCompletions)}, ids, nil
}

// Append writes the request's TLP to b.
func (r *PageRequest) Append(b []byte, from uint16) []byte {
	p := tlp{pasid: r.PASID, rights: rights{r.Execute, r.Privileged}}
	p.message(formatToRoot, from, 0, codePageRequest)
	p.setLow(uint64(r.VA)&^pageBits | uint64(r.Group%MaxGroups)<<groupShift |
		when(r.Read, pageRead) | when(r.Write, pageWrite) | when(r.Last, pageLast))
	return p.append(b)
}

// DecodePageRequest reads a page request.
func DecodePageRequest(b []byte) (PageRequest, IDs, error) {
	p, ids, err := parseMessage(b, "page request", formatToRoot, codePageRequest)
	if err != nil {
		return PageRequest{}, ids, err
	}
	w := p.low()
	return PageRequest{Group: uint16(w>>groupShift) % MaxGroups, Last: w&pageLast != 0, Read: w&pageRead != 0,
		Write: w&pageWrite != 0, PASID: p.pasid, Execute: p.rights.execute, Privileged: p.rights.privileged, VA: model.VA(w &^ pageBits)}, ids, nil
}

// Append writes the response's TLP to b.
func (r *PageResponse) Append(b []byte, ids IDs) []byte {
	p := tlp{pasid: r.PASID}
	p.message(formatByID, ids.From, 0, codePageResponse)
	p.header[2] = uint32(ids.To)<<16 | uint32(r.Code&0xF)<<codeShift | uint32(r.Group%MaxGroups)
	return p.append(b)
}

// DecodePageResponse reads a PRG response.
func DecodePageResponse(b []byte) (PageResponse, IDs, error) {
	p, ids, err := parseMessage(b, "page request group response", formatByID, codePageResponse)
	if err != nil {
		return PageResponse{}, ids, err
	}
	w := p.header[2]
	return PageResponse{Group: uint16(w) % MaxGroups, PASID: p.pasid, Code: ResponseCode(w >> codeShift & 0xF)}, ids, nil
}
