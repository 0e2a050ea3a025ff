package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// offer is a DMA, answer or message that a unit wants to send, by its next TLP.
type offer struct {
	since   uint64 // number of its acceptance: older ones have lower ones
	wire    uint32 // bytes on the line
	place   int32  // the unit's, of what it is
	bytes   uint32 // of its payload that count; of a read, those that it asks for
	credits uint32 // of data
	stayed  uint32 // how often it stayed behind although it could go
	packet  rules.Packet
}

// transmitter sends one direction's TLPs: it keeps the offers of the three
// classes in order, takes credits and fills the replay buffer.
type transmitter struct {
	engine *clocked.Engine
	unit   clocked.UnitID
	peer   string // name of the other end
	out    *line
	in     *line // brings Ack, Nak and UpdateFC

	*queue            // from which the next offer is chosen: the only one but in a switch
	queues []queue    // in a switch, one for each port
	turn   int        // the one that is asked first
	direct *direction // nil: nobody directs this end
	pass   passing
	window int    // offers of a class that are looked at
	tags   int32  // free; of what is no endpoint: always some
	space  uint32 // completion space that is free

	credits  [rules.NumPools]rules.Account
	sequence rules.Sender
	ends     []uint64 // WireBytes after each TLP of the replay buffer, by sequence number modulo a power of two
	held     int64    // bytes in the replay buffer
	maxHeld  int64
	maxTLPs  int

	again    int          // of the replay buffer's TLPs, the newest so many are to be sent again
	timeout  clocked.Time // without progress: what is not acknowledged is sent again
	deadline clocked.Time // of it; Never: nothing to wait for
	armed    clocked.Time // the unit ticks then at the latest, if later than now
	recovery clocked.Time // time of a retraining
	deaf     clocked.Time // this end does not receive before
	sent     uint64       // TLPs, each once
	alarm    clocked.Time // when the line is free, as far as a timer is set for it
	starved  bool         // the last choice failed for want of what comes with an Ack or UpdateFC

	stall   Stall
	stalled clocked.Time // since when, unless stall is stallNone
	waited  stallTimes   // stalls that are over, by what a ledger tells apart
	stats   Stats
}

// choice is the offer that is sent now.
type choice struct {
	class msg.TLPType
	at    uint32 // its number in the FIFO of its class
}

// grant chooses what to send at now: ok is false while the line is busy, then
// with a timer set, or while nothing may go.
func (t *transmitter) grant(now clocked.Time) (c choice, ok bool) {
	lossy := t.out.fault != nil
	if lossy {
		t.heed(now)
	}
	if t.again > 0 || !t.waiting() || !t.isFree(now) {
		return c, false
	}
	if !lossy {
		t.collect(now)
	}
	c, lack := t.turns(now)
	t.book(now, lack)
	if lack != stallNone && t.starved {
		t.in.await(now)
	}
	return c, lack == stallNone
}

// isFree tells whether the line is free, and else sets a timer.
func (t *transmitter) isFree(now clocked.Time) bool {
	l := t.out
	next := max(now, l.serial.Free())
	if l.due <= now || l.skp.next <= next {
		l.settle(now)
		next = l.from(now)
	}
	if next > now && next != t.alarm {
		t.alarm = next
		t.engine.Wake(t.unit, next)
	}
	return next <= now
}

// more tells, when a TLP was launched, whether another one may follow at now, as on
// a link that is down; else, if there is one, a timer is set.
func (t *transmitter) more(now clocked.Time) bool { return t.waiting() && t.isFree(now) }

// book charges the idle time of the link to what it has been waiting for.
func (t *transmitter) book(now clocked.Time, lack Stall) {
	if t.stall == lack {
		return
	}
	if t.stall < stallNone {
		t.stats.Stalls[t.stall] += now - t.stalled
		t.waited[waitOf[t.stall]] += now - t.stalled
	}
	t.stall, t.stalled = lack, now
}

// place is where the unit writes the next TLP, which it then launches.
func (t *transmitter) place(class msg.TLPType) *packet {
	return t.out.place(class, t.sequence.Oldest()+uint16(t.sequence.Outstanding()))
}

// launch sends the TLP in place as the next one of the chosen offer, and returns
// when its last byte has left. The unit then fits the offer to what comes next,
// or calls done. A link that is down swallows it.
func (t *transmitter) launch(now clocked.Time, c choice, p *packet) (end clocked.Time) {
	o := t.chosen(c)
	p.bytes, p.credits, p.rule = o.wire, o.credits, o.packet
	if t.out.isDown(now) {
		return now
	}
	t.sent++
	p.seq, p.order = t.sequence.Next(), t.sent
	t.credits[headers(c.class)].Take(1)
	t.credits[data(c.class)].Take(o.credits)
	t.held += int64(o.wire)
	if t.direct != nil {
		t.leaves(now, p, p.Body)
	}
	t.stats.WireBytes += uint64(p.bytes)
	*t.mark(p.seq) = t.stats.WireBytes
	end = t.out.send(now, p, true)
	if t.out.fault != nil && t.deadline == clocked.Never {
		t.restart(end)
		t.arm(now)
	}
	s := &t.stats
	s.TLPs[p.Type]++
	s.Kinds[p.Kind]++
	if p.Payload {
		s.PayloadBytes += uint64(p.Len)
	}
	s.Busy += t.out.serial.Free() - now
	return end
}

// mark is what WireBytes was after a TLP of the replay buffer.
func (t *transmitter) mark(seq uint16) *uint64 { return &t.ends[int(seq)&(len(t.ends)-1)] }

// flying tells whether a TLP has not arrived yet, or has to be sent again. None
// has on a link that is down.
func (t *transmitter) flying() bool { return t.sent != t.out.taken && !t.out.isDown(t.engine.Now()) }
