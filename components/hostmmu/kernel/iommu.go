package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// iommuQueue is the kernel's side of the IOMMU's command queue.
type iommuQueue struct {
	queue clocked.FIFO[*msg.IOMMUCommand] // for the wire
	out   clocked.FIFO[*msg.IOMMUCommand] // the IOMMU's, until a fence behind them is complete
	pool  msg.Pool[msg.IOMMUCommand]
	loose int // commands behind the last fence
}

// reclaimAfter is how many commands without a fence behind them the kernel
// lets go before it asks for them back.
const reclaimAfter = 64

// submit queues a command; it belongs to the IOMMU until a later fence.
func (k *Kernel) submit(c msg.IOMMUCommand) {
	q := &k.iommu
	q.loose++
	switch c.Op {
	case msg.IOTLBInvalidate:
		k.Stats.IOTLBFlushes++
	case msg.Fence:
		k.Stats.Fences++
		q.loose = 0
	}
	p := q.pool.Get()
	*p = c
	*q.queue.Push() = p
}

// submitAlone queues a command that nobody waits for.
func (k *Kernel) submitAlone(c msg.IOMMUCommand) {
	k.submit(c)
	if k.iommu.loose >= reclaimAfter {
		k.submit(msg.IOMMUCommand{Op: msg.Fence})
	}
}

// postIOMMU hands out commands as far as the wire takes them. Nothing is asked
// of an adapter that was cut off.
func (k *Kernel) postIOMMU(now clocked.Time) {
	q := &k.iommu
	for q.queue.Len() > 0 {
		c := *q.queue.Front()
		toAdapter := c.Op == msg.DevTLBInvalidate || c.Op == msg.RespondPage
		if toAdapter && k.adapters[c.Adapter].state != adapterAlive {
			c.TimedOut = true
		} else {
			if !k.ports.IOMMU.Ready(now) {
				return
			}
			*k.ports.IOMMU.Push(now) = c
			if c.Op == msg.IOTLBInvalidate && c.Record != nil {
				c.Record.Sent = now
			}
		}
		*q.out.Push() = q.queue.Pop()
	}
}

// takeIOMMU takes in what the IOMMU tells.
func (k *Kernel) takeIOMMU(now clocked.Time) {
	if k.ports.IOMMUEvents == nil {
		return
	}
	for e := k.ports.IOMMUEvents.Peek(now); e != nil; e = k.ports.IOMMUEvents.Peek(now) {
		switch {
		case e.Kind == msg.EventFence:
			k.fenceDone(now, e.Command)
		case e.Kind == msg.EventAbsent && k.knows(e):
			k.Stats.Absent++
		default:
			*k.ring.entries.Push() = *e
			k.ringInterrupt(now)
		}
		k.ports.IOMMUEvents.Pop(now)
	}
}

// fenceDone takes the commands up to a fence back. Adapters that did not answer
// are cut off.
func (k *Kernel) fenceDone(now clocked.Time, fence *msg.IOMMUCommand) {
	q := &k.iommu
	who := ref(fence.Owner)
	for last := false; !last && q.out.Len() > 0; {
		c := q.out.Pop()
		last = c == fence
		if c.TimedOut && c.Op == msg.DevTLBInvalidate {
			if c.Record != nil {
				c.Record.TimedOut = true
			}
			k.disable(now, int(c.Adapter))
		}
		q.pool.Put(c)
	}
	switch who.actor() {
	case actorFence:
		k.fenced(now, who.index())
	case actorLazy:
		k.lazyFlushed(now)
	case actorRegion:
		k.domainFlushed(now, who.index())
	}
}

// flushRange is the IOTLB flush of a run of pages in an address space.
func (k *Kernel) flushRange(pasid, first, count uint32, record *measure.Invalidation) msg.IOMMUCommand {
	return msg.IOMMUCommand{Op: msg.IOTLBInvalidate, PASID: pasid, First: k.vaOf(first), Len: uint64(count) << k.shift, Record: record}
}
