package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// egress is the adapter's end of the wire to the other side.
type egress struct {
	link  clocked.Serializer
	delay clocked.Time // from the last bit on the wire to the other side's receive buffer
	tx    *clocked.Wire[*msg.Packet]
}

func newEgress(s *Spec) egress {
	return egress{link: newSerializer(s.Network.Rate), delay: s.Adapter.TxPipeline + s.Network.Latency}
}

// free is when the wire is free for the next packet.
func (e *egress) free() clocked.Time { return e.link.Free() }

// put sends a packet that takes wireLen bytes.
func (e *egress) put(now clocked.Time, p *msg.Packet, wireLen uint32) {
	p.WireLen = wireLen
	_, end := e.link.Send(now, int64(wireLen))
	p.Arrived = end + e.delay
	*e.tx.PushAt(now, p.Arrived) = p
}

// newSerializer is a wire of the given rate: 8e12/rate picoseconds a byte.
func newSerializer(rate model.BitRate) clocked.Serializer {
	num, den := int64(8*clocked.Second), int64(rate)
	a, b := num, den
	for b != 0 {
		a, b = b, a%b
	}
	return clocked.NewSerializer(num/a, den/a)
}
