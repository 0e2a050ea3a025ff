package dmabench

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// Tick does what is due at the device: takes answers, tells contexts, which begin
// anew, and issues.
func (u *Bench) Tick(now clocked.Time) {
	if !u.started {
		u.started = true
		for c := range u.contexts {
			u.begin(now, uint32(c))
		}
	}
	u.collect(now)
	u.tell(now)
	u.admit(now)
	u.issueReads(now)
	u.issueWrites(now)
	u.arm(now)
}

// begin starts the context's next transfer, if one is left.
func (u *Bench) begin(now clocked.Time, c uint32) {
	if u.begun == u.program.Transfers {
		return
	}
	place := u.places[u.begun%len(u.places)]
	x := &u.contexts[c]
	*x = context{since: now, pa: u.program.Base + model.PA(place)}
	switch u.program.Test {
	case CommandWriteRead, DMAWriteRead, WriteBandwidth:
		x.write = true
	case BothBandwidth:
		x.write = u.begun%2 == 1
	}
	u.begun++
	u.enqueue(now, c)
}

// enqueue sends a part of the context's transfer on its way.
func (u *Bench) enqueue(now clocked.Time, c uint32) {
	delay := u.spec.DMAIssue
	if u.program.Test.command() {
		delay = u.spec.Command
	}
	*u.queue.Push() = due{at: now + delay, context: c}
}

// collect takes the endpoint's answers.
func (u *Bench) collect(now clocked.Time) {
	for d := u.ports.Clients[0].Done.Peek(now); d != nil; d = u.ports.Clients[0].Done.Peek(now) {
		c := uint32(d.Cookie)
		u.ports.Clients[0].Done.Pop(now)
		if u.program.Test.command() {
			u.end(now, c)
			continue
		}
		u.storeAt = max(u.storeAt, now) + timeOf(u.program.Bytes, u.spec.StoreRate)
		*u.stored.Push() = due{at: u.storeAt + u.spec.ReadDone, context: c}
	}
	for d := u.ports.Clients[1].Done.Peek(now); d != nil; d = u.ports.Clients[1].Done.Peek(now) {
		*u.written.Push() = due{at: now + u.spec.WriteDone, context: uint32(d.Cookie)}
		u.ports.Clients[1].Done.Pop(now)
	}
}

// tell ends what is over: a write behind which a read is due goes on with it.
func (u *Bench) tell(now clocked.Time) {
	for u.stored.Len() > 0 && u.stored.Front().at <= now {
		u.slots++
		u.end(now, u.stored.Pop().context)
	}
	for u.written.Len() > 0 && u.written.Front().at <= now {
		c := u.written.Pop().context
		if u.program.Test == DMAWriteRead {
			u.contexts[c].write = false
			u.enqueue(now, c)
			continue
		}
		u.end(now, c)
	}
}

// end books a transfer and begins the context's next. The last ones, when
// contexts run dry, do not count.
func (u *Bench) end(now clocked.Time, c uint32) {
	u.ended++
	switch {
	case u.ended <= u.program.Warmup:
		u.first = now
	case u.ended <= u.program.Transfers-len(u.contexts):
		u.counted++
		u.latency += now - u.contexts[c].since
		u.last = now
	}
	u.begin(now, c)
}

// admit hands what has come through the queue to the engine, and commands to
// the link.
func (u *Bench) admit(now clocked.Time) {
	for u.queue.Len() > 0 && u.queue.Front().at <= now {
		c := u.queue.Front().context
		switch x := &u.contexts[c]; {
		case u.program.Test.command():
			if !u.command(now, c) {
				return
			}
		case x.write:
			u.fetchAt = max(u.fetchAt, now) + timeOf(u.program.Bytes, u.spec.FetchRate)
			*u.writes.Push() = due{at: u.fetchAt, context: c}
		default:
			*u.reads.Push() = c
		}
		u.queue.Pop()
	}
}

// command sends the next part of a command, and the part behind it while there
// is room; false: something is left.
func (u *Bench) command(now clocked.Time, c uint32) (all bool) {
	x := &u.contexts[c]
	for u.ports.Clients[0].Req.Ready(now) {
		*u.ports.Clients[0].Req.Push(now) = msg.DMA{Write: x.write, PA: x.pa, Len: u.program.Bytes, Cookie: uint64(c)}
		if !x.write {
			return true
		}
		x.write = false
	}
	return false
}

// issueReads sends reads while slots are free.
func (u *Bench) issueReads(now clocked.Time) {
	req := u.ports.Clients[0].Req
	for u.reads.Len() > 0 && u.slots > 0 && u.readAt <= now && req.Ready(now) {
		c := u.reads.Pop()
		*req.Push(now) = msg.DMA{PA: u.contexts[c].pa, Len: u.program.Bytes, Cookie: uint64(c)}
		u.slots--
		if u.program.Bytes%4 != 0 {
			u.readAt = now + u.spec.OddRead
		}
	}
}

// issueWrites sends the next piece of the oldest write when its time has come.
func (u *Bench) issueWrites(now clocked.Time) {
	req := u.ports.Clients[1].Req
	for u.writes.Len() > 0 && max(u.writes.Front().at, u.pieceAt) <= now && req.Ready(now) {
		c := u.writes.Front().context
		n := min(u.program.Bytes-u.offset, uint32(u.spec.WritePiece))
		last := u.offset+n == u.program.Bytes
		*req.Push(now) = msg.DMA{Write: true, Notify: last, PA: u.contexts[c].pa + model.PA(u.offset), Len: n, Cookie: uint64(c)}
		u.pieceAt = now + u.spec.PieceTime
		u.offset += n
		if !last {
			continue
		}
		u.offset = 0
		u.writes.Pop()
		if n > uint32(u.spec.WritePiece)/4*3 {
			u.pieceAt += u.spec.LongGap
		} else {
			u.pieceAt += u.spec.WriteGap
		}
	}
}

// arm wakes the device for what is due next. What has no room waits for its wire.
func (u *Bench) arm(now clocked.Time) {
	next := clocked.Never
	soonest := func(at clocked.Time) {
		if at > now {
			next = min(next, at)
		}
	}
	for _, f := range []*clocked.FIFO[due]{&u.queue, &u.stored, &u.written} {
		if f.Len() > 0 {
			soonest(f.Front().at)
		}
	}
	if u.reads.Len() > 0 && u.slots > 0 {
		soonest(u.readAt)
	}
	if u.writes.Len() > 0 {
		soonest(max(u.writes.Front().at, u.pieceAt))
	}
	if next < clocked.Never {
		u.engine.Wake(u.id, next)
	}
}
