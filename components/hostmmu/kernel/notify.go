package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// notice is the invalidation of one adapter.
type notice struct {
	cmd       msg.Command    // to its table
	end       [2]msg.Command // of a suspension: what the entries become, and its end
	record    measure.Invalidation
	region    *Region
	bit       uint16
	write     bool // entries allowed stores
	abandoned bool // a command was never answered
}

// notify tells every adapter that may hold one of the pages: those with tables
// by command, then those that walk the page table by way of the IOMMU.
func (k *Kernel) notify(now clocked.Time, i int) {
	v := k.evictions.items[i]
	v.checked = now
	s := k.segmentOf(v.first)
	for n, r := range s.regions {
		if a := &k.adapters[k.regions[r].Adapter]; a.state == adapterAlive && a.hasTable() {
			k.prepare(i, 1<<n, &k.regions[r])
		}
	}
	v.tables = len(v.slots)
	for _, r := range s.regions {
		if a := &k.adapters[k.regions[r].Adapter]; a.state == adapterAlive && a.walks() && !v.tells(k.regions[r].Adapter) {
			k.notice(i, &k.regions[r], v.count)
		}
	}
	for p := v.first; p < v.first+v.count; p++ {
		if k.leaves(v, p) {
			v.dmaPages++
		}
	}
	if len(v.slots) == 0 {
		k.Stats.UnmappedInvalidations++
	}
	if v.tables == 0 {
		k.bookkeep(now, i, 0)
		return
	}
	v.phase = evictCommands
	k.tell(now, i)
}

// tells tells whether an adapter that walks is told already.
func (v *eviction) tells(adapter int) bool {
	for _, s := range v.slots[v.tables:] {
		if int(s.record.Adapter) == adapter {
			return true
		}
	}
	return false
}

// notice adds the notice of an adapter that has so many of the pages.
func (k *Kernel) notice(i int, r *Region, valid uint32) *notice {
	v := k.evictions.items[i]
	n := len(v.slots)
	if n < cap(v.slots) && v.slots[:n+1][n] != nil {
		v.slots = v.slots[:n+1]
	} else {
		v.slots = append(v.slots, new(notice))
	}
	s := v.slots[n]
	s.region, s.abandoned = r, false
	s.record = measure.Invalidation{ID: k.Stats.InvalidationsIssued, Adapter: uint16(r.Adapter), Trigger: v.trigger, Pages: valid,
		Notified: v.notified, Checked: v.checked}
	k.Stats.InvalidationsIssued++
	return s
}

// prepare makes the command for a region that maps some of the pages.
func (k *Kernel) prepare(i int, bit uint16, r *Region) {
	v := k.evictions.items[i]
	valid, from, to, writable := uint32(0), uint32(0), uint32(0), uint16(0)
	for p := v.first; p < v.first+v.count; p++ {
		if k.concerns(v, p, bit) {
			if valid == 0 {
				from = p
			}
			valid, to = valid+1, p
			writable |= k.pages[p].writable
		}
	}
	if valid == 0 {
		return
	}
	s := k.notice(i, r, valid)
	s.bit, s.write = bit, writable&bit != 0
	entry, _, _ := k.entriesOf(r, from)
	last, count, _ := k.entriesOf(r, to)
	s.cmd = msg.Command{Op: k.command(v), Owner: uint32(refer(actorCommand, i)), Adapter: uint16(r.Adapter), Entry: entry,
		Count: uint32(last + uint64(count) - entry), Moving: v.target != noFrame, Record: &s.record}
	if k.adapters[r.Adapter].config.Scheme == Suspend && v.change == changeNone {
		k.suspend(s)
	}
}

// tell posts the next command, or all of them.
func (k *Kernel) tell(now clocked.Time, i int) {
	v := k.evictions.items[i]
	for v.told < v.tables && (v.told == v.acked || k.spec.Notifier.Order == "parallel") {
		k.send(now, &v.slots[v.told].cmd)
		v.told++
	}
}

