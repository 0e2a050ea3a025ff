package transport

import (
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// Bytes of headers on a RoCEv2 wire: Ethernet with FCS, preamble and gap 38,
// IPv4 20, UDP 8, BTH 12, ICRC 4 ([Linux] rxe_hdr.h; [Husky23] for
// the 38).
const (
	headerBytes    = 38 + 20 + 8 + 12 + 4
	rethBytes      = 16
	aethBytes      = 4
	atomicETHBytes = 28
	atomicAckBytes = 8
	iethBytes      = 4
	gapBytes       = 8 + 12 // preamble and gap, which no buffer holds
	wireLenMax     = headerBytes + rethBytes + 4096

	wqeBytes   = 64 // of a send or receive work request
	cqeBytes   = 64
	flushBytes = 4
)

// wireLen is the bytes that a packet takes on the wire, its payload padded to
// a multiple of 4.
func wireLen(p *msg.Packet) uint32 {
	n := headerBytes + (p.Payload+3)&^3
	switch {
	case p.Response && p.Op == model.OpRead:
		if p.First || p.Last {
			n += aethBytes
		}
	case p.Response:
		n += aethBytes
		if p.Op.Atomic() && rc.Syndrome(p.Syndrome).Ack() {
			n += atomicAckBytes
		}
	case p.Op.Atomic():
		n += atomicETHBytes
	case p.Op == model.OpRead, p.Op == model.OpWrite && p.First:
		n += rethBytes
	case p.Invalidate != 0:
		n += iethBytes
	}
	return n
}

// pageAt is the dense number of the process page at va, given that of the page
// at base.
func pageAt(page uint32, base, va model.VA, shift model.PageShift) uint32 {
	if page == msg.NoPage {
		return msg.NoPage
	}
	return page + uint32(shift.Number(va)-shift.Number(base))
}
