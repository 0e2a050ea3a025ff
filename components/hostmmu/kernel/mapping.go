package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

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
		if !k.hasMapped(j, p) {
			return false
		}
	}
	return true
}

func (k *Kernel) hasMapped(j *job, p uint32) bool {
	pg := &k.pages[p]
	return pg.mapped&j.bit != 0 && (!j.write || pg.writable&j.bit != 0)
}

// unfilled is the first run of a job's pages, of which one at least is not mapped,
// that one command can fill: it takes no right to store away. For what is behind
// it the adapter faults again.
func (k *Kernel) unfilled(j *job) (first, count uint32) {
	for first = j.first; k.hasMapped(j, first); first++ {
	}
	for count = 1; first+count < j.first+j.count; count++ {
		if !j.write && k.pages[first+count].writable&j.bit != 0 {
			break
		}
	}
	return first, count
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
	first, count := k.unfilled(j)
	if j.waits = k.enterDomain(&k.adapters[j.event.adapter], first, count); j.waits == msg.NoPage {
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
	first, count := k.unfilled(j)
	k.encode(&j.cmd, j.region, j.bit, first, count, j.write)
	j.phase = jobFill
	k.send(now, &j.cmd)
	k.publish(now, j.region)
}
