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
	return u.writes.Len() == 0 && len(u.jobsFree) == len(u.jobs) && !u.tx.flying()
}

// Idle tells whether the root port holds nothing and nothing is on its way
// downstream.
func (u *RootPort) Idle() bool {
	return u.bells.Len() == 0 && u.answers.Len() == 0 && !u.tx.flying()
}

// Waits lists what the endpoint waits for, a line each.
func (u *Endpoint) Waits() []string {
	out := u.tx.waits(u.name)
	for i := range u.ports {
		if n := u.ports[i].owed.Len(); n > 0 {
			out = append(out, fmt.Sprintf("%s: client %d has not taken %d answers; its DMAs wait", u.name, i, n))
		}
	}
	if n := len(u.tags) - len(u.tagsFree); n > 0 {
		out = append(out, fmt.Sprintf("%s: %d reads wait for completions", u.name, n))
	}
	if n := u.rx.in[msg.Posted].Len(); n > 0 {
		out = append(out, fmt.Sprintf("%s: %d doorbells and messages wait for their clients", u.name, n))
	}
	return out
}

// Waits lists what the root port waits for, a line each.
func (u *RootPort) Waits() []string {
	out := u.tx.waits(u.name)
	if u.dropped > 0 {
		out = append(out, fmt.Sprintf("%s: disabled; %d requests of the adapter were dropped", u.name, u.dropped))
	}
	for c, w := range u.rx.in {
		if n := w.Len(); n > 0 {
			out = append(out, fmt.Sprintf("%s: %d %s TLPs wait for memory", u.name, n, classNames[c]))
		}
	}
	return out
}

// waits tells what the oldest TLP to be sent lacks.
func (t *transmitter) waits(name string) []string {
	if t.stall == stallNone {
		return nil
	}
	what := t.stall.String()
	if t.stall <= StallCPLD {
		what = "credit " + what
	}
	var out []string
	for c := range t.offers {
		if t.offers[c].ready {
			out = append(out, fmt.Sprintf("%s: %s TLP waits; the oldest TLP lacks %s since %v", name, classNames[c], what, t.stalled))
		}
	}
	return out
}
