package kernel

import (
	"sort"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/ats"
	"rnicmmu/model/key"
)

// event is an entry of an adapter's event queue.
type event struct {
	msg.Event
	adapter uint16
}

// jobPhase is what happens when a job is stepped.
type jobPhase uint8

const (
	jobQueued jobPhase = iota // for a worker
	jobMap                    // make the pages present
	jobUpdate                 // check the sequence and write the adapter's table
	jobFill                   // the table command is out
	jobResume                 // the resume command is out
)

// job is a fault context: one event from the queue to its resume, or one page
// request group to its response.
type job struct {
	kind    jobKind
	event   event
	live    bool
	order   uint64 // of leaving the event queue
	region  *Region
	child   key.Key // of an implicit region, which the job uses
	bit     uint16
	phase   jobPhase
	counted bool // as minor, major or coalesced
	first   uint32
	count   uint32 // pages wanted
	got     uint32 // pages held
	faulted bool   // it had to do, or join, a CPU fault
	write   bool
	seqs    []uint32 // of the pages, when the walk began
	waits   uint32   // page, or msg.NoPage
	walking bool     // seqs of the page at got is taken
	since   clocked.Time
	cmd     msg.Command

	asks             []ask // of a group, up to the first that is refused
	served, released uint32
	response         ats.PageResponse
}

// interrupt schedules the event handler.
func (k *Kernel) interrupt(now clocked.Time) {
	if !k.handling {
		k.handling = true
		k.after(now, k.spec.Fault.Interrupt, refer(actorHandler, 0))
	}
}

// handleEvents takes events off the queue as long as there are contexts; what
// is left stays there until a context is free.
func (k *Kernel) handleEvents(now clocked.Time) {
	k.handling = false
	for k.events.Len() > 0 {
		if k.jobs.used >= k.spec.Fault.Contexts {
			k.Stats.Stalls++
			break
		}
		k.Stats.Events++
		e := k.events.Pop()
		if k.Dead(int(e.adapter)) {
			k.Stats.Gone++
			continue
		}
		k.newJob(now, e, jobFault)
	}
	k.assign(now)
}

// newJob takes a context and queues it for a worker.
func (k *Kernel) newJob(now clocked.Time, e event, kind jobKind) *job {
	i := k.jobs.get()
	j := k.jobs.items[i]
	k.taken++
	*j = job{kind: kind, event: e, live: true, order: k.taken, waits: msg.NoPage, seqs: j.seqs[:0], asks: j.asks[:0], since: now,
		cmd: msg.Command{PA: j.cmd.PA[:0]}}
	*k.runnable.Push() = i
	return j
}

// assign gives queued jobs to idle workers.
func (k *Kernel) assign(now clocked.Time) {
	for k.runnable.Len() > 0 && k.working < k.spec.Fault.Workers {
		i := k.runnable.Pop()
		k.working++
		j := k.jobs.items[i]
		pages := uint32(len(j.asks))
		if j.kind == jobFault {
			k.locate(j)
			pages = j.count
			if j.region != nil {
				j.child = k.enter(now, j.region)
			}
		}
		j.phase = jobMap
		more := clocked.Time(max(pages, 1) - 1)
		k.after(now, k.spec.Fault.Driver+more*k.spec.Fault.DriverPage, refer(actorJob, i))
	}
}

// locate finds the region and pages that an event asks for; region stays nil
// for what no region covers or allows.
func (k *Kernel) locate(j *job) {
	e := &j.event
	a := &k.adapters[e.adapter]
	if a.implicit != nil {
		e.Entry = k.entryAt(a, e.VA)
	}
	at := sort.Search(len(a.regions), func(i int) bool { return k.regions[a.regions[i]].FirstEntry > e.Entry }) - 1
	if at < 0 {
		return
	}
	if !k.serves(a.regions[at]) {
		return
	}
	r := &k.regions[a.regions[at]]
	last := e.Entry + uint64(max(e.Count, 1)) - 1
	if end := r.FirstEntry + a.shift.Span(r.VA, r.Length); a.implicit != nil && e.Entry < end {
		last = min(last, end-1) // beyond the region, or the child, the adapter faults again
	}
	if last-r.FirstEntry >= a.shift.Span(r.VA, r.Length) || e.Write && !r.Writable {
		return
	}
	page := func(entry uint64) uint32 {
		va := r.pages.VA(entry - r.FirstEntry)
		return r.FirstPage + uint32(k.shift.Number(va)-k.shift.Number(r.VA))
	}
	j.region = r
	j.first = page(e.Entry)
	s := k.segmentOf(j.first)
	// Beyond the segment, and what memory can hold at once, the adapter faults again.
	j.count = min(page(last)+1-j.first, s.end-j.first, k.unpinned())
	j.bit = s.bit(a.regions[at])
	j.write = r.Writable && (e.Write || k.spec.Pager.ReadFaultsWrite)
}

