package protocol

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rnicmmu/verify/protocol/explore"
)

// System is a protocol that can be explored.
type System interface {
	explore.System[[]Event]
	describe(k explore.Key) []string
	bounds() string
	pending(k explore.Key) pending
	wire() wire
	adapters() int
}

// Names are the protocols, in the order in which they are explored.
var Names = []string{"notifier", "ats", "suspend"}

// Sizes of an exploration.
const (
	Small  = "small"  // seconds
	Normal = "normal" // minutes
	Large  = "large"  // for a night, and much memory
)

// Sizes are their names.
var Sizes = []string{Small, Normal, Large}

// Systems are what is explored of a protocol at a size: nil where either is not
// known.
func Systems(name, size string) []System {
	switch name {
	case "notifier":
		return tables(Tables{}, size)
	case "suspend":
		return append(tables(Tables{Suspend: true}, size), nested(size)...)
	case "ats":
		return caches(size)
	}
	return nil
}

func tables(t Tables, size string) []System {
	with := func(adapters, pages, frames, accesses int) System {
		c := t
		c.Bounds = Bounds{Adapters: adapters, Pages: pages, Frames: frames, Accesses: accesses}
		return &c
	}
	switch size {
	case Small:
		return []System{with(2, 1, 2, 2), with(1, 2, 3, 2), with(1, 2, 1, 2)}
	case Normal:
		return []System{with(2, 2, 3, 2), with(1, 2, 1, 2)}
	case Large:
		return []System{with(2, 2, 4, 2), with(1, 2, 3, 3), with(2, 1, 3, 3)}
	}
	return nil
}

// nested are suspensions that overlap.
func nested(size string) []System {
	with := func(adapters, pages, frames, accesses int) System {
		return &Tables{Bounds: Bounds{Adapters: adapters, Pages: pages, Frames: frames, Accesses: accesses}, Suspend: true, Nested: true}
	}
	switch size {
	case Small:
		return []System{with(2, 1, 2, 1), with(1, 1, 2, 2)}
	case Normal:
		return []System{with(2, 2, 3, 1), with(1, 2, 3, 2), with(2, 1, 2, 2)}
	case Large:
		return []System{with(2, 2, 4, 1), with(2, 1, 3, 3)}
	}
	return nil
}

func caches(size string) []System {
	with := func(pages, frames, accesses, completions, credits int) System {
		return &ATS{Bounds: Bounds{Adapters: 1, Pages: pages, Frames: frames, Accesses: accesses, ITags: 2,
			Completions: completions, Credits: credits, Ring: 1}}
	}
	switch size {
	case Small:
		return []System{with(1, 2, 2, 1, 2), with(1, 2, 2, 2, 2), with(2, 2, 1, 1, 1)}
	case Normal:
		return []System{with(2, 3, 2, 1, 2), with(2, 3, 1, 2, 1), with(1, 2, 2, 2, 2)}
	case Large:
		return []System{with(2, 3, 2, 2, 2), with(1, 3, 3, 2, 2)}
	}
	return nil
}

func (b *Bounds) text() string {
	return fmt.Sprintf("%d adapters, %d pages, %d frames, %d accesses", b.Adapters, b.Pages, b.Frames, b.Accesses)
}

func (t *Tables) bounds() string {
	if t.Nested {
		return t.text() + ", nested"
	}
	return t.text()
}

func (t *ATS) bounds() string {
	return t.text() + fmt.Sprintf(", %d ITags, %d completions, %d credits, ring of %d", t.ITags, t.Completions, t.Credits, t.Ring)
}

func (b *Bounds) adapters() int { return b.Adapters }

// Report is what an exploration found.
type Report struct {
	System      string         `json:"system"`
	Bounds      string         `json:"bounds"`
	States      int            `json:"states"`
	Transitions int            `json:"transitions"`
	Depth       int            `json:"depth"`
	Seconds     float64        `json:"seconds"`
	Verdict     string         `json:"verdict"` // holds, broken or unfinished
	Kind        explore.Kind   `json:"kind,omitempty"`
	Rule        string         `json:"rule,omitempty"`
	Steps       []ReportedStep `json:"steps,omitempty"`
	Scenario    string         `json:"-"` // the counterexample, for the cycle model
	NoScenario  error          `json:"-"` // why it has none
}

// ReportedStep is a message of a counterexample; Changed is what it, with those
// before it that name no change, did.
type ReportedStep struct {
	Message string   `json:"message"`
	Changed []string `json:"changed,omitempty"`
}

// Verdicts.
const (
	Holds      = "holds"
	Broken     = "broken"
	Unfinished = "unfinished"
)

// Check explores a system of a protocol.
func Check(ctx context.Context, name string, s System, o explore.Options) (Report, error) {
	start := time.Now()
	found, err := explore.Explore(ctx, explore.System[[]Event](s), o)
	r := Report{System: name, Bounds: s.bounds(), States: found.States, Transitions: found.Transitions, Depth: found.Depth,
		Seconds: time.Since(start).Seconds(), Verdict: Unfinished}
	switch v := found.Violation; {
	case v != nil:
		r.Verdict, r.Kind, r.Rule = Broken, v.Kind, v.Rule
		r.Steps = messages(s, v)
		r.Scenario, r.NoScenario = scenario(s, name, v)
	case found.Complete:
		r.Verdict = Holds
	}
	return r, err
}

// messages are the steps of a trace, one a message.
func messages(s System, v *explore.Violation[[]Event]) (steps []ReportedStep) {
	before := s.describe(v.Start)
	for i := range v.Trace {
		for _, e := range v.Trace[i].Event {
			steps = append(steps, ReportedStep{Message: e.String()})
		}
		after := s.describe(v.Trace[i].To)
		for n := range after {
			if after[n] != before[n] {
				last := &steps[len(steps)-1]
				last.Changed = append(last.Changed, after[n])
			}
		}
		before = after
	}
	return steps
}

// Text is the report for people.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %s\n         %d states, %d transitions, depth %d, %.1f s: %s\n", r.System, r.Bounds, r.States, r.Transitions, r.Depth, r.Seconds, r.Verdict)
	if r.Verdict == Broken {
		fmt.Fprintf(&b, "         %s: %s, counterexample of %d steps\n", r.Kind, r.Rule, len(r.Steps))
	}
	for i, s := range r.Steps {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, s.Message)
		for _, c := range s.Changed {
			fmt.Fprintf(&b, "          %s\n", c)
		}
	}
	return b.String()
}
