package workload

import (
	"encoding/binary"

	"rnicmmu/model"
)

// verdict is what became of a captured frame.
type verdict uint8

const (
	good      verdict = iota
	foreign           // another protocol
	cut               // the capture ends before the headers do
	malformed         // headers contradict each other
)

// endpoint is the address of a host: an IPv6 address or GID (IPv4 as
// ::ffff:a.b.c.d, so that RoCEv1 and RoCEv2 of one port are one host), or an
// InfiniBand LID.
type endpoint struct {
	address [16]byte
	isLID   bool
}

// Packet is one decoded RDMA packet of a capture.
type Packet struct {
	Frame   uint64 // in the file, from 1
	TimePS  int64  // since the first frame; NoTime when the file has no times
	DestQP  uint32
	PSN     uint32
	VA      model.VA // with HasRETH or HasAtomicETH
	Key     uint32   // remote key, likewise
	Len     uint32   // DMA length, likewise; 8 for atomics
	Payload uint32   // bytes on the wire, padding and CRCs apart
	Opcode  uint8

	HasRETH, HasAtomicETH, HasAETH bool
	Syndrome                       uint8 // of the AETH

	link     string
	src, dst endpoint
	why      string // of a verdict that is not good
}

// Name is the opcode's name, with its transport: RC_RDMA_WRITE_ONLY.
func (p *Packet) Name() string { return opcodes[p.Opcode].name }

func (p *Packet) fail(v verdict, why string) verdict {
	p.why = why
	return v
}

// short is the verdict on a header that does not fit in what was captured of
// a frame: cut when the wire had more, or else not a packet of that protocol.
func (p *Packet) short(captured, wire int, v verdict, why string) verdict {
	if captured < wire {
		return p.fail(cut, why)
	}
	return p.fail(v, why)
}

// bth decodes from the base transport header on. The packet's transport part
// has size bytes on the wire, its invariant CRC included, of which data are
// captured at most.
func (p *Packet) bth(data []byte, size int) verdict {
	const bthSize, icrcSize = 12, 4
	data = data[:min(len(data), size)]
	if len(data) < bthSize {
		return p.short(len(data), size, malformed, "BTH incomplete")
	}
	o := &opcodes[data[0]]
	if o.name == "" {
		return p.fail(malformed, "reserved opcode")
	}
	if data[1]&0x0f != 0 {
		return p.fail(malformed, "BTH version is not 0")
	}
	p.Opcode = data[0]
	pad := int(data[1] >> 4 & 3)
	p.DestQP = binary.BigEndian.Uint32(data[4:]) & 0xffffff
	p.PSN = binary.BigEndian.Uint32(data[8:]) & 0xffffff
	off, v := p.extensions(o, data, bthSize, size)
	if v != good {
		return v
	}
	if o.transport == transportCNP {
		return good
	}
	payload := size - off - icrcSize - pad
	if payload < 0 {
		return p.fail(malformed, "shorter than its headers")
	}
	p.Payload = uint32(payload)
	if o.transport == transportDC && !p.plausible(o) {
		return p.fail(malformed, "manufacturer's opcode with lengths that do not agree")
	}
	return good
}

// extensions decodes the extended transport headers and gives their end.
func (p *Packet) extensions(o *opcode, data []byte, off, size int) (int, verdict) {
	for _, h := range headerSizes {
		if o.headers&h.bit == 0 {
			continue
		}
		if off+h.size > len(data) {
			return off, p.short(len(data), size, malformed, h.name+" incomplete")
		}
		p.extension(h.bit, data[off:])
		off += h.size
	}
	return off, good
}

func (p *Packet) extension(h header, data []byte) {
	switch h {
	case hasRETH, hasAtomicETH:
		p.VA = model.VA(binary.BigEndian.Uint64(data))
		p.Key = binary.BigEndian.Uint32(data[8:])
		p.HasRETH, p.HasAtomicETH = h == hasRETH, h == hasAtomicETH
		p.Len = 8
		if p.HasRETH {
			p.Len = binary.BigEndian.Uint32(data[12:])
		}
	case hasAETH:
		p.HasAETH, p.Syndrome = true, data[0]
	}
}

// plausible holds for a packet whose payload agrees with its opcode and RETH.
// The encoding of dynamically connected transports is not published, so a
// packet of the manufacturers' range counts only when it reads as RC would.
func (p *Packet) plausible(o *opcode) bool {
	switch {
	case p.HasRETH && o.op == model.OpRead:
		return p.Payload == 0
	case p.HasRETH && o.role == roleOnly:
		return p.Payload == p.Len
	case p.HasRETH:
		return p.Payload > 0 && p.Payload < p.Len
	case p.HasAtomicETH || p.HasAETH && o.name[len("DC_"):] == "ACKNOWLEDGE":
		return p.Payload == 0
	default:
		return true
	}
}
