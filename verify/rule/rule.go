// Package rule names what the checks of a run watch for. A rule has an id, by
// which a violation, a mutant's fate and docs/rules.md speak of it; the check
// that watches for it reports through a Log.
package rule

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// Rule is one thing that must hold in every run.
type Rule struct {
	ID      string // group, subject and number: PCIE-ORD-01
	Title   string
	Meaning string // what must hold, and at which port it is seen
	Source  string // tags of docs/sources.md, ids of docs/invariants.md, or "derived"
	Example string // the shortest sequence of messages that breaks it
}

// perRule is how many violations of a rule are kept; the others are counted.
const perRule = 8

// Log collects violations, in the order in which they were seen.
type Log struct {
	violations []measure.Violation
	count      map[string]uint64
}

// Report says that a rule was broken. The text names who and what; times are in
// its own column. It costs nothing until something is broken, so checks build no
// text before.
func (l *Log) Report(r *Rule, at clocked.Time, format string, args ...any) {
	if l.count == nil {
		l.count = map[string]uint64{}
	}
	l.count[r.ID]++
	if l.count[r.ID] <= perRule {
		l.violations = append(l.violations, measure.Violation{Rule: r.ID, TimePS: at, What: fmt.Sprintf(format, args...)})
	}
}

// Violations are those kept, in the order in which they were seen.
func (l *Log) Violations() []measure.Violation { return l.violations }

// Count is how often a rule was broken.
func (l *Log) Count(id string) uint64 { return l.count[id] }
