// Package verify puts checks beside a run. They look at messages on the wires
// and links of a system, and at what it was set up with, change nothing, and
// report by rule.
//
//	                     system (platform)
//	  units ──wires──┬──────────────────────────────────────▶ results
//	                 │ shown when sent, and when taken
//	   ┌─────────────┼──────────────────┬──────────────────┐
//	   ▼             ▼                  ▼                  ▼
//	scoreboard    monitors           follower           coverage
//	golden model: rules of PCIe,     is the log a path  which situations
//	translations, ATS, PRI, keys,    of the protocol?   occurred
//	bytes         transport
//	   └─────────────┴────────┬─────────┘
//	                          ▼
//	                   rule.Log: violations by id
//
// Package protocol explores the same protocols without a clock; scenario gives
// systems small inputs with the right answer; random draws systems from a seed;
// mutants holds faults that the checks must see.
package verify

import (
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/verify/follow"
	"rnicmmu/verify/monitor"
	"rnicmmu/verify/monitor/link"
	"rnicmmu/verify/rule"
	"rnicmmu/verify/scoreboard"
)

// check is a group of rules that watches a system.
type check interface {
	// Finish reports what is due at the end. At rest nothing is in flight any
	// more; a run that was broken off, or stopped itself, is not.
	Finish(now clocked.Time, rest bool)
}

// Attach puts every check beside a system that has not begun to run. The
// returned function ends them, and gives what was broken.
func Attach(s *platform.System) (finish func(rest bool) []measure.Violation) {
	log := &rule.Log{}
	checks := attach(s, log)
	return func(rest bool) []measure.Violation {
		for _, c := range checks {
			c.Finish(s.Now(), rest)
		}
		return log.Violations()
	}
}

func attach(s *platform.System, log *rule.Log) []check {
	return []check{
		scoreboard.New(s, log),
		link.Attach(s, log),
		monitor.Attach(s, log),
		follow.New(s, log),
	}
}

// Rules are all that the checks watch for, in the order of docs/rules.md.
func Rules() []*rule.Rule {
	return slices.Concat(
		scoreboard.Rules(),
		link.Rules(),
		monitor.Rules(),
		follow.Rules(),
	)
}
