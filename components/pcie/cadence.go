package pcie

import (
	"rnicmmu/clocked"
	rules "rnicmmu/model/pcie"
)

// cadence is when a line next stops for an SKP ordered set.
type cadence struct {
	interval, length clocked.Time
	next             clocked.Time // Never: they are off
}

func newCadence(gen int, on bool) cadence {
	if !on {
		return cadence{next: clocked.Never}
	}
	interval, length := rules.SKP(gen)
	c := cadence{interval: clocked.Time(rules.Symbols(gen, interval)), length: clocked.Time(rules.Symbols(gen, length))}
	c.next = c.interval
	return c
}

// skip leaves out what came and went on an idle line before the given time.
func (c *cadence) skip(at clocked.Time) {
	if gap := at - c.next; gap > 2*c.interval {
		c.next += (gap/c.interval - 1) * c.interval
	}
}

// pass leaves out what is due by the given time.
func (c *cadence) pass(until clocked.Time) {
	if c.next <= until {
		c.next += ((until-c.next)/c.interval + 1) * c.interval
	}
}
