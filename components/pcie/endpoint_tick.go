package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// Tick does what is due at the endpoint: takes what has arrived, answers,
// accepts DMAs and sends at most one TLP; into a link that is down, all there are.
func (u *Endpoint) Tick(now clocked.Time) {
	u.receive(now)
	u.expire(now)
	u.settle(now)
	u.accept(now)
	for u.transmit(now) && u.tx.more(now) {
	}
	u.rearm(now)
}

// receive takes completions, doorbells and other adapters' reads. Completions and
// reads stay behind a doorbell that came before them and cannot be delivered,
// unless it is a relaxed completion.
func (u *Endpoint) receive(now clocked.Time) {
	u.rx.arrive(now)
	barrier := ^uint64(0)
	for p := u.rx.first(msg.Posted); p != nil; p = u.rx.first(msg.Posted) {
		if !u.ring(now, p) {
			barrier = p.order
			break
		}
		u.rx.drain(now, msg.Posted)
	}
	for p := u.rx.first(msg.Completion); p != nil && (p.order < barrier || p.Relaxed); p = u.rx.first(msg.Completion) {
		u.complete(now, p)
		u.rx.drain(now, msg.Completion)
	}
	for p := u.rx.first(msg.NonPosted); p != nil && p.order < barrier && !u.answers.full(); p = u.rx.first(msg.NonPosted) {
		u.serve(p)
		u.rx.drain(now, msg.NonPosted)
	}
}

// serve answers another adapter's read of the window: at once, as registers. What
// is not of a client is refused.
func (u *Endpoint) serve(p *packet) {
	d := unsupported(p)
	if _, ours := u.claim(p); ours && p.Kind != msg.KindATS {
		d.Status = msg.StatusSuccess
	} else {
		u.refused++
	}
	u.answer(&u.tx, &d)
}

// claim is the client that a request or message is for; false: there is none.
func (u *Endpoint) claim(p *packet) (client uint8, ok bool) {
	if p.Kind == msg.KindMessage {
		return p.client, int(p.client) < len(u.ports)
	}
	adapter, client, ok := windowOf(p.PA)
	return client, ok && adapter == u.device && int(client) < len(u.ports)
}

// ring delivers the last piece of a doorbell; false: the client is not ready.
func (u *Endpoint) ring(now clocked.Time, p *packet) bool {
	if !p.Last {
		return true
	}
	client, ours := u.claim(p)
	if !ours {
		u.unclaimed++
		return true
	}
	w := u.ports[client].Doorbell
	if !w.Ready(now) {
		return false
	}
	if p.Ledger != nil {
		p.Ledger.Charge(now, measure.CausePost)
	}
	*w.Push(now) = msg.Doorbell{Message: p.Kind == msg.KindMessage, Client: client, Len: p.written,
		Cookie: p.Cookie, Body: p.Body, Ledger: p.Ledger}
	return true
}

// complete books a completion: its tag is free after the last byte of the last
// one. One without data is the last of its request, and gives back the space of
// all that does not come. The data of a poisoned one are not used.
func (u *Endpoint) complete(now clocked.Time, p *packet) {
	id := int32(p.Tag) - int32(u.first)
	t := &u.tags.at[id]
	if t.late {
		u.late(id, t, p)
		return
	}
	r := &u.reads.at[t.read]
	u.tx.space += p.Len
	t.left -= p.Len
	r.stale = r.stale || p.Stale
	switch {
	case p.Poisoned:
		r.status = worse(r.status, msg.StatusPoisoned)
	case p.Status != msg.StatusSuccess:
		r.status = worse(r.status, p.Status)
	}
	count(r.dma.Counts, p.bytes)
	if !p.Last {
		return
	}
	u.tx.space += t.left
	t.busy, t.left = false, 0
	u.release(id)
	u.finish(now, t.read, p.Entry)
}

// late drops a completion of a request that has timed out; after the last one
// its tag may be used again.
func (u *Endpoint) late(id int32, t *tag, p *packet) {
	u.unexpected++
	if p.Last {
		t.late = false
		u.release(id)
	}
}

func (u *Endpoint) release(id int32) {
	u.tags.give(id)
	u.tx.tags++
}

// finish ends one request of a read; the read is done with its last.
func (u *Endpoint) finish(now clocked.Time, i int32, entry uint64) {
	r := &u.reads.at[i]
	r.tags--
	if r.tags > 0 || r.offset < r.dma.Len {
		return
	}
	if r.dma.Ledger != nil {
		r.dma.Ledger.Charge(now, measure.CausePCIe)
	}
	u.tell(now, r.client, 0, msg.DMADone{Kind: r.dma.Kind, Stale: r.stale, Status: r.status,
		Entry: entry, Cookie: r.dma.Cookie})
	u.reads.give(i)
}

