package random

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/sweep"
	"rnicmmu/verify"
	"rnicmmu/verify/wires"
)

// Status of a run.
const (
	OK          = "ok"
	Violation   = "violation" // a rule was broken
	Failed      = "failed"    // an access failed without a reason
	Stuck       = "stuck"     // deadlock or watchdog
	Internal    = "internal"  // a broken assumption of the model or of a check
	Refused     = "refused"   // no legal configuration: the generator's fault
	Slow        = "slow"      // more messages than the budget
	Interrupted = "interrupted"
)

// Outcome is what became of a run.
type Outcome struct {
	Status    string
	Bucket    string // what failures have in common; empty: none
	What      string // one line
	Simulated clocked.Time
	Accesses  uint64
	Hash      string // result hash; empty: the run did not end
}

// budget is how many messages a run may send to the host's side of its links: a
// measure of work that no host's speed changes.
const budget = 4_000_000

// Run runs a configuration with every check beside it. It never panics.
func Run(ctx context.Context, base configs.Sources, set []string) (o Outcome) {
	defer func() {
		if x := recover(); x != nil {
			o = failure(Internal, fmt.Sprintf("internal error in a check: %v", x))
		}
	}()
	var job sweep.Job
	base.Set = set
	if _, err := configs.Load(&job.Spec, base); err != nil {
		return failure(Refused, err.Error())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &meter{stop: cancel}
	job.Watch = m.watch
	sum, err := job.Run(ctx, nil)
	return m.judge(sum, err)
}

// meter counts the work of a run, and stops it at the budget.
type meter struct {
	stop     context.CancelFunc
	system   *platform.System
	messages int
	spent    clocked.Time // when the budget was; 0: it is not
}

func (m *meter) watch(s *platform.System) func(rest bool) []measure.Violation {
	m.system = s
	m.count(s)
	finish := verify.Attach(s)
	return func(rest bool) []measure.Violation {
		broken := finish(rest)
		if m.spent == 0 {
			return broken
		}
		var before []measure.Violation // when exactly the run stopped depends on the machine
		for _, v := range broken {
			if v.TimePS < m.spent {
				before = append(before, v)
			}
		}
		return before
	}
}

// count looks at what the units about memory and the network send.
func (m *meter) count(s *platform.System) {
	count(m, wires.Of[msg.MemReq](s, "", ""))
	count(m, wires.Of[*msg.Packet](s, "", ""))
	count(m, wires.Of[msg.Doorbell](s, "", ""))
	count(m, wires.Of[msg.PageOp](s, "", ""))
}

func count[T any](m *meter, ends []wires.End[T]) {
	for _, e := range ends {
		e.Wire.OnSent(func(now clocked.Time, _ *T) { m.spend(now) })
	}
}

func (m *meter) spend(now clocked.Time) {
	if m.messages++; m.messages == budget {
		m.spent = max(now, 1)
		m.stop()
	}
}

func (m *meter) judge(sum *measure.Summary, err error) Outcome {
	var stuck *platform.Stuck
	switch {
	case errors.As(err, &stuck):
		if len(stuck.Broken) > 0 {
			return broken(stuck.Broken[0])
		}
		if strings.HasPrefix(stuck.Reason, "internal error") {
			return failure(Internal, stuck.Reason)
		}
		return failure(Stuck, stuck.Reason)
	case sum == nil && !errors.Is(err, sweep.ErrInterrupted):
		return failure(Refused, err.Error())
	case sum == nil:
		return Outcome{Status: Interrupted}
	}
	o := m.completed(sum, err)
	o.Simulated, o.Accesses = sum.SimulatedPS, sum.Accesses.Completed+sum.Accesses.Failed
	return o
}

// completed judges a run with a summary.
func (m *meter) completed(sum *measure.Summary, err error) Outcome {
	switch {
	case len(sum.Violations) > 0 && (err == nil || m.spent > 0):
		return broken(sum.Violations[0])
	case m.spent > 0:
		return failure(Slow, fmt.Sprintf("slow: %d messages are not enough", budget))
	case err != nil:
		return Outcome{Status: Interrupted}
	case sum.Accesses.Failed > 0 && !mayFail(m.system.Adapters()):
		o := failure(Failed, fmt.Sprintf("%d accesses failed without a reason", sum.Accesses.Failed))
		o.Hash = sum.ResultHash
		return o
	}
	return Outcome{Status: OK, Hash: sum.ResultHash}
}

func broken(v measure.Violation) Outcome {
	o := failure(Violation, fmt.Sprintf("%s at %v: %s", v.Rule, v.TimePS, v.What))
	o.Bucket = v.Rule
	return o
}

func failure(status, what string) Outcome {
	first, _, _ := strings.Cut(what, "\n")
	return Outcome{Status: status, Bucket: normalise(first), What: first}
}
