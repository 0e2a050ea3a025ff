package pcie

import (
	"fmt"

	"rnicmmu/components/msg"
)

// Idle tells whether the endpoint holds no transfer and nothing is on its way
// upstream.
func (u *Endpoint) Idle() bool {
	for i := range u.ports {
		if u.ports[i].owed.Len() > 0 {
			return false
		}
	}
	return u.writes.used()+u.reads.used()+u.answers.used() == 0 && u.rx.empty() && !u.tx.flying()
}

// Idle tells whether the root port holds nothing and nothing is on its way
// downstream.
func (u *RootPort) Idle() bool {
	return u.bells.used() == 0 && u.answers.used() == 0 && u.rx.empty() && !u.tx.flying()
}

// Waits lists what the endpoint waits for, a line each.
func (u *Endpoint) Waits() []string {
	out := u.tx.waits(u.name)
	for i := range u.ports {
		if n := u.ports[i].owed.Len(); n > 0 {
			out = append(out, fmt.Sprintf("%s: client %d has not taken %d answers; its DMAs wait", u.name, i, n))
		}
	}
	asked, resting := u.requests()
	if asked > 0 {
		out = append(out, fmt.Sprintf("%s: %d reads wait for completions", u.name, asked))
	}
	if resting > 0 {
		out = append(out, fmt.Sprintf("%s: %d tags rest: their reads have timed out", u.name, resting))
	}
	if n := u.rx.in.held[msg.Posted].there; n > 0 {
		out = append(out, fmt.Sprintf("%s: %d doorbells and messages wait for their clients", u.name, n))
	}
	return out
}

// requests are those that wait for completions, and those that wait no longer.
func (u *Endpoint) requests() (asked, resting int) {
	for i := range u.tags.at {
		switch t := &u.tags.at[i]; {
		case t.busy:
			asked++
		case t.late:
			resting++
		}
	}
	return asked, resting
}

// Waits lists what the root port waits for, a line each.
func (u *RootPort) Waits() []string {
	out := u.tx.waits(u.name)
	if u.dropped > 0 {
		out = append(out, fmt.Sprintf("%s: disabled; %d requests of the adapter were dropped", u.name, u.dropped))
	}
	for c := range u.rx.in.held {
		if n := u.rx.in.held[c].there; n > 0 {
			out = append(out, fmt.Sprintf("%s: %d %s TLPs wait for memory", u.name, n, classNames[c]))
		}
	}
	return out
}

// waits tells what the oldest TLP to be sent lacks, and of whom.
func (t *transmitter) waits(name string) (out []string) {
	if t.out.isDown(t.engine.Now()) {
		out = append(out, fmt.Sprintf("%s: the link is down since %v", name, t.out.fault.down))
	}
	if t.stall == stallNone {
		return out
	}
	what := "leave to go"
	if t.stall < stallNone {
		what = t.stall.String()
	}
	switch {
	case t.stall == stallHeld:
	case t.stall <= StallCPLD:
		what = fmt.Sprintf("credit %s of %s", what, t.peer)
	case t.stall == StallReplay:
		what = "a place in the replay buffer: an acknowledgement of " + t.peer
	}
	for c := range classNames {
		n := 0
		for i := range t.queues {
			n += t.queues[i].offers[c].Len()
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%s: %d %s TLPs wait; the oldest TLP lacks %s since %v", name, n, classNames[c], what, t.stalled))
		}
	}
	return out
}
