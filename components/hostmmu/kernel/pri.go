package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/ats"
)

// jobKind is what a job answers.
type jobKind uint8

const (
	jobFault  jobKind = iota // an adapter's event: by table update and resume
	jobGroup                 // a page request group: by a response
	jobAbsent                // an untranslated request: not at all, it comes again
)

// ask is a page that a group wants; refused is one that the process has not, or
// not with that right.
type ask struct {
	page    uint32
	region  int
	write   bool
	refused bool
	waited  bool // a CPU fault had to be done or joined
}

// ring is the kernel's side of the IOMMU's page request ring, and of what it
// tells of absent pages.
type ring struct {
	entries   clocked.FIFO[msg.IOMMUEvent]
	ringing   bool // the handler is scheduled
	collector ats.Collector
}

// knows tells whether an absent page waits already to be looked at: who met it
// comes again and again.
func (k *Kernel) knows(e *msg.IOMMUEvent) bool {
	r := &k.ring
	for n := r.entries.Head(); n != r.entries.Tail(); n++ {
		x := r.entries.At(n)
		if x.Kind == msg.EventAbsent && x.Adapter == e.Adapter && (x.Write || !e.Write) && k.shift.Number(x.VA) == k.shift.Number(e.VA) {
			return true
		}
	}
	return false
}

// ringInterrupt schedules the ring's handler.
func (k *Kernel) ringInterrupt(now clocked.Time) {
	if !k.ring.ringing {
		k.ring.ringing = true
		k.after(now, k.spec.Fault.Interrupt, refer(actorRing, 0))
	}
}

// handleRing takes a batch of requests as long as there are contexts, and gives
// their places in the ring back.
func (k *Kernel) handleRing(now clocked.Time) {
	r, taken := &k.ring, uint32(0)
	r.ringing = false
	for r.entries.Len() > 0 {
		e := *r.entries.Front()
		var a ask
		if e.Kind == msg.EventAbsent {
			a = k.askFor(e.Adapter, &ats.PageRequest{PASID: PASID, VA: e.VA, Write: e.Write})
			if k.needless(now, e.Adapter, &a) {
				k.Stats.Absent++
				r.entries.Pop()
				continue
			}
		}
		if k.jobs.used >= k.spec.Fault.Contexts {
			k.Stats.Stalls++
			break
		}
		r.entries.Pop()
		if e.Kind == msg.EventPage {
			taken++
			k.takeRequest(now, &e)
			continue
		}
		k.Stats.Absent++
		j := k.newJob(now, event{adapter: e.Adapter}, jobAbsent)
		j.asks = append(j.asks, a)
	}
	if taken > 0 {
		k.submitAlone(msg.IOMMUCommand{Op: msg.FreeRing, Count: taken})
	}
	k.assign(now)
}

// takeRequest adds a page request to its group, and has the group served when
// it is whole. A stop marker ends nothing and is not answered.
func (k *Kernel) takeRequest(now clocked.Time, e *msg.IOMMUEvent) {
	k.Stats.PageRequests++
	if e.Lost { // the IOMMU has answered groups of which parts are here
		k.Stats.PartsDiscarded += uint64(k.ring.collector.Discard())
	}
	req := &e.Request.PageRequest
	if req.Last && !req.Read && !req.Write {
		k.Stats.StopMarkers++
	}
	group := k.ring.collector.Add(e.Adapter, ats.Part{PageRequest: *req})
	if group == nil {
		return
	}
	k.Stats.Events++
	if k.Dead(int(e.Adapter)) {
		k.Stats.Gone++
		return
	}
	j := k.newJob(now, event{adapter: e.Adapter}, jobGroup)
	j.response = ats.PageResponse{Group: req.Group, PASID: req.PASID}
	for n := range group {
		a := k.askFor(e.Adapter, &group[n].PageRequest)
		j.asks = append(j.asks, a)
		if a.refused { // the first error decides
			break
		}
	}
}

