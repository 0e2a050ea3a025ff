package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rnicmmu/measure"
	"rnicmmu/platform"
)

// live is the run as it is now.
func (p *player) live() *view { return &view{p: p} }

// judge compares a run with what is expected. An error that nobody expects is
// returned where it is one of the configuration.
func (s *Scenario) judge(p *player, r *Result, err error) error {
	fail := func(line int, format string, args ...any) {
		r.Failures = append(r.Failures, Failure{line, fmt.Sprintf(format, args...)})
	}
	outcome, why := "", ""
	if errors.As(err, &r.Stuck) {
		outcome, why = "stuck", err.Error()
	} else if err != nil {
		outcome, why = "refused", err.Error()
	}
	ended := s.expected(outcome)
	if ended != nil {
		if r.Stuck = nil; !strings.Contains(why, ended.says) {
			fail(ended.line, "expect %s: %s", ended.text, why)
		}
	}
	switch {
	case ended != nil && outcome == "refused":
		return nil
	case ended != nil:
	case outcome == "stuck":
		fail(s.Line, "the model stopped itself: %s", why)
		return nil
	case err != nil:
		return err
	default:
		s.judgeEvents(p, fail)
		s.judgeViolations(r, fail)
	}
	v := &view{p: p, summary: r.Summary}
	for _, x := range s.expects {
		if err := x.holds(v); x != ended && err != nil {
			fail(x.line, "expect %s: %v", x.text, err)
		}
	}
	slices.SortStableFunc(r.Failures, func(a, b Failure) int { return a.Line - b.Line })
	return nil
}

// expected is the expectation of an outcome; nil: there is none, or it is not
// one that ends a run.
func (s *Scenario) expected(outcome string) *expectation {
	for _, x := range s.expects {
		if outcome != "" && x.outcome == outcome {
			return x
		}
	}
	return nil
}

// judgeEvents finds events that ended badly although no line says that they may,
// and rules that met nothing.
func (s *Scenario) judgeEvents(p *player, fail func(int, string, ...any)) {
	for i := range p.events {
		e := &p.events[i]
		said := slices.ContainsFunc(s.expects, func(x *expectation) bool { return x.event == e.event })
		switch {
		case e.state != stateDone:
			fail(e.line, "%s did not come to an end", e.name)
		case !said && e.status != statusDone && e.status != measure.StatusOK.String():
			fail(e.line, "%s ended %s, which no line expects %s", e.name, e.status, inBrackets(e.why))
		}
	}
	for i, x := range s.rules {
		if p.used[i] == 0 {
			fail(x.line, "%s %s: there was no such message, or not so many", x.what, x.message)
		}
	}
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// judgeViolations finds rules that were broken, and rules that were to be.
func (s *Scenario) judgeViolations(r *Result, fail func(int, string, ...any)) {
	expected := map[string]bool{}
	for _, x := range s.expects {
		if x.outcome != "violation" {
			continue
		}
		for _, rule := range x.status {
			expected[rule] = true
			if !slices.ContainsFunc(r.Summary.Violations, func(v measure.Violation) bool { return v.Rule == rule }) {
				fail(x.line, "expect %s: %s was not broken", x.text, rule)
			}
		}
	}
	for _, v := range r.Summary.Violations {
		if !expected[v.Rule] {
			fail(s.Line, "violation %s at %v: %s", v.Rule, v.TimePS, v.What)
		}
	}
}

// holds tells why an expectation does not hold; nil: it does.
func (x *expectation) holds(v *view) error {
	switch {
	case x.compare != nil:
		return x.compare.holds(v)
	case x.before != nil:
		return x.ordered(v.p)
	case x.event != nil:
		e := &v.p.events[x.event.number]
		if !slices.Contains(x.status, e.status) {
			return fmt.Errorf("it ended %s %s", e.status, inBrackets(e.why))
		}
		return x.each(e)
	case x.content != nil:
		return v.p.holds(x.content)
	case x.outcome == "refused" || x.outcome == "stuck":
		return errors.New("the run came to its end")
	}
	return nil
}

// each tells whether all accesses of an event ended as expected.
func (x *expectation) each(e *played) error {
	for i := range e.accesses {
		if got := e.accesses[i].Status.String(); !slices.Contains(x.status, got) {
			return fmt.Errorf("one of its accesses ended %s", got)
		}
	}
	return nil
}

func (x *expectation) ordered(p *player) error {
	a, ok := x.before.of(p)
	if !ok {
		return fmt.Errorf("%s has not been", x.before)
	}
	b, ok := x.after.of(p)
	if !ok {
		return fmt.Errorf("%s has not been", x.after)
	}
	if a >= b {
		return fmt.Errorf("%v against %v", a, b)
	}
	return nil
}

// IsRefused tells whether an error of Run is the host's refusal to register
// memory, and not one of the file.
func IsRefused(err error) bool {
	var r *platform.Refused
	return errors.As(err, &r)
}
