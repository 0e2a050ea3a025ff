package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/configs"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/platform"
)

// Scenario is one run: a system, what happens in it, and what must come of it.
type Scenario struct {
	Name string
	File string
	Line int

	Watch func(s *platform.System) // called before the run, when not nil

	documents []configs.Document // configuration: common, then its own
	logs      []string           // kinds of log lines that are printed
	memory    []*region
	rules     []*rule
	receives  []receives
	timeline  []*event
	expects   []*expectation

	names  map[string]*event // of the timeline
	output string            // that the file has
}

// region is a line mr.
type region struct {
	line     int
	name     string
	length   uint64
	va       uint64 // 0: chosen
	rights   key.Rights
	dynamic  bool
	unbound  bool // its key covers nothing
	resident set
	swapped  set
	paged    bool // its pages are stated
}

// receives is a line receives: buffers of a queue pair that are posted at first.
type receives struct {
	line, qp, adapter, posted int
}

// rule is what happens to messages of a name: a line delay, drop …, lose.
type rule struct {
	line    int
	what    string // delay, lose, or a damage of pcie.inject.events
	message string
	adapter int // below 0: any
	peer    bool
	qp      int // of lose; below 0: any
	nth     int // 0: every
	count   int // from the nth on
	by      clocked.Time
}

// event is a line of the timeline.
type event struct {
	line   int
	name   string
	number int

	at    clocked.Time // Never: after something
	after *moment
	delay clocked.Time // after that

	verb string
	action
}

// action is what an event does, as far as its verb has it.
type action struct {
	region     *region
	op         model.Op
	offset     uint64
	length     uint64
	va         uint64 // in the place of region and offset, where it is not 0
	adapter    int
	qps        []int
	key        string // "": that of the region
	fence      bool
	invalidate *region
	victim     string // which of its keys; "": the last
	repeat     int
	step       uint64 // from an access's offset to the next's
	every      clocked.Time
	pages      set
	advice     kernel.Advice
	count      int
	rights     key.Rights
}

// kinds of log lines.
var logKinds = []string{"accesses", "events", "messages"}

// newScenario reads a block, behind the lines of the common one.
func newScenario(file string, common, b *block) (*Scenario, error) {
	s := &Scenario{File: file, Line: b.line, Name: fmt.Sprint("line ", b.line), output: b.output, names: map[string]*event{}}
	r := &reader{s: s}
	for _, a := range b.args {
		switch {
		case a.Key == "log":
			for _, kind := range a.Vals {
				if !slices.Contains(logKinds, kind) {
					r.fail(b.line, "log=%s: one of %s is due%s", kind, strings.Join(logKinds, ", "), configs.Suggest(kind, logKinds))
				}
			}
			s.logs = append(s.logs, a.Vals...)
		case len(a.Vals) == 0:
			s.Name = a.Key
		default:
			r.fail(b.line, "scenario takes a name and log=(…), not %q", a.Key)
		}
	}
	lines := b.lines
	if common != nil {
		lines = append(slices.Clone(common.lines), lines...)
		s.documents = append(s.documents, configs.Document{Name: file, Data: common.config})
	}
	s.documents = append(s.documents, configs.Document{Name: file, Data: b.config})
	// Memory and names first: a line may name what stands below it.
	r.declare(lines)
	for _, l := range lines {
		r.statement(l)
	}
	r.finish(b.line)
	return s, errors.Join(r.problems...)
}

// statements are the words that begin a line, besides those of the timeline.
var statements = []string{"mr", "receives", "delay", "drop", "corrupt", "frame", "duplicate", "nak", "poison", "lose", "at", "after", "then", "expect"}

// reader turns lines into a scenario and collects what is wrong.
type reader struct {
	s        *Scenario
	problems []error
	last     *event // of the timeline so far
	counts   int    // expectations of figures
}

func (r *reader) fail(line int, format string, args ...any) {
	r.problems = append(r.problems, &problem{r.s.File, line, fmt.Sprintf(format, args...)})
}

// statement reads one line.
func (r *reader) statement(l statement) {
	switch l.words[0] {
	case "mr":
	case "receives":
		r.receives(l)
	case "delay", "drop", "corrupt", "frame", "duplicate", "nak", "poison", "lose":
		r.rule(l)
	case "at", "after", "then":
		r.event(l)
	case "expect":
		r.expect(l)
	default:
		r.fail(l.line, "%q begins no line; one of %s, or KEY: VALUE, is due%s", l.words[0], strings.Join(statements, ", "),
			configs.Suggest(l.words[0], statements))
	}
}

// finish checks the scenario as a whole.
func (r *reader) finish(line int) {
	if len(r.s.timeline) == 0 {
		r.fail(line, "scenario %s: nothing happens; a line at, after or then is due", r.s.Name)
	}
	if r.counts == 0 {
		r.fail(line, "scenario %s: no count is expected, so nothing shows that it does what it is about; add expect FIGURE = N", r.s.Name)
	}
}

// LogAll makes runs log all that there is to log.
func (s *Scenario) LogAll() { s.logs = logKinds }

// region is the one of that name; nil: there is none.
func (s *Scenario) region(name string) *region {
	for _, m := range s.memory {
		if m.name == name {
			return m
		}
	}
	return nil
}

// set is a set of small numbers as ranges; all of them where it is nil and any.
type set struct {
	any    bool
	ranges [][2]uint32
}

func (s *set) has(n uint32) bool {
	if s.any {
		return true
	}
	for _, r := range s.ranges {
		if n >= r[0] && n <= r[1] {
			return true
		}
	}
	return false
}
