package msg

import (
	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
	"rnicmmu/model/key"
)

// WQE is a send work request: one access. The requester's software posts it.
type WQE struct {
	Op         model.Op
	QP         uint32
	Key        uint32
	Len        uint32
	VA         model.VA
	Page       uint32  // dense number of the first process page (Oracle); NoPage for SEND
	Fence      bool    // wait for all earlier READs and atomics of the QP
	Invalidate key.Key // SEND: the responder invalidates this key behind it; 0: none
	Access     *measure.Access
}

// Packet is a transport packet in either direction; Pool recycles it. The
// sender fills it in and lets go of it; the receiver puts it back.
type Packet struct {
	QP         uint32
	PSN        uint32 // 24 bits
	Op         model.Op
	First      bool // of its request or response
	Last       bool
	AckReq     bool
	Response   bool // ACK, NAK, READ response or atomic response
	Resend     bool
	Lost       bool   // on its way, or for want of room: who takes it in drops it
	Syndrome   uint8  // of a response (AETH): ACK, RNR NAK with its timer code, NAK code
	MSN        uint32 // of a response: message sequence number, 24 bits
	Payload    uint32 // bytes of data carried
	WireLen    uint32 // bytes on the wire with headers, CRC, preamble and gap
	Key        uint32
	Invalidate key.Key  // of the last packet of a SEND with invalidate: the key (IETH); 0: none
	VA         model.VA // of the first byte that this packet concerns
	MsgLen     uint32   // RETH DMA length: bytes of the whole message (of a resumed READ: what is missing)
	Offset     uint32   // of this packet's first byte within its message
	Page       uint32   // dense number of the process page at VA (Oracle)
	Write      uint64   // identity of the data (Oracle)
	Access     *measure.Access
	Ledger     measure.Ledger
	Arrived    clocked.Time // at the receive buffer
	Segment    Segment      // of iWARP
	Acked      *Packet      // of iWARP: requests acknowledged first by this packet, which takes their ledgers back; linked by Acked
}

// Segment is what TCP and DDP add to a packet of iWARP. One without bytes only
// acknowledges.
type Segment struct {
	Seq     uint32       // of its first byte
	Bytes   uint32       // of the stream: an FPDU
	Ack     uint32       // next byte expected the other way
	Window  uint32       // bytes from Ack on that there is room for
	Reset   bool         // the stream is closed
	Sent    clocked.Time // time stamp
	Echo    clocked.Time // of the segment that Ack answers
	Message ddp.Message
	Reason  ddp.Reason // of a Terminate message
}

// Pool is a free list of messages of one type. One simulation is one goroutine,
// so it needs no lock.
type Pool[T any] struct{ free []*T }

// Get returns a zeroed message.
func (p *Pool[T]) Get() *T {
	n := len(p.free)
	if n == 0 {
		return new(T)
	}
	m := p.free[n-1]
	p.free = p.free[:n-1]
	var zero T
	*m = zero
	return m
}

// Put takes a message back; the caller must not use it any more.
func (p *Pool[T]) Put(m *T) { p.free = append(p.free, m) }
