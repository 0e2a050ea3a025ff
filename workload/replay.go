package workload

import (
	"fmt"

	"rnicmmu/model"
)

// window is how many PSNs of a flow are remembered to tell a request that was
// sent again. It is far more than a QP keeps in flight.
const window = 1 << 15

// flow is what one sender sends to one QP.
type flow struct {
	seen    []uint64 // window bits, by PSN; nil until a reliable request comes
	highest uint32   // latest PSN seen

	open     bool // a SEND is being put together
	bytes    uint64
	first    uint32 // PSN of its first packet
	arrived  uint32 // packets of it
	sendLast uint32 // PSN of its last packet, when ended
	ended    bool
}

type flowKey struct {
	src, dst uint16
	qp       uint32
}

// replay turns the packets of a capture into accesses:
//   - a WRITE is one access of its RETH's length, at its first packet;
//   - a READ request and an atomic are one access each;
//   - a SEND is one access of its payload, at its last packet, once all its
//     packets are there; a SEND of which some are not is counted incomplete;
//   - on reliable transports a request whose PSN the same sender has sent to
//     the same QP before, among the latest 32,768 PSNs, is a duplicate: a
//     retransmission, which is counted and not replayed. Unreliable ones never
//     retransmit, and many senders share a UD or DC target's numbers.
//
// Hosts are numbered in the order in which their addresses appear.
type replay struct {
	*capture
	hosts map[endpoint]uint16
	flows map[flowKey]*flow

	accesses, duplicates, incomplete, outside uint64
	err                                       error
}

func newReplay(c *capture) *replay {
	return &replay{capture: c, hosts: map[endpoint]uint16{}, flows: map[flowKey]*flow{}}
}

func (r *replay) Next(a *Access) bool {
	for r.err == nil {
		v, ok := r.capture.next()
		if !ok {
			r.err = r.capture.failure
			if r.err == nil && r.accesses == 0 {
				r.err = r.nothing()
			}
			return false
		}
		if v == good && r.take(a) {
			r.accesses++
			return true
		}
	}
	return false
}

func (r *replay) Err() error { return r.err }

// nothing says why a capture that could be read has no access.
func (r *replay) nothing() error {
	n := &r.counts
	switch {
	case n.unknownLink == r.frame:
		return fmt.Errorf("%s: link type %d is not read; capture on Ethernet, InfiniBand or ERF", r.name, r.link)
	case n.foreign == r.frame:
		return fmt.Errorf("%s: none of %d frames is RoCE or InfiniBand; capture on the RDMA port (UDP 4791 or EtherType 0x8915)", r.name, r.frame)
	case n.cut > 0:
		return fmt.Errorf("%s: frame %d is cut at %d bytes (snaplen): %s; no access read; capture at least 128 bytes a frame",
			r.name, n.firstCut.frame, n.firstCut.bytes, n.firstCut.why)
	default:
		return fmt.Errorf("%s: none of %d frames is a request that can be replayed; capture from before the first request", r.name, r.frame)
	}
}

// host numbers an address; past 65,535 hosts ok is false.
func (r *replay) host(e endpoint) (uint16, bool) {
	n, ok := r.hosts[e]
	if !ok {
		if len(r.hosts) > 0xffff {
			return 0, false
		}
		n = uint16(len(r.hosts))
		r.hosts[e] = n
	}
	return n, true
}

// take fills a when r.packet begins, or ends, an access.
func (r *replay) take(a *Access) bool {
	p := &r.packet
	o := &opcodes[p.Opcode]
	if o.role == roleNone {
		return false
	}
	src, ok := r.host(p.src)
	dst, ok2 := r.host(p.dst)
	if !ok || !ok2 {
		r.outside++
		return false
	}
	key := flowKey{src, dst, p.DestQP}
	f := r.flows[key]
	if f == nil {
		f = &flow{}
		r.flows[key] = f
	}
	if o.reliable() && f.repeat(p.PSN) {
		r.duplicates++
		return false
	}
	*a = Access{TimePS: p.TimePS, QP: p.DestQP, Host: dst, Op: o.op}
	switch {
	case o.op == model.OpSend:
		ok = r.send(f, o.role, a)
	case p.HasRETH || p.HasAtomicETH:
		a.VA, a.Len, a.Key, a.HasKey = p.VA, p.Len, p.Key, true
		if ok = inSpace(p.VA, uint64(p.Len)); !ok {
			r.outside++
		}
	default:
		ok = false
	}
	return ok
}

// inSpace holds when length is legal and [va, va+length) does not pass the end
// of the address space.
func inSpace(va model.VA, length uint64) bool {
	return length <= MaxMessage && (length == 0 || uint64(va) <= ^uint64(0)-(length-1))
}

// repeat marks psn as seen and tells whether it was so before.
func (f *flow) repeat(psn uint32) bool {
	const half = 1 << 23 // PSNs are numbers modulo 2^24
	if f.seen == nil {
		f.seen = make([]uint64, window/64)
		f.highest = psn
	}
	ahead := (psn - f.highest) & 0xffffff
	switch {
	case ahead == 0 || ahead >= half: // not newer
		if behind := (f.highest - psn) & 0xffffff; behind >= window {
			clear(f.seen) // the QP was set up again
			f.highest = psn
		}
	case ahead >= window:
		clear(f.seen)
		f.highest = psn
	default:
		for f.highest != psn {
			f.highest = (f.highest + 1) & 0xffffff
			f.seen[f.highest%window/64] &^= 1 << (f.highest % 64)
		}
	}
	word, bit := &f.seen[psn%window/64], uint64(1)<<(psn%64)
	was := *word&bit != 0
	*word |= bit
	return was
}

// send adds a packet to the flow's SEND and fills a.Len when it is whole.
func (r *replay) send(f *flow, role role, a *Access) bool {
	p := &r.packet
	if role == roleOnly {
		a.Len = p.Payload
		return true
	}
	if role == roleFirst {
		if f.open {
			r.incomplete++
		}
		f.open, f.ended, f.first, f.bytes, f.arrived = true, false, p.PSN, 0, 0
	} else if !f.open {
		if role == roleLast {
			r.incomplete++
		}
		return false
	}
	f.arrived++
	f.bytes += uint64(p.Payload)
	if role == roleLast {
		if f.ended { // a later SEND, whose first packet is missing
			r.incomplete++
		}
		f.ended, f.sendLast = true, p.PSN
	}
	if f.bytes > MaxMessage {
		f.open = false
		r.outside++
		return false
	}
	if !f.ended || (f.sendLast-f.first)&0xffffff+1 != f.arrived {
		return false
	}
	f.open = false
	a.Len = uint32(f.bytes)
	return true
}