func count(c *measure.Counts, wireBytes uint32) {
	if c != nil {
		c.TLPs++
		c.PCIeBytes += uint64(wireBytes)
	}
}

// tell sends a DMADone that is seen a hop from now but not before at.
func (u *Endpoint) tell(now clocked.Time, client uint8, at clocked.Time, done msg.DMADone) {
	*u.ports[client].owed.Push() = answer{at: at, done: done}
	u.pay(now, &u.ports[client])
}

// settle sends the answers for which clients had no room.
func (u *Endpoint) settle(now clocked.Time) {
	for i := range u.ports {
		u.pay(now, &u.ports[i])
	}
}

func (u *Endpoint) pay(now clocked.Time, p *port) {
	for p.owed.Len() > 0 && p.Done.Ready(now) {
		a := p.owed.Front()
		if a.at > now {
			*p.Done.PushAt(now, a.at) = a.done
		} else {
			*p.Done.Push(now) = a.done
		}
		p.owed.Pop()
	}
}

// accept takes at a clock edge one DMA of every client, if there is room. It leaves
// in edge the first edge from now on.
func (u *Endpoint) accept(now clocked.Time) {
	if now > u.edge {
		u.edge = u.clock.Edge(now)
	}
	if now != u.edge {
		return
	}
	first := -1
	for i := range u.ports {
		c := u.turn + i
		if c >= len(u.ports) {
			c -= len(u.ports)
		}
		d := u.acceptable(now, c)
		if d == nil {
			continue
		}
		if first < 0 {
			first = c
		}
		u.enqueue(now, d, uint8(c))
		u.ports[c].Req.Pop(now)
	}
	if first >= 0 {
		u.turn = (first + 1) % len(u.ports)
	}
}

// acceptable is the client's oldest DMA if it can be accepted, else nil.
func (u *Endpoint) acceptable(now clocked.Time, client int) *msg.DMA {
	p := &u.ports[client]
	if p.owed.Len() > 0 {
		return nil
	}
	d := p.Req.Peek(now)
	if d == nil || d.Write && u.writesFull() || !d.Write && u.readsFull() {
		return nil
	}
	return d
}

func (u *Endpoint) writesFull() bool { return u.writes.full() }
func (u *Endpoint) readsFull() bool  { return u.asking == u.most || u.reads.full() }

// enqueue accepts a DMA. A message has no data, and a translation request none
// of the address's lower bits.
func (u *Endpoint) enqueue(now clocked.Time, d *msg.DMA, client uint8) {
	if d.Write {
		i, w := u.writes.take()
		*w = transfer{dma: *d, client: client}
		if d.Kind == msg.KindMessage {
			w.dma.Len = 0
		}
		u.offer(now, msg.Posted, i, &w.dma)
		return
	}
	i, r := u.reads.take()
	*r = read{transfer: transfer{dma: *d, client: client}}
	if d.Kind == msg.KindATS {
		r.dma.PA &^= pageBytes - 1
	}
	u.asking++
	u.offer(now, msg.NonPosted, i, &r.dma)
}

// offer offers a DMA. Only payload has attributes: what tells of it must not
// overtake it.
func (u *Endpoint) offer(now clocked.Time, class msg.TLPType, place int32, d *msg.DMA) {
	if d.Ledger != nil {
		u.since[class][place] = u.tx.snapshot(now)
	}
	o := u.tx.submit(class, place)
	o.packet.Sender, o.packet.PASID = u.device, d.Address.PASID
	if d.Kind == msg.KindData {
		o.packet.Relaxed, o.packet.IDOrdered = u.relaxed, u.idOrdered
	}
	u.part(o, d, 0)
	u.tx.offered(now, class, d.Kind, d.Body)
}

// rearm sees to it that the endpoint ticks when it can accept a DMA: at the
// next edge if one is there, else when one comes. Behind full queues no push
// needs to wake it.
func (u *Endpoint) rearm(now clocked.Time) {
	if u.writesFull() && u.readsFull() {
		return
	}
	next := u.edge
	if next == now {
		next += u.clock.Period()
	}
	for c := range u.ports {
		switch p := &u.ports[c]; {
		case u.acceptable(now, c) != nil:
			u.engine.Wake(u.id, next)
		case p.owed.Len() == 0 && p.Req.Peek(now) == nil:
			p.Req.Await(now)
		}
	}
}
