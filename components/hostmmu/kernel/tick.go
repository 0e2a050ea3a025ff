package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// Tick takes in what has arrived, does what is due, and posts the results.
func (k *Kernel) Tick(now clocked.Time) {
	k.takeInbox(now)
	k.takePageDone(now)
	k.takeIOMMU(now)
	k.takeRegistrations(now)
	for {
		for k.timers.due(now) {
			k.fire(now, k.timers.pop())
		}
		if !k.reclaim(now) && !k.review(now) {
			break
		}
	}
	k.post(now)
	if len(k.timers.heap) > 0 {
		k.engine.Wake(k.id, k.timers.heap[0].at)
	}
	if len(k.free)+k.resident+k.transit+k.held != len(k.frames) {
		k.Stats.FrameErrors++
	}
}

func (k *Kernel) fire(now clocked.Time, who ref) {
	switch i := who.index(); who.actor() {
	case actorHandler:
		k.handleEvents(now)
	case actorJob:
		k.stepJob(now, i)
	case actorPageIn:
		k.stepPageIn(now, i)
	case actorEviction:
		k.stepEviction(now, i)
	case actorFrame:
		k.swappedOut(uint32(i))
	case actorThread:
		k.stepThread(now, i)
	case actorRing:
		k.handleRing(now)
	case actorLazy:
		k.lazyDue(now)
	case actorWatch:
		k.watch(now, i)
	case actorDisable:
		k.bury(now, i)
	case actorEvent:
		k.randomEvent(now, kind(i))
	case actorChild:
		k.child.over = true
		k.exit(now)
	case actorPrefetch:
		k.stepPrefetch(now, i)
	case actorRegion:
		k.stepRegion(now, i)
	}
}

func (k *Kernel) after(now, d clocked.Time, who ref) { k.timers.set(now+d, who) }

// post hands out commands and page operations as far as the wires take them.
func (k *Kernel) post(now clocked.Time) {
	for i := range k.adapters {
		k.postCommands(now, i)
	}
	for k.ops.Len() > 0 && k.ports.PageOp.Ready(now) {
		*k.ports.PageOp.Push(now) = k.ops.Pop()
	}
	k.postIOMMU(now)
	k.answer(now)
}

func (k *Kernel) takePageDone(now clocked.Time) {
	for d := k.ports.PageDone.Peek(now); d != nil; d = k.ports.PageDone.Peek(now) {
		if d.Lost {
			k.Stats.LostPages++
		}
		switch who := ref(d.Cookie); who.actor() {
		case actorPageIn:
			k.pageArrived(now, who.index())
		case actorFrame:
			k.frameDone(now, uint32(who.index()), d)
		case actorThread:
			k.accessed(now, who.index())
		case actorOrphan:
			k.takeBack(now, uint32(who.index()))
		}
		k.ports.PageDone.Pop(now)
	}
}

// wake lets everything that waits for a page look again.
func (k *Kernel) wake(now clocked.Time, p uint32) {
	for i, j := range k.jobs.items {
		if j.waits == p {
			j.waits = msg.NoPage
			k.after(now, 0, refer(actorJob, i))
		}
	}
	for i := range k.threads {
		if t := &k.threads[i]; t.waits == p {
			t.waits = msg.NoPage
			k.after(now, 0, refer(actorThread, i))
		}
	}
	k.wakePrefetches(now, p)
	k.wakeRegions(now, p)
}
