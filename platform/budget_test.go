package platform

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// rules lists the rules that a run broke.
func (o *outcome) rules() (all []string) {
	for _, v := range o.sum.Violations {
		all = append(all, v.Rule)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unanswered runs one access to a page that never comes.
func unanswered(t *testing.T, set ...string) *outcome {
	t.Helper()
	set = append([]string{"scheme=odp", "workload.accesses=1"}, set...)
	o, err := execute(nil, set, deafKernel)
	if err != nil {
		t.Fatal(err)
	}
	// The fault is not answered, and the adapter still waits for that.
	if got, want := o.rules(), []string{measure.RuleFaults, RuleRest}; !slices.Equal(got, want) {
		t.Errorf("%v: broken rules %v, want %v", set, got, want)
	}
	if o.sum.Accesses.Failed != 1 || o.sum.Transport.DeadQPs != 1 {
		t.Errorf("%v: %d failed, %d dead QPs", set, o.sum.Accesses.Failed, o.sum.Transport.DeadQPs)
	}
	return o
}

// With rnr_retry n an access survives n RNR NAKs and fails at the next, after n
// delays of the timer's code: code 8 is 160 us.
func TestRNRBudget(t *testing.T) {
	for n := range 4 {
		o := unanswered(t, "qp.rnr_timer=8", "qp.rnr_retry="+itoa(n))
		if got := o.sum.Transport.RNRNaks.Paging; got != uint64(n+1) {
			t.Errorf("rnr_retry %d: %d NAKs, want %d", n, got, n+1)
		}
		delays := clocked.Time(n) * 160 * clocked.Microsecond
		if took := o.sum.Accesses.FailedLatencyPS.Total; took < delays || took > delays+clocked.Time(n+2)*4*clocked.Microsecond {
			t.Errorf("rnr_retry %d: failed after %v, want %v and %d round trips", n, took, delays, n+1)
		}
	}
}

// With retry n an access without an answer fails at its time-out n+1; t = 6 is
// 4.096 us × 64 = 262.144 us.
func TestRetryBudget(t *testing.T) {
	for _, n := range []int{0, 1, 6} {
		o := unanswered(t, "qp.fault_response=hold", "qp.ack_timeout=6", "qp.retry="+itoa(n))
		if got := o.sum.Transport.Timeouts; got != uint64(n+1) {
			t.Errorf("retry %d: %d time-outs, want %d", n, got, n+1)
		}
		waits := clocked.Time(n+1) * 262144 * ns
		if took := o.sum.Accesses.FailedLatencyPS.Total; took < waits || took > waits+4*clocked.Microsecond {
			t.Errorf("retry %d: failed after %v, want %v", n, took, waits)
		}
	}
}
