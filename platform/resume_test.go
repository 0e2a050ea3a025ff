package platform

import (
	"slices"
	"testing"

	"rnicmmu/components/msg"
)

// FLT-11: a run in which a resume names no fault says so, and is otherwise what
// it would have been.
func TestStrayResume(t *testing.T) {
	stray := func(s *System) {
		*s.nodes[0].tpt.Doorbell.Push(0) = msg.Doorbell{Len: 8, Body: &msg.Command{Op: msg.CmdResume, Token: msg.FaultToken{Use: 1}}}
	}
	o, err := execute(nil, []string{"scheme=odp", "workload.accesses=50"}, stray)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := o.rules(), []string{RuleResumes}; !slices.Equal(got, want) || o.sum.Accesses.Completed != 50 {
		t.Errorf("broken rules %v, want %v; %d of 50 accesses complete\n%s", got, want, o.sum.Accesses.Completed, o.broken())
	}
}
