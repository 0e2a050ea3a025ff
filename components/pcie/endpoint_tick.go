package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// Tick does what is due at the endpoint: takes what has arrived, answers,
// accepts DMAs and sends at most one TLP.
func (u *Endpoint) Tick(now clocked.Time) {
	u.receive(now)
	u.settle(now)
	u.accept(now)
	for u.transmit(now) {
	}
	u.rearm(now)
}

// receive takes completions and doorbells. A completion stays behind a doorbell
// that came before it and cannot be delivered.
func (u *Endpoint) receive(now clocked.Time) {
	barrier := ^uint64(0)
	for p := u.rx.in[msg.Posted].Peek(now); p != nil; p = u.rx.in[msg.Posted].Peek(now) {
		if !u.ring(now, p) {
			barrier = p.order
			break
		}
		u.rx.drain(now, msg.Posted, p.Len)
	}
	for p := u.rx.in[msg.Completion].Peek(now); p != nil && p.order < barrier; p = u.rx.in[msg.Completion].Peek(now) {
		u.complete(now, p)
		u.rx.drain(now, msg.Completion, p.Len)
	}
}

// ring delivers the last piece of a doorbell; false: the client is not ready.
func (u *Endpoint) ring(now clocked.Time, p *packet) bool {
	if !p.Last {
		return true
	}
	if int(p.client) >= len(u.ports) {
		u.unclaimed++
		return true
	}
	w := u.ports[p.client].Doorbell
	if !w.Ready(now) {
		return false
	}
	if p.Ledger != nil {
		p.Ledger.Charge(now, measure.CausePost)
	}
	*w.Push(now) = msg.Doorbell{Message: p.Kind == msg.KindMessage, Client: p.client, Len: p.written,
		Cookie: p.Cookie, Body: p.Body, Ledger: p.Ledger}
	return true
}

// complete books a completion: its tag is free after the last byte of the last
// one, and its read is done with its last tag. One without data is the last of
// its request, and gives back the space of all that does not come.
func (u *Endpoint) complete(now clocked.Time, p *packet) {
	t := &u.tags[p.Tag]
	job := &u.jobs[t.job]
	u.space += p.Len
	t.left -= p.Len
	job.stale = job.stale || p.Stale
	if p.Status != msg.StatusSuccess {
		job.status = worse(job.status, p.Status)
	}
	count(job.dma.Counts, WireBytes(msg.Completion, p.Len))
	if !p.Last {
		return
	}
	u.space += t.left
	t.busy, t.left = false, 0
	u.tagsFree = append(u.tagsFree, p.Tag)
	job.tags--
	if job.tags > 0 || job.offset < job.dma.Len {
		return
	}
	if job.dma.Ledger != nil {
		job.dma.Ledger.Charge(now, measure.CausePCIe)
	}
	u.answer(now, job.client, 0, msg.DMADone{Kind: job.dma.Kind, Stale: job.stale, Status: job.status,
		Entry: p.Entry, Cookie: job.dma.Cookie})
	u.jobsFree = append(u.jobsFree, t.job)
}

func count(c *measure.Counts, wireBytes int64) {
	if c != nil {
		c.TLPs++
		c.PCIeBytes += uint64(wireBytes)
	}
}

// answer sends a DMADone that is seen a hop from now but not before at.
func (u *Endpoint) answer(now clocked.Time, client uint8, at clocked.Time, done msg.DMADone) {
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

// accept takes at a clock edge one DMA of every client, if there is room.
func (u *Endpoint) accept(now clocked.Time) {
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
			if u.clock.Edge(now) != now {
				return
			}
			first = c
		}
		u.enqueue(d, uint8(c))
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

func (u *Endpoint) writesFull() bool { return u.writes.Len() == u.maxWrites }
func (u *Endpoint) readsFull() bool  { return u.reads.Len() == u.maxReads }

// enqueue accepts a DMA. A message has no data, and a translation request none
// of the address's lower bits.
func (u *Endpoint) enqueue(d *msg.DMA, client uint8) {
	if d.Write {
		w := u.writes.Push()
		*w = write{dma: *d, since: u.tx.next(), client: client}
		if d.Kind == msg.KindMessage {
			w.dma.Len = 0
		}
		return
	}
	last := len(u.jobsFree) - 1
	job := u.jobsFree[last]
	u.jobsFree = u.jobsFree[:last]
	u.jobs[job] = read{dma: *d, since: u.tx.next(), client: client}
	if d.Kind == msg.KindATS {
		u.jobs[job].dma.PA &^= addressBlock - 1
	}
	*u.reads.Push() = job
}

// rearm sees to it that the endpoint ticks when it can accept a DMA: at the
// next edge if one is there, else when one comes. Behind full queues no push
// needs to wake it.
func (u *Endpoint) rearm(now clocked.Time) {
	if u.writesFull() && u.readsFull() {
		return
	}
	for c := range u.ports {
		switch p := &u.ports[c]; {
		case u.acceptable(now, c) != nil:
			u.engine.Wake(u.id, u.clock.Next(now))
		case p.owed.Len() == 0 && p.Req.Peek(now) == nil:
			p.Req.Await(now)
		}
	}
}