// acknowledged: an adapter uses the pages no more, or was cut off. After the
// last one they may leave the DMA domain.
func (k *Kernel) acknowledged(now clocked.Time, c *msg.Command, i int, timedOut bool) {
	v := k.evictions.items[i]
	c.Record.TimedOut = timedOut
	if timedOut {
		k.Stats.InvalidationsTimedOut++
		for _, s := range v.slots {
			s.abandoned = s.abandoned || c == &s.cmd
		}
	} else {
		c.Record.Acknowledged = now
		k.Stats.InvalidationsAcknowledged++
	}
	v.acked++
	if v.acked < v.tables {
		k.tell(now, i)
		return
	}
	v.answered(now)
	k.bookkeep(now, i, k.spec.Notifier.Updates)
}

// answered: no adapter told so far is waited for. Of adapters with tables and
// such without, the later instant stays.
func (v *eviction) answered(now clocked.Time) {
	for _, s := range v.slots {
		s.record.Others = now
	}
}

// bookkeep takes software's time behind the adapters with tables.
func (k *Kernel) bookkeep(now clocked.Time, i int, d clocked.Time) {
	v := k.evictions.items[i]
	v.phase = evictUpdates
	if d += clocked.Time(v.dmaPages) * k.spec.DMA.Unmap; d == 0 {
		k.unmap(now, i)
		return
	}
	k.after(now, d, refer(actorEviction, i))
}

// flushIOTLB has the IOMMU forget the pages.
func (k *Kernel) flushIOTLB(i int) {
	v := k.evictions.items[i]
	if v.departed > 0 {
		k.submit(k.flushRange(0, v.first, v.count, &v.domain))
	}
	if v.tables < len(v.slots) {
		k.submit(k.flushRange(PASID, v.first, v.count, &v.process))
	}
}

// tellWalkers has the next adapter that walks invalidated, or all of them, and
// a fence behind that and behind the IOTLB's flush.
func (k *Kernel) tellWalkers(i int) {
	v := k.evictions.items[i]
	for v.told < len(v.slots) && (v.told == v.acked || k.spec.Notifier.Order == "parallel") {
		s := v.slots[v.told]
		v.told++
		if a := s.record.Adapter; k.adapters[a].config.Scheme == SVA {
			k.submit(msg.IOMMUCommand{Op: msg.DevTLBInvalidate, Adapter: a, PASID: PASID, First: k.vaOf(v.first),
				Len: uint64(v.count) << k.shift, Record: &s.record})
		}
	}
	k.submit(msg.IOMMUCommand{Op: msg.Fence, Owner: uint32(refer(actorFence, i))})
}

// fenced: what was asked of the IOMMU is done, save by adapters that timed out.
// Each command says so itself, so that whoever asked others asks nothing again.
func (k *Kernel) fenced(now clocked.Time, i int) {
	v := k.evictions.items[i]
	if v.acked == v.tables { // the first fence, which is behind the flush
		k.flushedPages(now-v.departure, v.departed)
	}
	for ; v.acked < v.told; v.acked++ {
		r := &v.slots[v.acked].record
		if r.TimedOut {
			k.Stats.InvalidationsTimedOut++
			continue
		}
		k.Stats.InvalidationsAcknowledged++
		if k.adapters[r.Adapter].config.Scheme != SVA {
			r.Sent, r.Acknowledged = v.process.Sent, now
		}
	}
	k.proceed(now, i)
}

// proceed goes on behind a fence when no adapter is on its way off the bus.
func (k *Kernel) proceed(now clocked.Time, i int) {
	v := k.evictions.items[i]
	v.phase = evictFence
	for _, s := range v.slots[v.tables:v.told] {
		if s.record.TimedOut && k.adapters[s.record.Adapter].state == adapterStopping {
			v.phase = evictDisable
			return
		}
	}
	if v.told < len(v.slots) {
		k.tellWalkers(i)
		return
	}
	if v.tables < len(v.slots) {
		v.answered(now)
	}
	for n, s := range v.slots {
		switch {
		case n >= v.tables:
			s.record.IOTLB = v.process.IOTLB
		case v.departed > 0 && k.adapters[s.record.Adapter].domain():
			s.record.IOTLB = v.domain.IOTLB
		}
		s.abandoned = s.abandoned || s.record.TimedOut
	}
	k.unmapped(now, i)
}
