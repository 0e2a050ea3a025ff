package pcie

import "rnicmmu/model"

// Bytes of a TLP's parts ([pcie-model], [cocotbext-pcie] get_wire_size).
const (
	Header3DW   = 12 // requests below 4 GiB, completions
	Header4DW   = 16 // requests above, messages
	PrefixBytes = 4  // a prefix, the PASID's too; in flit mode a word of OHC
	DigestBytes = 4  // ECRC

	// framingBytes is outside flit mode 4 of framing and sequence number and 4
	// of LCRC.
	framingBytes = 8
)

// DLLPBytes is the size of a packet of the data link layer outside flit mode: 6
// bytes with CRC and 2 of framing. In flit mode they are part of every flit and
// take nothing from TLPs.
const DLLPBytes = 8

const dword = 4

// Shape is what decides the size of a TLP.
type Shape struct {
	Header   uint8  // Header3DW or Header4DW
	Prefixes uint8  // how many
	Digest   bool   // ECRC at the end
	Payload  uint32 // bytes, 0 to 4096; see Carried
}

// TLPBytes is what a TLP takes on the wire, in bytes; in flit mode of the flits'
// TLP bytes. Payload is rounded up to whole double words. That the headers of
// flit mode are 12 and 16 bytes too was not verified.
func TLPBytes(gen int, s Shape) int64 {
	n := int64(s.Header) + PrefixBytes*int64(s.Prefixes) + int64(Carried(0, s.Payload))
	if s.Digest {
		n += DigestBytes
	}
	return n + FramingBytes(gen)
}

// FramingBytes is what of a TLP's bytes is its link's: nothing in flit mode.
func FramingBytes(gen int) int64 {
	if Flits(gen) {
		return 0
	}
	return framingBytes
}

// Carried is how many bytes travel for n bytes at addr: the double words that
// they touch, for the length of a TLP counts double words and byte enables say
// which bytes count. None for n = 0.
func Carried(addr model.PA, n uint32) uint32 {
	if n == 0 {
		return 0
	}
	return (uint32(addr%dword) + n + dword - 1) / dword * dword
}

// RequestHeader is the header of a memory request at addr, in bytes: addresses
// below 4 GiB have the short form.
func RequestHeader(addr model.PA) uint8 {
	if addr < 1<<32 {
		return Header3DW
	}
	return Header4DW
}