// stepJob goes on with a job.
func (k *Kernel) stepJob(now clocked.Time, i int) {
	j := k.jobs.items[i]
	switch {
	case j.kind != jobFault && j.phase == jobMap:
		k.serve(now, i)
	case j.kind != jobFault:
		k.respond(now, i)
	case k.Dead(int(j.event.adapter)):
		if j.phase == jobMap || j.phase == jobUpdate { // else its command ends with the adapter
			k.Stats.Gone++
			k.endJob(now, i)
		}
	case j.region == nil:
		k.resume(now, i, true)
	case j.phase == jobMap:
		k.mapPages(now, i)
	case j.phase == jobUpdate:
		k.update(now, i)
	}
}

// mapPages makes the wanted pages present one by one, each held once it is.
func (k *Kernel) mapPages(now clocked.Time, i int) {
	j := k.jobs.items[i]
	for j.got < j.count {
		p := j.first + j.got
		pg := &k.pages[p]
		if pg.state == pageEvicting {
			j.waits = p // read_begin waits while an invalidation is in progress
			j.walking = false
			return
		}
		if j.got > 0 && k.needsFrame(p, j.write) && len(k.free) == 0 {
			if k.yields(now, j, p) {
				return
			}
			if j.got == j.count {
				break
			}
		}
		if !j.walking {
			j.walking = true
			j.seqs = append(j.seqs[:j.got], pg.seq)
		}
		if !k.ensure(now, p, j.write, byAdapter) {
			j.faulted = true
			j.waits = p
			return
		}
		if pg.seq != j.seqs[j.got] {
			k.Stats.Retries++
			j.seqs[j.got] = pg.seq
		}
		k.hold(p)
		j.got++
		j.walking = false
	}
	if !j.faulted && !j.counted && !k.isMapped(j) {
		k.Stats.Minor++ // present for the CPU: the walk is all
	}
	j.counted = true
	j.phase = jobUpdate
	k.after(now, k.spec.Fault.Update+k.mapTime(&k.adapters[j.event.adapter], j.first, j.count), refer(actorJob, i))
}

// yields deals with a job that holds pages and would wait for a frame: jobs that
// do could wait for each other, so that only the eldest does, and the others let
// go and walk again. What memory cannot hold at once, for registrations have
// pinned frames meanwhile, the adapter faults for again.
func (k *Kernel) yields(now clocked.Time, j *job, p uint32) bool {
	if j.got >= k.unpinned() {
		j.count = j.got
		return false
	}
	if k.eldest(j) {
		return false
	}
	k.letGo(j)
	k.ensure(now, p, j.write, byAdapter)
	j.faulted, j.waits = true, p
	return true
}

// eldest tells whether no older fault is making its pages present.
func (k *Kernel) eldest(j *job) bool {
	for _, other := range k.jobs.items {
		if other.live && other.phase == jobMap && other.order < j.order {
			return false
		}
	}
	return true
}

// isMapped tells whether the adapter's table has all pages with the right
// wanted.
func (k *Kernel) isMapped(j *job) bool {
	for p := j.first; p < j.first+j.count; p++ {
		pg := &k.pages[p]
		if pg.mapped&j.bit == 0 || j.write && pg.writable&j.bit == 0 {
			return false
		}
	}
	return true
}

