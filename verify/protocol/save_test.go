package protocol

import (
	"strings"
	"testing"

	"rnicmmu/verify/protocol/explore"
)

// way takes, from the first state, the first step that begins with each kind.
func way(t *testing.T, s System, kinds ...Kind) *explore.Violation[[]Event] {
	t.Helper()
	v := &explore.Violation[[]Event]{Kind: explore.Safety, Rule: "none", Start: s.Initial()}
	at := v.Start
	for _, k := range kinds {
		found := false
		s.Expand(at, false, func(step *explore.Step[[]Event]) {
			if !found && step.Event[0].Kind == k {
				found = true
				v.Trace = append(v.Trace, *step)
			}
		})
		if !found {
			t.Fatalf("no step begins with %v", k)
		}
		at = v.Trace[len(v.Trace)-1].To
	}
	return v
}

// What an invalidation overtakes is held in the saved scenario, by its number on
// the link: the second table read, and the translation request behind the fault.
func TestSavedScenarioHoldsWhatIsOvertaken(t *testing.T) {
	tables := &Tables{Bounds: Bounds{Adapters: 1, Pages: 1, Frames: 2, Accesses: 1}}
	cache := &ATS{Bounds: Bounds{Adapters: 1, Pages: 1, Frames: 2, Accesses: 1, ITags: 2, Completions: 1, Credits: 2, Ring: 1}}
	for _, c := range []struct {
		of    System
		steps []Kind
		lines []string
	}{
		{tables, []Kind{Access, Walked, Update, Evict, ZapExecuted, Walked}, []string{
			"scheme: odp", "delay message=mtt-completion adapter=0 nth=2 by=200us",
			"at 0us a0: read m0 offset=0B length=8B adapter=0 qp=0", "after mtt-read#2@0 x0: evict m0 page=0", "expect zap#1@0 before mtt-completion#2@0"}},
		{tables, []Kind{Access, Walked, Update, Walked, Move, ZapExecuted}, []string{
			"delay message=data-read adapter=0 nth=1 by=200us", "after mtt-completion#2@0 x0: migrate m0 page=0"}},
		{tables, []Kind{Access, Walked, Evict}, []string{"after eqe#1@0 +20us x0: migrate m0 page=0", "expect kernel.migrations = 1"}},
		{cache, []Kind{Access, TranslationAsked, TranslationArrived, PageRequestArrived, FaultArrived, PageResponseArrived, TranslationAsked,
			Move, IOTLBDropped, InvalidateArrived}, []string{
			"scheme: sva", "delay message=translation-completion adapter=0 nth=2 by=200us", "expect invalidate#1@0 before translation-completion#2@0"}},
	} {
		text, err := scenario(c.of, "saved", way(t, c.of, c.steps...))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.lines {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("%v: no line %q in\n%s", c.steps, want, text)
			}
		}
	}
}

// What the cycle model cannot do is said, not left out.
func TestSavedScenarioRefused(t *testing.T) {
	s := &Tables{Bounds: Bounds{Adapters: 1, Pages: 1, Frames: 2, Accesses: 1}, Suspend: true, Nested: true}
	if text, err := scenario(s, "saved", way(t, s, Hold)); err == nil || text != "" {
		t.Errorf("%q, error %v", text, err)
	}
}
