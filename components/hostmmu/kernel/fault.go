package kernel

import (
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

// resume posts the end of a job's fault.
func (k *Kernel) resume(now clocked.Time, i int, failed bool) {
	j := k.jobs.items[i]
	j.cmd = msg.Command{Op: msg.CmdResume, Failed: failed, Token: j.event.Token, Owner: uint32(refer(actorJob, i)),
		Adapter: j.event.adapter, PA: j.cmd.PA[:0]}
	j.phase = jobResume
	k.send(now, &j.cmd)
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
