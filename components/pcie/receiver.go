package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// receiver is the other end of a transmitter: it checks what arrives, keeps it in
// the line's receive buffers, one for each class, and owes acknowledgements and the
// credits that it advertised.
type receiver struct {
	in  *line
	out *line // takes Ack, Nak and UpdateFC

	sequence rules.Receiver
	returns  [rules.NumPools]rules.Allocation

	ack, update pace
	together    bool             // UpdateFC of all types leave together
	finite      [numClasses]bool // credits of the class come back
	tx          *transmitter     // of this end, which retrains the link
}

// arrive takes what has come in, in order, into the receive buffers.
func (r *receiver) arrive(now clocked.Time) {
	w := r.in.flight
	for f := w.Peek(now); f != nil; f = w.Peek(now) {
		if r.in.fault == nil || now >= r.tx.deaf && !r.in.isDown(now) {
			r.out.settle(now) // what has left is shown before what comes in, and that before what answers it
			judged := r.check(now, f)
			if r.in.watch != nil {
				r.in.watch.arrived(now, f, r.newest(f.class, judged == rules.Accept))
			}
			r.reply(now, f, judged)
		}
		w.Pop(now)
	}
}

// check judges a TLP, and keeps one that is accepted. Its place in the replay
// buffer is free once it is acknowledged.
func (r *receiver) check(now clocked.Time, f *flying) rules.Judgement {
	if f.damage == damageFraming {
		r.tx.retrain(now)
		return rules.Discard
	}
	j := r.sequence.Take(f.seq, f.damage == damageCorrupt)
	if j != rules.Accept {
		return j
	}
	b := &r.in.held[f.class]
	if r.in.fault != nil {
		kept := b.Push()
		*kept = *r.in.at(f.seq)
		kept.arrival = now
	}
	b.there++
	r.in.taken++
	return j
}

// reply owes what a judgement asks for.
func (r *receiver) reply(now clocked.Time, f *flying, j rules.Judgement) {
	switch j {
	case rules.Accept:
		r.owe(now, dllpAck, &r.ack)
		if f.damage == damageNak {
			r.owe(now, dllpNak, &atOnce)
		}
	case rules.Duplicate:
		r.owe(now, dllpAck, &atOnce)
	case rules.Bad:
		r.owe(now, dllpNak, &atOnce)
	}
}

// newest is the TLP of a class that was accepted last; nil if none was now.
func (r *receiver) newest(class msg.TLPType, accepted bool) *packet {
	if !accepted {
		return nil
	}
	b := &r.in.held[class]
	return b.At(b.Head() + uint32(b.there-1))
}

// atOnce is the pace of what does not wait.
var atOnce pace

// owe makes this end send an Ack or Nak for what it has accepted.
func (r *receiver) owe(now clocked.Time, k dllpKind, p *pace) {
	r.out.owe(now, k, p, dllpBody{seq: r.sequence.Last()})
}

// first is the oldest TLP of a class; nil: none.
func (r *receiver) first(class msg.TLPType) *packet {
	if b := &r.in.held[class]; b.there > 0 {
		return b.Front()
	}
	return nil
}

// oldest is the oldest TLP of all; nil: none.
func (r *receiver) oldest() (p *packet) {
	for class := range msg.TLPType(numClasses) {
		if f := r.first(class); f != nil && (p == nil || f.order < p.order) {
			p = f
		}
	}
	return p
}

// drain frees the place of the oldest TLP of a class and returns its credits.
func (r *receiver) drain(now clocked.Time, class msg.TLPType) {
	r.giveBack(now, class, r.first(class).credits)
	r.take(now, class)
}

// take takes the oldest TLP of a class out of the receive buffer; its credits are
// still out.
func (r *receiver) take(now clocked.Time, class msg.TLPType) {
	b := &r.in.held[class]
	if r.in.watch != nil {
		r.in.watch.drained(now, b.Front())
	}
	b.there--
	b.Pop()
}

// giveBack returns the credits of a TLP: one header, and so many of data.
func (r *receiver) giveBack(now clocked.Time, class msg.TLPType, credits uint32) {
	h, d := &r.returns[headers(class)], &r.returns[data(class)]
	if !r.finite[class] || h.Infinite() && credits == 0 {
		return
	}
	h.Return(1)
	d.Return(credits)
	for c := range msg.TLPType(numClasses) {
		if c == class || r.together {
			r.oweUpdate(now, c)
		}
	}
}

// oweUpdate makes this end send the UpdateFC of a class.
func (r *receiver) oweUpdate(now clocked.Time, class msg.TLPType) {
	h, d := &r.returns[headers(class)], &r.returns[data(class)]
	r.out.owe(now, dllpUpdate+dllpKind(class), &r.update, dllpBody{header: h.Field(), data: d.Field()})
}

// empty tells whether the receive buffers are.
func (r *receiver) empty() bool {
	return r.in.held[0].there+r.in.held[1].there+r.in.held[2].there == 0
}
