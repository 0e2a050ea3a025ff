package calibrate

import (
	"fmt"
	"math"

	"rnicmmu/clocked"
	"rnicmmu/components/pcie"
	rules "rnicmmu/model/pcie"
)

// Check is a rule of sizing that the link has to follow: so many credits or tags
// reach so much of the link's rate.
type Check struct {
	Rule  string
	Value string  // what was set
	Share float64 // of the closed form, simulated
	Want  float64 // the same by the rule; 1: full rate
	Least bool    // Share has to reach Want; else to miss it
}

// fullRate is the share from which a link counts as full: the rules are whole
// numbers.
const fullRate = 0.999

// Good tells whether the link follows the rule.
func (c *Check) Good() bool {
	switch {
	case c.Want < 1:
		return math.Abs(c.Share/c.Want-1) <= ClosedTolerance
	case c.Least:
		return c.Share >= fullRate
	}
	return c.Share < fullRate
}

// Wanted says how Share has to stand to Want.
func (c *Check) Wanted() string {
	switch {
	case c.Want < 1:
		return "equal"
	case c.Least:
		return "full"
	}
	return "less"
}

// Checks runs the rules of sizing: 34 posted headers and 544 posted data credits
// for writes of 256 B at Gen4 x16 whose credits are back after 300 ns; 225 tags
// for reads of 64 B at Gen4 x16 and 600 ns; and 256 tags, where 525 are due, at
// Gen5 x16 and 700 ns.
func Checks() ([]Check, error) {
	var all []Check
	for _, c := range []struct {
		rule, value string
		set         func(*pcie.Credits)
		least       bool
	}{
		{"Gen4 x16, 256 B writes, credits back in 300 ns", "34 PH", func(c *pcie.Credits) { c.PH = 34 }, true},
		{"Gen4 x16, 256 B writes, credits back in 300 ns", "33 PH", func(c *pcie.Credits) { c.PH = 33 }, false},
		{"Gen4 x16, 256 B writes, credits back in 300 ns", "544 PD", func(c *pcie.Credits) { c.PD = 544 }, true},
		{"Gen4 x16, 256 B writes, credits back in 300 ns", "543 PD", func(c *pcie.Credits) { c.PD = 543 }, false},
	} {
		share, err := creditShare(c.set)
		if err != nil {
			return nil, err
		}
		all = append(all, Check{Rule: c.rule, Value: c.value, Share: share, Want: 1, Least: c.least})
	}
	for _, c := range []struct {
		gen, tags int
		trip      clocked.Time
		want      float64
		least     bool
	}{
		{4, 225, 600 * clocked.Nanosecond, 1, true},
		{4, 224, 600 * clocked.Nanosecond, 1, false},
		{5, 256, 700 * clocked.Nanosecond, 256. / 525, true},
	} {
		share, err := tagShare(c.gen, c.tags, c.trip)
		if err != nil {
			return nil, err
		}
		all = append(all, Check{Rule: fmt.Sprintf("Gen%d x16, 64 B reads, round trip %d ns", c.gen, c.trip/clocked.Nanosecond),
			Value: fmt.Sprintf("%d tags", c.tags), Share: share, Want: c.want, Least: c.least})
	}
	return all, nil
}

// Transfers of a check's simulation, and those that do not count: where tags are
// short, reads come in bursts of as many as there are, and whole bursts count.
const checkTransfers, checkWarmup = 32 * 256, 8 * 256

// creditShare is the share of full rate that writes of 256 B reach at Gen4 x16
// when their credits come back 300 ns after they were taken: the TLP, the way
// there, an UpdateFC at once, the way back.
func creditShare(set func(*pcie.Credits)) (float64, error) {
	const n, loop = 256, 300 * clocked.Nanosecond
	spec, err := plain(4)
	if err != nil {
		return 0, err
	}
	spec.Update.Every = 1
	spec.LinkLatency = (loop - timeOnWire(&spec, rules.TLPBytes(4, rules.Shape{Header: rules.Header4DW, Payload: n})) -
		timeOnWire(&spec, rules.DLLPBytes)) / 2
	set(&spec.Credits)
	s, err := saturate(spec, Writes, n, checkTransfers, checkWarmup, clocked.Nanosecond)
	if err != nil {
		return 0, err
	}
	return s.rate(Writes, n) / closedForm(&spec, Writes, n), nil
}

// tagShare is the share of full rate that reads of 64 B reach when a tag is taken
// for the given time.
func tagShare(gen, tags int, trip clocked.Time) (float64, error) {
	const n = 64
	spec, err := plain(gen)
	if err != nil {
		return 0, err
	}
	spec.Tags = tags
	request := rules.TLPBytes(gen, rules.Shape{Header: rules.Header4DW})
	completion := rules.TLPBytes(gen, rules.Shape{Header: rules.Header3DW, Payload: n})
	host := trip - 2*spec.LinkLatency - timeOnWire(&spec, request) - timeOnWire(&spec, completion)
	s, err := saturate(spec, Reads, n, checkTransfers, checkWarmup, host)
	if err != nil {
		return 0, err
	}
	return s.rate(Reads, n) / closedForm(&spec, Reads, n), nil
}

// plain is an ideal link of 16 lanes with nothing on its wire but TLPs and, of a
// thousand, one Ack: the rules of sizing count no more. Its credits are infinite.
func plain(gen int) (pcie.Spec, error) {
	s, err := ideal(gen, 16)
	s.SKP, s.Scale, s.Credits, s.AdapterCredits = false, 1, pcie.Credits{}, pcie.Credits{}
	s.Ack = pcie.Timer{Delay: 30 * clocked.Microsecond, Every: 1000}
	s.ReplayBuffer = pcie.ReplayBuffer{TLPs: rules.MaxOutstanding, Bytes: 16 << 20}
	return s, err
}

// timeOnWire is that of so many bytes, rounded up.
func timeOnWire(s *pcie.Spec, n int64) clocked.Time {
	num, den := rules.ByteTime(s.Gen, s.Lanes)
	return clocked.Time((n*num + den - 1) / den)
}