// needless tells whether a page that an untranslated request met absent is not
// to be brought in: it may not be, is already, or is on its way.
func (k *Kernel) needless(now clocked.Time, adapter uint16, a *ask) bool {
	if a.refused || k.Dead(int(adapter)) {
		return true
	}
	pg := &k.pages[a.page]
	if pg.state == pageResident && pg.flags&pageUpgrading == 0 && (!a.write || k.storable(a.page)) {
		k.Stats.Coalesced++
		k.markUsed(a)
		k.spare(now, a.page)
		return true
	}
	for _, j := range k.jobs.items {
		if j.live && j.kind == jobAbsent && j.asks[0].page == a.page && (j.asks[0].write || !a.write) {
			return true
		}
	}
	return false
}

// askFor finds the page of a request among what the process has registered with
// the adapter.
func (k *Kernel) askFor(adapter uint16, r *ats.PageRequest) ask {
	s, p := k.find(r.VA)
	if s == nil || r.PASID != PASID {
		return ask{refused: true}
	}
	for _, n := range s.regions {
		if g := &k.regions[n]; g.Adapter == int(adapter) && k.serves(n) && (g.Writable || !r.Write) {
			return ask{page: p, region: n, write: r.Write}
		}
	}
	return ask{refused: true}
}

// serve has the asked pages brought in one after the other. What is there is
// held, but never while the job waits for a frame, so that a group may be
// larger than memory.
func (k *Kernel) serve(now clocked.Time, i int) {
	j := k.jobs.items[i]
	for int(j.served) < len(j.asks) && !j.asks[j.served].refused {
		a := &j.asks[j.served]
		if k.needsFrame(a.page, a.write) && len(k.free) == 0 {
			k.letGoAsked(j)
		}
		if !k.ensure(now, a.page, a.write, byAdapter) {
			j.faulted, a.waited, j.waits = true, true, a.page
			return
		}
		k.markUsed(a)
		k.spare(now, a.page)
		k.hold(a.page)
		j.served++
	}
	if !j.faulted {
		k.Stats.Coalesced++
	}
	j.phase = jobUpdate
	k.after(now, k.spec.Fault.Update, refer(actorJob, i))
}

// markUsed does to a page-table entry what a CPU fault does. A store that asks
// for a page which is there met an entry from before the page was writable or,
// where the IOMMU sets no dirty bits, before it was dirty: that is flushed.
func (k *Kernel) markUsed(a *ask) {
	if !a.write {
		k.touched(a.page)
		return
	}
	k.dirty(a.page)
	if !a.waited {
		k.permitted(a.page)
	}
}

// permitted flushes what the IOTLB holds of a page that may be stored to. Nobody waits: what the process asks of the IOMMU later comes behind it.
func (k *Kernel) permitted(p uint32) {
	for _, r := range k.segmentOf(p).regions {
		if k.adapters[k.regions[r].Adapter].walks() {
			k.Stats.UpgradeFlushes++
			k.submitAlone(k.flushRange(PASID, p, 1, nil))
			return
		}
	}
}

// letGoAsked gives up the pages that a job holds.
func (k *Kernel) letGoAsked(j *job) {
	for ; j.released < j.served; j.released++ {
		k.release(j.asks[j.released].page)
	}
}

// respond answers a group, once; the adapter asks for the translations again.
func (k *Kernel) respond(now clocked.Time, i int) {
	j := k.jobs.items[i]
	for n := j.released; n < j.served; n++ {
		k.spare(now, j.asks[n].page)
	}
	whole := int(j.served) == len(j.asks)
	switch {
	case j.kind == jobAbsent:
	case k.Dead(int(j.event.adapter)):
		k.Stats.Gone++
	default:
		if !whole {
			j.response.Code = ats.ResponseInvalid
			k.Stats.Failed++
		} else {
			k.Stats.Resumed++
		}
		k.submitAlone(msg.IOMMUCommand{Op: msg.RespondPage, Adapter: j.event.adapter, PASID: j.response.PASID, Response: j.response})
	}
	if last := &j.asks[len(j.asks)-1]; whole && !k.Dead(int(j.event.adapter)) {
		k.prefetchAhead(now, last.region, last.page+1)
	}
	k.endJob(now, i)
}
