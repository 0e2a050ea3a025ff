package ats

import (
	"encoding/binary"
	"fmt"
)

// Format and type, the first byte of a TLP or prefix, as [cocotbext-pcie] numbers
// them; the PASID prefix by way of study notes of [PCIe].
const (
	formatRead32         = 0x00 // memory read, 32-bit address
	formatRead           = 0x20 // memory read, 64-bit address
	formatCompletion     = 0x0A // completion, no data
	formatCompletionData = 0x4A // completion with data
	formatByID           = 0x32 // message routed by ID, no data
	formatDataID         = 0x72 // message routed by ID, with data
	formatToRoot         = 0x30 // message to the root complex, no data
	formatPASID          = 0x91 // end-to-end prefix with a PASID

	formatLong = 0x20 // bit: the header has four DW
	formatData = 0x40 // bit: data follows
)

// Message codes ([riscv-iommu] iommu_ats.h).
const (
	codeInvalidate   = 0x01
	codeInvalidated  = 0x02
	codePageRequest  = 0x04
	codePageResponse = 0x05
)

// Bits of the first DW ([cocotbext-pcie]; those of tags beyond 8 bits are
// recalled) and of a PASID prefix ([Simics]).
const (
	lengthMask = 0x3FF
	typeShift  = 10 // of AT
	poisoned   = 1 << 14
	digest     = 1 << 15
	tag8       = 1 << 19
	tag9       = 1 << 23

	maxPASID         = 1<<20 - 1
	prefixExecute    = 1 << 20 // ER
	prefixPrivileged = 1 << 21 // PMR
)

// IDs are the requester ID of a TLP's sender and, of what is routed by ID, that
// of its receiver (else 0).
type IDs struct{ From, To uint16 }

// rights are what a PASID prefix says beside the PASID, of the requests where that
// has a meaning.
type rights struct{ execute, privileged bool }

// tlp is a TLP without framing, digest and LCRC.
type tlp struct {
	pasid  uint32 // 0, and no rights: no prefix
	rights rights
	header [4]uint32 // three DW or four, as the format says
	data   []uint64
}

func (p *tlp) format() uint8 { return uint8(p.header[0] >> 24) }

// headerBytes is the size of a header of a format.
func headerBytes(format uint8) int {
	if format&formatLong != 0 {
		return 16
	}
	return 12
}

// first is the first DW of a TLP with so many entries of 8 bytes.
func first(format uint8, entries int) uint32 {
	return uint32(format)<<24 | uint32(entries*EntryBytes/4)&lengthMask
}

func (p *tlp) append(b []byte) []byte {
	if p.pasid != 0 || p.rights != (rights{}) {
		b = binary.BigEndian.AppendUint32(b, formatPASID<<24|p.pasid&maxPASID|
			uint32(when(p.rights.execute, prefixExecute)|when(p.rights.privileged, prefixPrivileged)))
	}
	for _, w := range p.header[:headerBytes(p.format())/4] {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	for _, d := range p.data {
		b = binary.BigEndian.AppendUint64(b, d)
	}
	return b
}

// parse reads a TLP; what it is called goes into errors. A digest is left out.
func parse(b []byte, name string) (p tlp, err error) {
	size := len(b)
	if size >= 4 && b[0] == formatPASID {
		prefix := binary.BigEndian.Uint32(b)
		p.pasid = prefix & maxPASID
		p.rights = rights{execute: prefix&prefixExecute != 0, privileged: prefix&prefixPrivileged != 0}
		b = b[4:]
	}
	if len(b) > 0 && b[0]>>5 == formatPASID>>5 {
		return p, fmt.Errorf("%s: prefix of type %#02x: only one, of type %#02x (PASID), is read", name, b[0], formatPASID)
	}
	if len(b) < 12 {
		return p, fmt.Errorf("%s of %d B: a header of 12 or 16 B is due, behind a PASID prefix of 4 B if there is one", name, size)
	}
	dw0 := binary.BigEndian.Uint32(b)
	head, data := headerBytes(b[0]), 0
	if b[0]&formatData != 0 {
		data = int((dw0-1)&lengthMask+1) * 4 // 0 stands for 1024 DW
	}
	due := size - len(b) + head + data + int(when(dw0&digest != 0, 4))
	if size != due {
		return p, fmt.Errorf("%s of %d B: its header says %d", name, size, due)
	}
	if data%EntryBytes != 0 {
		return p, fmt.Errorf("%s of %d DW of data: two each are due", name, data/4)
	}
	for i := range head / 4 {
		p.header[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	for at := head; at < head+data; at += EntryBytes {
		p.data = append(p.data, binary.BigEndian.Uint64(b[at:]))
	}
	return p, nil
}

// message makes the first half of a message's header.
func (p *tlp) message(format uint8, from uint16, tag, code uint8) {
	p.header[0] = first(format, len(p.data))
	p.header[1] = uint32(from)<<16 | uint32(tag)<<8 | uint32(code)
}

// parseMessage reads a message that must have the given format and code.
func parseMessage(b []byte, name string, format, code uint8) (p tlp, ids IDs, err error) {
	if p, err = parse(b, name); err != nil {
		return p, ids, err
	}
	if got := uint8(p.header[1]); p.format() != format || got != code {
		return p, ids, fmt.Errorf("%s: type %#02x, code %#02x: %#02x, %#02x is due", name, p.format(), got, format, code)
	}
	if p.header[0]&poisoned != 0 {
		return p, ids, fmt.Errorf("%s: poisoned (EP): its data are not to be used", name)
	}
	ids.From = uint16(p.header[1] >> 16)
	if format != formatToRoot {
		ids.To = uint16(p.header[2] >> 16)
	}
	return p, ids, nil
}

// low is the second half of a message's header.
func (p *tlp) low() uint64 { return uint64(p.header[2])<<32 | uint64(p.header[3]) }

func (p *tlp) setLow(w uint64) { p.header[2], p.header[3] = uint32(w>>32), uint32(w) }

// DecodeTLP reads any TLP of ATS or PRI: m is a TranslationRequest,
// TranslationCompletion, InvalidateRequest, InvalidateCompletion, PageRequest or
// PageResponse.
func DecodeTLP(b []byte) (m any, ids IDs, err error) {
	p, err := parse(b, "TLP")
	if err != nil {
		return nil, ids, err
	}
	code := uint8(p.header[1]) // of a message
	switch f := p.format(); {
	case f == formatRead || f == formatRead32:
		return DecodeTranslationRequest(b)
	case f == formatCompletion || f == formatCompletionData:
		return DecodeTranslationCompletion(b)
	case f == formatDataID && code == codeInvalidate:
		return DecodeInvalidateRequest(b)
	case f == formatByID && code == codeInvalidated:
		return DecodeInvalidateCompletion(b)
	case f == formatToRoot && code == codePageRequest:
		return DecodePageRequest(b)
	case f == formatByID && code == codePageResponse:
		return DecodePageResponse(b)
	}
	return nil, ids, fmt.Errorf("TLP of type %#02x, byte 7 %#02x: of ATS and PRI are memory reads (0x00, 0x20), completions (0x0a, 0x4a), "+
		"and messages 0x72 code 1, 0x32 codes 2 and 5, 0x30 code 4", p.format(), code)
}
