package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// answered takes a command off those that an adapter owes an answer.
func (a *adapter) answered(c *msg.Command) {
	for n := a.sent.Head(); n != a.sent.Tail(); n++ {
		if s := a.sent.At(n); s.cmd == c {
			s.cmd = nil
			a.open--
			break
		}
	}
	for a.sent.Len() > 0 && a.sent.Front().cmd == nil {
		a.sent.Pop()
	}
}

// firstLook is when an adapter's oldest command is looked after first. Looks
// come as far apart as the command is old, so that none is left to happen long
// after the last command was answered.
const firstLook = 100 * clocked.Microsecond

// startWatch looks after an adapter's oldest command. One timer does for all.
func (k *Kernel) startWatch(now clocked.Time, i int) {
	if a := &k.adapters[i]; !a.watched && k.spec.Notifier.Timeout > 0 {
		a.watched = true
		k.after(now, min(firstLook, k.spec.Notifier.Timeout), refer(actorWatch, i))
	}
}

// watch gives an adapter up when its oldest command is unanswered for too long.
func (k *Kernel) watch(now clocked.Time, i int) {
	a := &k.adapters[i]
	a.watched = false
	if a.sent.Len() == 0 || a.state != adapterAlive {
		return
	}
	sent := a.sent.Front().at
	due := sent + k.spec.Notifier.Timeout
	if due <= now {
		k.disable(now, i)
		return
	}
	a.watched = true
	k.timers.set(min(due, now+max(firstLook, now-sent)), refer(actorWatch, i))
}

// disable cuts an adapter off: from here on nothing that it says counts.
func (k *Kernel) disable(now clocked.Time, i int) {
	a := &k.adapters[i]
	if a.state != adapterAlive {
		return
	}
	a.state = adapterStopping
	k.Stats.DeadAdapters++
	k.cutOff(now, i)
}

// cutOff tells the root port of a stopping adapter to take no more requests,
// and gives it the time that what it has taken needs to reach memory.
func (k *Kernel) cutOff(now clocked.Time, i int) {
	a, mmio := &k.adapters[i], k.ports.Adapters[i].MMIO
	if a.cut || !mmio.Ready(now) {
		return
	}
	a.cut = true
	*mmio.Push(now) = msg.Doorbell{Adapter: uint16(i), Disable: true}
	k.after(now, k.spec.Notifier.Disable, refer(actorDisable, i))
}

// bury ends all that waits for an adapter that is cut off, or that was asked of
// it since.
func (k *Kernel) bury(now clocked.Time, i int) {
	a := &k.adapters[i]
	a.state = adapterDead
	for a.sent.Len() > 0 {
		if c := a.sent.Pop().cmd; c != nil {
			a.open--
			k.finish(now, c, true)
		}
	}
	for a.queue.Len() > 0 {
		k.finish(now, a.queue.Pop(), true)
	}
	for n, v := range k.evictions.items {
		if v.live && v.phase == evictDisable {
			k.proceed(now, n)
		}
	}
}

// Dead tells whether an adapter did not answer in time and was cut off: what it
// had under way may never end.
func (k *Kernel) Dead(adapter int) bool { return k.adapters[adapter].state != adapterAlive }
