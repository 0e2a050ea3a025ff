package iommu

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/ats"
)

// adapterClient is the adapter's client that takes messages: its translation
// unit.
const adapterClient = 1

// devTLB is what the unit keeps for the invalidations of an adapter's copies.
type devTLB struct {
	tags     *ats.Tags
	requests [ats.MaxTags]msg.Invalidate // by ITag
	owners   [ats.MaxTags]uint32         // number of the invalidation, by ITag
	open     int                         // Invalidate Requests neither complete nor timed out
}

// outstanding is an Invalidate Request that was sent.
type outstanding struct {
	command  *msg.IOMMUCommand
	deadline clocked.Time
	adapter  uint16
	itag     uint8
	open     bool
}

// tagged tells how an attempt to send an Invalidate Request ended.
type tagged uint8

const (
	sent    tagged = iota
	waits          // all ITags are busy
	givenUp        // all ITags are lost to requests that timed out
)

// invalidateDevTLB sends an Invalidate Request. The adapter's copies of the range
// may stay in use until its completion.
func (u *Unit) invalidateDevTLB(now clocked.Time, c *msg.IOMMUCommand, r ats.Range) tagged {
	a := &u.adapters[c.Adapter]
	number := u.invalidations.Tail()
	itag, ok := a.tags.Allocate(number)
	switch {
	case !ok && a.open > 0:
		return waits
	case !ok:
		c.TimedOut = true
		u.stats.TimedOut++
		return givenUp
	}
	u.stats.DevTLBInvalidates++
	a.open++
	a.owners[itag] = number
	*u.invalidations.Push() = outstanding{command: c, deadline: now + u.spec.ATSTimeout, adapter: c.Adapter, itag: itag, open: true}
	a.requests[itag] = msg.Invalidate{Record: c.Record,
		InvalidateRequest: ats.InvalidateRequest{ITag: itag, PASID: c.PASID, Range: r}}
	if c.Record != nil {
		c.Record.Sent = now
	}
	u.send(a, msg.Doorbell{Client: adapterClient, Len: invalidateBytes, Body: &a.requests[itag]})
	return sent
}

// send sends a message to an adapter behind this IOMMU.
func (u *Unit) send(a *adapter, m msg.Doorbell) {
	m.Message, m.Adapter = true, a.index
	*a.root.messages.Push() = m
}

// invalidateBytes are the data of an Invalidate Request.
const invalidateBytes = 8

// credit books an Invalidate Completion: the writes before it are in memory.
func (u *Unit) credit(now clocked.Time, a *adapter, c ats.InvalidateCompletion) {
	done, unexpected := a.tags.Complete(c)
	u.stats.UnexpectedCompletions += uint64(bits.OnesCount32(unexpected))
	for ; done != 0; done &= done - 1 {
		o := u.invalidations.At(a.owners[bits.TrailingZeros32(done)])
		o.open = false
		a.open--
		if r := o.command.Record; r != nil {
			r.Acknowledged, r.DevTLB = now, now
		}
	}
}

// giveUp times out the requests whose time is over, and forgets those that are
// complete. Requests are sent in the order of their deadlines.
func (u *Unit) giveUp(now clocked.Time) {
	for u.invalidations.Len() > 0 {
		o := u.invalidations.Front()
		if o.open && o.deadline > now {
			if u.armed != o.deadline {
				u.armed = o.deadline
				u.engine.Wake(u.id, o.deadline)
			}
			return
		}
		if o.open {
			a := &u.adapters[o.adapter]
			a.tags.TimeOut(o.itag)
			a.requests[o.itag].Record = nil // the kernel's again: a late adapter stamps nothing
			a.open--
			o.command.TimedOut = true
			u.stats.TimedOut++
		}
		u.invalidations.Pop()
	}
}
