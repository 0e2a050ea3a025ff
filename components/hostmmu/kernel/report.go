package kernel

import (
	"fmt"

	"rnicmmu/components/msg"
)

// Idle tells whether no fault, invalidation, CPU access or page operation is
// in flight.
func (k *Kernel) Idle() bool {
	for i := range k.threads {
		if k.threads[i].active {
			return false
		}
	}
	for i := range k.adapters {
		if k.adapters[i].state == adapterStopping {
			return false
		}
	}
	if k.child.live || k.prefetches.used+k.orders.used+k.registrar.changing+k.registrar.out.Len() > 0 {
		return false
	}
	return k.events.Len() == 0 && k.ring.entries.Len() == 0 && k.jobs.used == 0 && k.pageIns.used == 0 && k.evictions.used == 0 && k.ops.Len() == 0 && k.lazy.flushing == 0 && k.iommu.queue.Len() == 0
}

var jobWaits = [...]string{"a worker", "its pages", "the table", "the table update", "the resume"}

var evictionWaits = [...]string{
	evictCommands: "table commands", evictFence: "the IOMMU's fence",
	evictDisable: "a root port to be cut off", evictContent: "",
}
var requestNames = [...]string{"registration", "deregistration", "fast registration", "local invalidation"} // of those that take time

var regionWaits = [...]string{"nothing", "the system call", "its pages", "the table", "the snapshot", "the key",
	"its users", "the table to be cleared", "DMA unmapping", "the IOTLB's flush", "the unpinning"}

// Waits says in a line each what the kernel waits for.
func (k *Kernel) Waits() []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, k.name+": "+fmt.Sprintf(format, args...)) }
	if k.events.Len() > 0 {
		add("%d page-fault events wait for a context", k.events.Len())
	}
	for _, j := range k.jobs.items {
		if !j.live {
			continue
		}
		at := ""
		if j.waits != msg.NoPage {
			at = fmt.Sprintf(" (page %d)", j.waits)
		}
		if j.kind != jobFault {
			add("page request group %d of adapter %d waits for %s%s since %v", j.response.Group, j.event.adapter, jobWaits[j.phase], at, j.since)
			continue
		}
		add("fault of QP %d, token %v, waits for %s%s since %v", j.event.QP, j.event.Token, jobWaits[j.phase], at, j.since)
	}
	for _, f := range k.prefetches.items {
		if f.live {
			add("prefetch for region %d has %d pages to go", f.region, f.end-f.at+f.pages())
		}
	}
	for i := range k.registrar.regions {
		if d := &k.registrar.regions[i]; d.phase != regionRest {
			add("%s of region %d waits for %s since %v", requestNames[d.request.Op], i, regionWaits[d.phase], d.since)
		}
	}
	if k.child.live {
		add("a child shares pages %d-%d and has %d frames", k.child.first, k.child.end-1, len(k.child.frames))
	}
	if n := k.frameWaiters.Len(); n > 0 {
		add("%d faults wait for a frame; %d pages are on their way out", n, k.evicting)
	}
	for i := range k.threads {
		if t := &k.threads[i]; t.active && t.waits != msg.NoPage {
			add("CPU thread %d waits for page %d since %v", i, t.waits, t.began)
		}
	}
	for _, v := range k.evictions.items {
		if at := evictionWaits[v.phase]; v.live && at != "" {
			add("invalidation of pages %d-%d waits for %s; %d of %d adapters have acknowledged", v.first, v.first+v.count-1, at, v.acked, len(v.slots))
		}
	}
	for i := range k.adapters {
		a := &k.adapters[i]
		if a.queue.Len()+a.open > 0 {
			add("adapter %d: %d table commands posted, %d queued", i, a.open, a.queue.Len())
		}
		if a.state == adapterStopping {
			add("adapter %d did not answer in time and is being cut off", i)
		}
	}
	if n := k.orders.used; n > 0 {
		add("%d changes of children of implicit regions wait for their adapters", n)
	}
	if n := k.iommu.queue.Len(); n > 0 {
		add("%d commands wait for the IOMMU", n)
	}
	return lines
}
