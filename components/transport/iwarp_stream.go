package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
	"rnicmmu/model/tcp"
)

// Bytes of headers on the wire around an FPDU: Ethernet with FCS, preamble and
// gap 38 ([Husky23]), IPv4 20, TCP 20, time stamps 12 ([RFC7323]). The shortest
// frame takes 84 with preamble and gap ([Ethernet]).
const (
	segmentHeaders = 38 + 20 + 20
	timestampBytes = 12
	frameMin       = 84
)

// stream is one end of an iWARP connection.
type stream struct {
	out  tcp.Sender
	in   tcp.Receiver
	acks tcp.Acker

	first int32 // early packets, in the order of the stream, through earlies
	last  int32

	ackNow bool         // an ACK is due, alone if no data can take it along
	dups   int          // duplicate ACKs due behind it, each alone
	reset  bool         // a reset is owed
	closed bool         // nothing is taken or sent any more
	ack    uint32       // what is acknowledged
	fresh  bool         // nothing was taken since the last acknowledgement
	echo   clocked.Time // when the first segment taken since was sent
}

func (s *Spec) stream(first uint32) (stream, error) {
	out, err := s.sender(first)
	return stream{out: out, in: tcp.NewReceiver(first, uint32(s.TCP.Window)), first: none, last: none, ack: first, fresh: true,
		acks: tcp.NewAcker(s.TCP.AckEvery, int64(s.TCP.DelayedAck))}, err
}

// deadline is when the stream's next timer expires.
func (s *stream) deadline() clocked.Time {
	return clocked.Time(min(s.out.Deadline(), s.acks.Deadline()))
}

// expire makes a delayed ACK due, and tells whether what was sent has timed out.
func (s *stream) expire(now clocked.Time) bool {
	if s.acks.Deadline() <= int64(now) {
		s.ackNow = true
		s.acks.Sent()
	}
	return s.out.Deadline() <= int64(now)
}

// answers tells whether something must leave even without data.
func (s *stream) answers() bool { return s.ackNow || s.dups > 0 || s.reset }

// alone tells whether a segment without data must leave now, where data could.
func (s *stream) alone() bool { return s.reset || s.dups > 0 && !s.ackNow }

// acknowledge moves the acknowledgement behind a segment that was taken.
func (s *stream) acknowledge(p *msg.Packet) {
	s.ack = p.Segment.Seq + p.Segment.Bytes
	if s.fresh {
		s.fresh, s.echo = false, p.Segment.Sent
	}
}

// seen takes the time of a segment that was taken before: it came again because
// its acknowledgement was lost or late.
func (s *stream) seen(p *msg.Packet) {
	if tcp.Before(p.Segment.Seq, s.ack) {
		s.echo = p.Segment.Sent
	}
}

// stamp puts acknowledgement and time on a packet about to leave.
func (s *stream) stamp(now clocked.Time, p *msg.Packet, window model.Bytes) {
	if p.Segment.Bytes == 0 && !s.ackNow && s.dups > 0 {
		s.dups--
	}
	p.Segment.Ack, p.Segment.Window, p.Segment.Reset = s.ack, uint32(window), s.reset
	p.Segment.Sent, p.Segment.Echo = now, s.echo
	s.ackNow, s.reset, s.fresh = false, false, true
	s.acks.Sent()
}

// put sends a packet with the stream's acknowledgement.
func (s *stream) put(now clocked.Time, p *msg.Packet, spec *Spec, out *egress, stats *TCPStats) {
	s.stamp(now, p, spec.TCP.Window)
	if p.Segment.Reset {
		stats.Resets++
	}
	out.put(now, p, spec.segmentWire(p))
}

// segmentWire is the bytes that a segment takes on the wire.
func (s *Spec) segmentWire(p *msg.Packet) uint32 {
	n := segmentHeaders + p.Segment.Bytes
	if s.TCP.Timestamps {
		n += timestampBytes
	}
	return max(frameMin, n)
}

// fpdu is the bytes of the message in the stream.
func fpdu(p *msg.Packet) uint32 {
	if p.Segment.Message == ddp.Terminate {
		return ddp.TerminateFPDU(p.Op)
	}
	return ddp.FPDU(p.Segment.Message, p.Payload)
}

// earlies are packets that came before what belongs in front of them, a list a
// stream.
type earlies struct{ slab[earlyPacket] }

type earlyPacket struct {
	packet *msg.Packet
	bytes  int64 // of the receive buffer
	next   int32
}

// keep inserts a packet into a stream's list. Most come in order.
func (e *earlies) keep(s *stream, p *msg.Packet, bytes int64) {
	i := e.add(earlyPacket{packet: p, bytes: bytes, next: none})
	if s.last != none && tcp.Before(e.slots[s.last].packet.Segment.Seq, p.Segment.Seq) {
		e.slots[s.last].next, s.last = i, i
		return
	}
	at := &s.first
	for *at != none && tcp.Before(e.slots[*at].packet.Segment.Seq, p.Segment.Seq) {
		at = &e.slots[*at].next
	}
	e.slots[i].next = *at
	*at = i
	if e.slots[i].next == none {
		s.last = i
	}
}

// front is the first packet of a stream's list, nil if there is none.
func (e *earlies) front(s *stream) *msg.Packet {
	if s.first == none {
		return nil
	}
	return e.slots[s.first].packet
}

// pop takes the first packet out.
func (e *earlies) pop(s *stream) earlyPacket {
	p := e.remove(s.first)
	if s.first = p.next; s.first == none {
		s.last = none
	}
	return p
}
