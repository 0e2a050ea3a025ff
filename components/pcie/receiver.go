package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// receiver is the other end of a transmitter: the receive buffers, one for each
// class, and the credits that it advertised.
type receiver struct {
	in      [numClasses]*clocked.Wire[packet]
	credits *clocked.Wire[credit]
	headers [numClasses]bool // the class's header credits are finite
	data    [numClasses]bool // the class's data credits are finite
}

// drain frees the place of the oldest TLP of a class and returns its credits.
func (r *receiver) drain(now clocked.Time, class msg.TLPType, payload uint32) {
	r.in[class].Pop(now)
	if r.headers[class] || r.data[class] && payload > 0 {
		*r.credits.Push(now) = credit{class: class, data: dataCredits(payload)}
	}
}

// carried is the payload of a TLP in bytes.
func carried(p *packet) uint32 {
	if p.Payload {
		return p.Len
	}
	return 0
}
