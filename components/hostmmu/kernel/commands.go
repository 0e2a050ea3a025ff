package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

func (k *Kernel) postCommands(now clocked.Time, i int) {
	a, mmio := &k.adapters[i], k.ports.Adapters[i].MMIO
	if a.state == adapterStopping {
		k.cutOff(now, i)
	}
	for a.state == adapterAlive && a.queue.Len() > 0 && a.open < k.spec.Command.Outstanding && mmio.Ready(now) {
		c := a.queue.Pop()
		a.open++
		*a.sent.Push() = sentCommand{c, now}
		if c.Record != nil {
			c.Record.Sent = now
		}
		*mmio.Push(now) = msg.Doorbell{Adapter: uint16(i), Client: commandClient, Len: 8, Body: c}
		k.startWatch(now, i)
	}
}

// commandClient is the endpoint's client that executes table commands.
const commandClient = 1

func (k *Kernel) takeInbox(now clocked.Time) {
	for m := k.ports.Inbox.Peek(now); m != nil; m = k.ports.Inbox.Peek(now) {
		switch body := m.Body.(type) {
		case *msg.Event:
			*k.events.Push() = event{*body, m.Adapter}
		case *msg.Command:
			k.completed(now, body)
		default:
			switch {
			case m.Kind == msg.KindMSI:
				k.interrupt(now)
			case m.Kind == msg.KindCQE && body == nil: // of a receive: for the process, which polls
			default:
				k.Stats.UnknownInbox++
			}
		}
		k.ports.Inbox.Pop(now)
	}
}

// completed takes a command's completion entry; that of an adapter given up is
// too late.
func (k *Kernel) completed(now clocked.Time, c *msg.Command) {
	a := &k.adapters[c.Adapter]
	if a.state != adapterAlive {
		return
	}
	a.answered(c)
	k.finish(now, c, false)
}

// finish goes on with whose command is complete, or will never be.
func (k *Kernel) finish(now clocked.Time, c *msg.Command, timedOut bool) {
	switch who := ref(c.Owner); who.actor() {
	case actorJob:
		k.jobCompleted(now, who.index(), timedOut)
	case actorCommand:
		k.acknowledged(now, c, who.index(), timedOut)
	case actorReopen:
		k.reopened(who.index(), timedOut)
	case actorPrefetch:
		k.prefetched(now, who.index(), timedOut)
	case actorRegion:
		k.regionCommand(now, who.index(), timedOut)
	case actorOrder:
		k.childOrdered(who.index(), timedOut)
	}
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