// update writes the adapter's table if nothing was invalidated since the walk
// began; else the walk is done again.
func (k *Kernel) update(now clocked.Time, i int) {
	j := k.jobs.items[i]
	if !k.unchanged(j) {
		k.spareHeld(now, j)
		k.letGo(j)
		if now-j.since >= k.spec.Fault.Deadline {
			k.Stats.TryAgain++
			k.resume(now, i, false) // the adapter faults again if it must
			return
		}
		k.Stats.Retries++
		old := j.child
		j.child = k.enter(now, j.region)
		k.leave(now, j.region.Adapter, old)
		j.phase = jobMap
		k.mapPages(now, i)
		return
	}
	if k.isMapped(j) {
		// Another fault's fill may still be out; the queue keeps the resume behind it.
		k.Stats.Coalesced++
		k.publish(now, j.region)
		k.resume(now, i, false)
		return
	}
	if j.waits = k.enterDomain(&k.adapters[j.event.adapter], j.first, j.count); j.waits == msg.NoPage {
		k.fill(now, i)
	}
}

// unchanged tells whether neither a page nor the child that a job has looked at
// was taken away since.
func (k *Kernel) unchanged(j *job) bool {
	for n := range j.count {
		if pg := &k.pages[j.first+n]; pg.state != pageResident || pg.seq != j.seqs[n] {
			return false
		}
	}
	return k.attached(j.region.Adapter, j.child, j.region.VA)
}

// letGo gives up the pages held.
func (k *Kernel) letGo(j *job) {
	for p := j.first; p < j.first+j.got; p++ {
		k.release(p)
	}
	j.got = 0
	j.walking = false
}

// fill posts the table update of a job's pages.
func (k *Kernel) fill(now clocked.Time, i int) {
	j := k.jobs.items[i]
	j.cmd = msg.Command{Owner: uint32(refer(actorJob, i)), PA: j.cmd.PA[:0]}
	k.encode(&j.cmd, j.region, j.bit, j.first, j.count, j.write)
	j.phase = jobFill
	k.send(now, &j.cmd)
	k.publish(now, j.region)
}

// resume posts the end of a job's fault.
func (k *Kernel) resume(now clocked.Time, i int, failed bool) {
	j := k.jobs.items[i]
	j.cmd = msg.Command{Op: msg.CmdResume, Failed: failed, Token: j.event.Token, Owner: uint32(refer(actorJob, i)),
		Adapter: j.event.adapter, PA: j.cmd.PA[:0]}
	j.phase = jobResume
	k.send(now, &j.cmd)
}

// send puts a command into its adapter's queue.
func (k *Kernel) send(now clocked.Time, c *msg.Command) {
	c.Posts = max(1, (c.Count+uint32(k.spec.Command.Chunk)-1)/uint32(k.spec.Command.Chunk))
	a := &k.adapters[c.Adapter]
	*a.queue.Push() = c
	if a.state == adapterDead {
		k.after(now, 0, refer(actorDisable, int(c.Adapter)))
	}
}

// jobCompleted goes on after a job's command, or ends the job with its adapter.
func (k *Kernel) jobCompleted(now clocked.Time, i int, timedOut bool) {
	j := k.jobs.items[i]
	switch {
	case timedOut:
		k.Stats.Gone++
		k.letGo(j)
		k.leave(now, int(j.event.adapter), j.child)
		k.jobs.items[i] = &job{waits: msg.NoPage} // the adapter may still write to the old one's command
	case j.phase == jobFill:
		k.resume(now, i, false)
		return
	case j.cmd.Failed:
		k.Stats.Failed++
	default:
		k.Stats.Resumed++
		if j.got > 0 {
			k.prefetchAhead(now, k.segmentOf(j.first).regionOf(j.bit), j.first+j.count)
		}
	}
	k.spareHeld(now, j)
	k.endJob(now, i)
}

// endJob frees a job's context and worker for what waits.
func (k *Kernel) endJob(now clocked.Time, i int) {
	j := k.jobs.items[i]
	k.letGo(j)
	k.letGoAsked(j)
	k.leave(now, int(j.event.adapter), j.child)
	j.live, j.child = false, 0
	k.jobs.put(i)
	k.working--
	k.assign(now)
	if k.events.Len() > 0 {
		k.handleEvents(now)
	}
	if k.ring.entries.Len() > 0 {
		k.handleRing(now)
	}
}
