package main

import (
	"strings"
	"testing"
)

// A model that stops itself: exit status 3, and on standard error who waits for
// whom.
func TestStuckRun(t *testing.T) {
	got := tool(t, t.TempDir(), "run", "--set", "pcie.inject.withhold=nonposted", "--set", "pcie.credits.nph=2",
		"--set", "tpt.mtt.entries=64", "--set", "workload.accesses=2000", "--set", "qp.ack_timeout=0")
	if got.code != 3 {
		t.Fatalf("exit %d, want 3: %s%s", got.code, got.stdout, got.stderr)
	}
	for _, want := range []string{"deadlock", "responder0: QP", "waits for a translation", "pcie0.endpoint: ", "lacks credit nph of pcie0.root"} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("standard error does not name %q: %s", want, got.stderr)
		}
	}
}
