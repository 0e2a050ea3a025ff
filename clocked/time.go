package clocked

import (
	"fmt"
	"math"

	"github.com/sarchlab/akita/v3/sim"
)

// Time is a simulated instant or duration in picoseconds. An int64 reaches
// 106 days.
type Time int64

// Durations.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// Never is later than every instant of a simulation.
const Never Time = math.MaxInt64

// Seconds converts to Akita's float seconds.
func (t Time) Seconds() sim.VTimeInSec { return sim.VTimeInSec(float64(t) / float64(Second)) }

// FromSeconds converts Akita's float seconds to the nearest picosecond. It undoes
// Seconds exactly up to 4096 s, where float64 becomes coarser than that.
func FromSeconds(s sim.VTimeInSec) Time { return Time(math.Round(float64(s) * float64(Second))) }

// String prints nanoseconds with picosecond resolution.
func (t Time) String() string {
	sign := ""
	if t < 0 {
		sign, t = "-", -t
	}
	return fmt.Sprintf("%s%d.%03dns", sign, int64(t)/1000, int64(t)%1000)
}

// Freq is a clock frequency in hertz.
type Freq int64

// Domain is a clock domain: rising edges at whole multiples of a period.
type Domain struct{ period Time }

// NewDomain makes the domain of frequency f, 1 Hz to 1 THz. The period is
// rounded to a whole picosecond (an error of at most 0.05 % at 1 GHz).
func NewDomain(f Freq) Domain {
	return Domain{period: max(1, Time((int64(Second)+int64(f)/2)/int64(f)))}
}

// Period is the time of one cycle in picoseconds.
func (d Domain) Period() Time { return d.period }

// Cycles is the time of n cycles.
func (d Domain) Cycles(n int) Time { return Time(n) * d.period }

// Edge is the first edge at or after t.
func (d Domain) Edge(t Time) Time {
	if r := t % d.period; r != 0 {
		return t + d.period - r
	}
	return t
}

// Next is the first edge after t.
func (d Domain) Next(t Time) Time { return t + d.period - t%d.period }
