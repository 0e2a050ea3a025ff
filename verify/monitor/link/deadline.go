package link

import "rnicmmu/clocked"

// deadline is when a packet of the data link layer is due: a time after the first
// TLP that it is for, or with the every-th.
type deadline struct {
	at    clocked.Time // Never: nothing is due
	count int
	every int // 0: never by count
}

// add is one more TLP that it is for.
func (d *deadline) add(now, delay clocked.Time) {
	if d.at == clocked.Never {
		d.count = 0
	}
	d.count++
	if d.count == d.every {
		delay = 0
	}
	d.at = min(d.at, now+delay)
}

func (d *deadline) clear() { d.at = clocked.Never }

// missed tells whether it is over at a time, on a line that may be busy for the
// slack, and stood still until then.
func (d *deadline) missed(at, slack, frozen clocked.Time) bool {
	return d.at != clocked.Never && at > max(d.at, frozen)+slack
}
