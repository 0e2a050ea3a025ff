package platform

import (
	"context"
	"errors"
	"strings"
	"testing"

	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
)

// deafKernel takes a kernel's inbox away: page faults reach no one.
func deafKernel(s *System) {
	s.kernel.Connect(kernel.Ports{
		Inbox:    hostWire[msg.Inbox](s, s.memory, s.kernel, 2),
		PageOp:   hostWire[msg.PageOp](s, s.kernel, s.memory, 2),
		PageDone: hostWire[msg.PageDone](s, s.memory, s.kernel, 2),
		Adapters: make([]kernel.AdapterPort, len(s.nodes)),
	})
}

// A model that cannot go on says so, and who waits for whom.
func TestStuck(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		set          []string
	}{
		// The access waits at the adapter, and once the completion time-out of
		// the table's reads is over no timer runs: nothing will happen.
		{"deadlock", "deadlock", []string{"qp.fault_response=hold", "qp.ack_timeout=0", "watchdog=60ms"}},
		// RNR NAKs without end.
		{"no progress", "watchdog", []string{"qp.fault_response=rnr", "watchdog=20ms"}},
	} {
		set := append([]string{"scheme=odp", "workload.accesses=10"}, c.set...)
		_, err := execute(nil, set, deafKernel)
		var stuck *Stuck
		if !errors.As(err, &stuck) {
			t.Errorf("%s: %v, want a *Stuck", c.name, err)
			continue
		}
		text := stuck.Error()
		for _, want := range []string{c.reason, "driver: 10 of 10", "requester0: QP", "tpt0: QP", "waits for the kernel to resume fault"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the dump does not name %q:\n%s", c.name, want, text)
			}
		}
	}
}

// Credits that never come back block the adapter's reads of its table: the dump
// names who waits, for which credit, and for whom.
func TestWithheldCredits(t *testing.T) {
	_, err := execute(nil, []string{"pcie.inject.withhold=nonposted", "pcie.credits.nph=2", "tpt.mtt.entries=4", "tpt.mtt.ways=0",
		"qp.ack_timeout=0", "workload.accesses=1000"})
	var stuck *Stuck
	if !errors.As(err, &stuck) {
		t.Fatalf("%v, want a *Stuck", err)
	}
	for _, want := range []string{"deadlock", "driver: ", "waits for a translation", "pcie0.endpoint: ", "lacks credit nph of pcie0.root"} {
		if !strings.Contains(stuck.Error(), want) {
			t.Errorf("the dump does not name %q:\n%s", want, stuck)
		}
	}
}

// A panic of a unit is an error with a dump, not a crash.
func TestInternalError(t *testing.T) {
	_, err := execute(nil, []string{"workload.accesses=10"}, func(s *System) { s.driver.peers[0].inbox = nil })
	var stuck *Stuck
	if !errors.As(err, &stuck) || !strings.Contains(err.Error(), "internal error") {
		t.Errorf("%v", err)
	}
}

// Stopped from outside, a run gives the summary of what has finished.
func TestInterrupted(t *testing.T) {
	for _, scheme := range []string{"pinned", "odp"} {
		specs, err := adapters([]string{"scheme=" + scheme, "workload.accesses=10000000", "workload.working_set=256KiB", "host.memory=192KiB", "pressure.overcommit=0"})
		if scheme == "pinned" {
			specs[0].Host.Memory = 1 << 20
		}
		if err != nil {
			t.Fatal(err)
		}
		sys, err := New(specs, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		rec := measure.New()
		sum, err := sys.Run(ctx, rec, func(done, total uint64) {
			if done > 0 {
				cancel()
			}
		})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		rec.Finish(sum)
		if n := sum.Accesses.Completed; !sum.Interrupted || n == 0 || n >= 10000000 || n != sum.Accesses.Issued || len(sum.Violations) > 0 {
			t.Errorf("%s: interrupted %v, %d of %d, %v", scheme, sum.Interrupted, n, sum.Accesses.Issued, sum.Violations)
		}
	}
}
