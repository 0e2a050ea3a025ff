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

// Rules of sizing, by the model's formulas: credits for writes of 256 B at Gen4 x16
// that are back after 300 ns; tags for reads of 64 B at Gen4 x16 and 600 ns, and
// too few of them at Gen5 x16 and 700 ns.
const (
	checkWrite, checkLoop = 256, 300 * clocked.Nanosecond
	checkRead             = 64
	checkLanes            = 16
	fewTags               = 256
)

// Checks runs the rules of sizing: as many fill the link as the formulas say, and
// one less does not.
func Checks() ([]Check, error) {
	headers, data := rules.CreditsFor(byteRate(4), int64(checkLoop), writeBytes(4), checkWrite)
	var all []Check
	for less := range 2 {
		for _, c := range []struct {
			pool string
			set  pcie.Credits
		}{
			{pool: "PH", set: pcie.Credits{PH: int(headers) - less}},
			{pool: "PD", set: pcie.Credits{PD: int(data) - less}},
		} {
			share, err := creditShare(c.set)
			if err != nil {
				return nil, err
			}
			all = append(all, Check{Rule: "Gen4 x16, 256 B writes, credits back in 300 ns",
				Value: fmt.Sprintf("%d %s", c.set.PH+c.set.PD, c.pool), Share: share, Want: 1, Least: less == 0})
		}
	}
	enough := tagsFor(4, 600*clocked.Nanosecond)
	for _, c := range []struct {
		gen, tags int
		trip      clocked.Time
		want      float64
		least     bool
	}{
		{4, enough, 600 * clocked.Nanosecond, 1, true},
		{4, enough - 1, 600 * clocked.Nanosecond, 1, false},
		{5, fewTags, 700 * clocked.Nanosecond, fewTags / float64(tagsFor(5, 700*clocked.Nanosecond)), true},
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

// byteRate is what Gen4 or Gen5 x16 carries, in bytes a second, to three digits: what
// the rest makes of a TLP is less than fullRate tells.
func byteRate(gen int) int64 { return 31_500_000_000 << (gen - 4) }

// writeBytes is a write of a check on the wire, readBytes the completion of a read.
func writeBytes(gen int) int64 {
	return rules.TLPBytes(gen, rules.Shape{Header: rules.Header4DW, Payload: checkWrite})
}

func readBytes(gen int) int64 {
	return rules.TLPBytes(gen, rules.Shape{Header: rules.Header3DW, Payload: checkRead})
}

// tagsFor are the tags that a check's reads need.
func tagsFor(gen int, trip clocked.Time) int {
	return int(rules.TagsFor(byteRate(gen), int64(trip), readBytes(gen)))
}

// Transfers of a check's simulation, and those that do not count: where tags are
// short, reads come in bursts of as many as there are, and whole bursts count.
const checkTransfers, checkWarmup = 32 * 256, 8 * 256

// creditShare is the share of full rate that a check's writes reach when their
// credits come back checkLoop after they were taken: the TLP, the way there, an
// UpdateFC at once, the way back.
func creditShare(credits pcie.Credits) (float64, error) {
	spec, err := plain(4)
	if err != nil {
		return 0, err
	}
	spec.Update.Every, spec.Credits = 1, credits
	spec.LinkLatency = (checkLoop - timeOnWire(&spec, writeBytes(4)) - timeOnWire(&spec, rules.DLLPBytes)) / 2
	s, err := saturate(spec, Writes, checkWrite, checkTransfers, checkWarmup, clocked.Nanosecond)
	if err != nil {
		return 0, err
	}
	return s.rate(Writes, checkWrite) / closedForm(&spec, Writes, checkWrite), nil
}

// tagShare is the share of full rate that a check's reads reach when a tag is taken
// for the given time.
func tagShare(gen, tags int, trip clocked.Time) (float64, error) {
	spec, err := plain(gen)
	if err != nil {
		return 0, err
	}
	spec.Tags = tags
	request := rules.TLPBytes(gen, rules.Shape{Header: rules.Header4DW})
	host := trip - 2*spec.LinkLatency - timeOnWire(&spec, request) - timeOnWire(&spec, readBytes(gen))
	s, err := saturate(spec, Reads, checkRead, checkTransfers, checkWarmup, host)
	if err != nil {
		return 0, err
	}
	return s.rate(Reads, checkRead) / closedForm(&spec, Reads, checkRead), nil
}

// plain is an ideal link of checkLanes with nothing on its wire but TLPs and, of a
// thousand, one Ack: the rules of sizing count no more. Its credits are infinite.
func plain(gen int) (pcie.Spec, error) {
	s, err := ideal(gen, checkLanes)
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
