package workload

import "encoding/binary"

// Link types of captures, from https://www.tcpdump.org/linktypes.html.
const (
	linkEthernet   = 1
	linkERF        = 197
	linkInfiniBand = 247
)

const (
	etherIPv4   = 0x0800
	etherIPv6   = 0x86dd
	etherRoCEv1 = 0x8915

	protocolUDP = 17
	portRoCEv2  = 4791 // [IBA], annex A17

	grhSize       = 40
	nextHeaderBTH = 0x1b // of a GRH before a BTH
)

// ethernet decodes a frame of wire bytes from its destination MAC on.
func (p *Packet) ethernet(data []byte, wire int) verdict {
	off := 12
	for tags := 0; ; tags++ {
		if len(data) < off+2 {
			return p.short(len(data), wire, foreign, "Ethernet header incomplete")
		}
		kind := binary.BigEndian.Uint16(data[off:])
		off += 2
		switch kind {
		case etherRoCEv1:
			p.link = "RoCEv1"
			return p.grh(data[off:], wire-off)
		case etherIPv4:
			return p.ipv4(data[off:], wire-off)
		case etherIPv6:
			return p.ipv6(data[off:], wire-off)
		case 0x8100, 0x88a8, 0x9100: // VLAN tags: 802.1Q, 802.1ad, its forerunner
			if off += 2; tags < 3 {
				continue
			}
		}
		return foreign
	}
}

// grh decodes a global route header and what follows; wire counts the bytes
// that the frame has from here on.
func (p *Packet) grh(data []byte, wire int) verdict {
	if len(data) < grhSize {
		return p.short(len(data), wire, malformed, "GRH incomplete")
	}
	size := int(binary.BigEndian.Uint16(data[4:]))
	if data[0]>>4 != 6 || data[6] != nextHeaderBTH || grhSize+size > wire {
		return p.fail(malformed, "GRH and frame do not agree")
	}
	copy(p.src.address[:], data[8:24])
	copy(p.dst.address[:], data[24:40])
	p.src.isLID, p.dst.isLID = false, false
	return p.bth(data[grhSize:], size)
}

func (p *Packet) ipv4(data []byte, wire int) verdict {
	if len(data) < 20 {
		return p.short(len(data), wire, foreign, "IPv4 header incomplete")
	}
	size, head := int(binary.BigEndian.Uint16(data[2:])), int(data[0]&0x0f)*4
	if data[0]>>4 != 4 || head < 20 || data[9] != protocolUDP {
		return foreign
	}
	if binary.BigEndian.Uint16(data[6:])&0x3fff != 0 { // RoCEv2 forbids fragments
		return foreign
	}
	p.src, p.dst = mapped(data[12:16]), mapped(data[16:20])
	return p.udp(data, head, size, wire)
}

// mapped is the IPv4 address a as ::ffff:a.
func mapped(a []byte) (e endpoint) {
	e.address[10], e.address[11] = 0xff, 0xff
	copy(e.address[12:], a)
	return e
}

func (p *Packet) ipv6(data []byte, wire int) verdict {
	if len(data) < 40 {
		return p.short(len(data), wire, foreign, "IPv6 header incomplete")
	}
	if data[0]>>4 != 6 {
		return foreign
	}
	size, next, head := 40+int(binary.BigEndian.Uint16(data[4:])), data[6], 40
	p.src, p.dst = endpoint{}, endpoint{}
	copy(p.src.address[:], data[8:24])
	copy(p.dst.address[:], data[24:40])
	for next == 0 || next == 43 || next == 60 { // hop-by-hop, routing, destination options
		if len(data) < head+2 {
			return p.short(len(data), wire, foreign, "IPv6 header incomplete")
		}
		next, head = data[head], head+8+int(data[head+1])*8
	}
	if next != protocolUDP {
		return foreign
	}
	return p.udp(data, head, size, wire)
}

// udp decodes the datagram at head of an IP packet of size bytes.
func (p *Packet) udp(data []byte, head, size, wire int) verdict {
	if len(data) < head+8 {
		return p.short(len(data), wire, foreign, "UDP header incomplete")
	}
	if binary.BigEndian.Uint16(data[head+2:]) != portRoCEv2 {
		return foreign
	}
	p.link = "RoCEv2"
	length := int(binary.BigEndian.Uint16(data[head+4:]))
	if size > wire || length < 8 || head+length > size {
		return p.fail(malformed, "UDP and IP lengths do not agree with the frame")
	}
	return p.bth(data[head+8:], length-8)
}

// lrh decodes an InfiniBand link packet: its length counts 4-byte words from
// the LRH to the invariant CRC.
func (p *Packet) lrh(data []byte, wire int) verdict {
	const lrhSize = 8
	if len(data) < lrhSize {
		return p.short(len(data), wire, malformed, "LRH incomplete")
	}
	next := data[1] & 3
	if next < 2 { // raw packets: no transport
		return foreign
	}
	p.link = "IB"
	size := int(binary.BigEndian.Uint16(data[4:])&0x7ff) * 4
	if size < lrhSize || size > wire {
		return p.fail(malformed, "LRH and frame do not agree")
	}
	if next == 3 {
		return p.grh(data[lrhSize:], size-lrhSize)
	}
	p.dst, p.src = lid(data[2:4]), lid(data[6:8])
	return p.bth(data[lrhSize:], size-lrhSize)
}

func lid(b []byte) (e endpoint) {
	e.isLID = true
	copy(e.address[14:], b)
	return e
}

// erfTime is the time of an ERF record in nanoseconds since 1970: little
// endian, 32 bits of seconds and 32 of their fraction, rounded to the nearest.
func erfTime(data []byte) int64 {
	stamp := binary.LittleEndian.Uint64(data)
	return int64(stamp>>32)*1e9 + int64(((stamp&0xffffffff)*1e9+(1<<31))>>32)
}

// erf decodes an Endace record: 16 bytes, any extension headers, and the
// packet.
func (p *Packet) erf(data []byte, wire int) verdict {
	const (
		erfSize        = 16
		typeInfiniBand = 21
		more           = 0x80 // another 8-byte header follows
	)
	if len(data) < erfSize {
		return p.short(len(data), wire, foreign, "ERF header incomplete")
	}
	kind, off := data[8], erfSize
	packet := int(binary.BigEndian.Uint16(data[14:]))
	for next := kind; next&more != 0; off += 8 {
		if len(data) < off+8 {
			return p.short(len(data), wire, foreign, "ERF header incomplete")
		}
		next = data[off]
	}
	if kind&^more != typeInfiniBand {
		return foreign
	}
	body := data[off:]
	if recorded := int(binary.BigEndian.Uint16(data[10:])) - off; recorded >= 0 && recorded < len(body) {
		body = body[:recorded]
	}
	return p.lrh(body[:min(len(body), packet)], packet)
}
