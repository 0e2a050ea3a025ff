package measure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"rnicmmu/clocked"
)

// maxViolations bounds what a run that breaks a rule at every access keeps.
const maxViolations = 100

// Recorder collects the rows of one run. All methods belong to the goroutine
// of the simulation.
type Recorder struct {
	accesses      hold[Access]
	invalidations hold[Invalidation]

	completed, bytes, warmup      uint64
	failedBy                      FailedBy
	causes                        CausePS
	latency, failedLatency        *Histogram
	acknowledged, timedOut, pages uint64
	roundTrip, whole, hazard      *Histogram
	steps                         StepPS
	tenants                       tenancy

	accessRows, invalidationRows digest
	violations                   []Violation
	output                       *output // nil: no files
}

// New makes a recorder that writes no files.
func New() *Recorder {
	return &Recorder{
		accesses: hold[Access]{less: func(a, b *Access) bool {
			return a.Adapter < b.Adapter || a.Adapter == b.Adapter && a.ID < b.ID
		}},
		invalidations: hold[Invalidation]{less: func(a, b *Invalidation) bool {
			return a.Adapter < b.Adapter || a.Adapter == b.Adapter && a.ID < b.ID
		}},
		latency: NewHistogram(), failedLatency: NewHistogram(),
		roundTrip: NewHistogram(), whole: NewHistogram(), hazard: NewHistogram(),
		accessRows: newDigest(), invalidationRows: newDigest(),
	}
}

// Create makes a recorder that writes the files of a run into folder dir, which
// is made where missing. The error says in one line what cannot be written.
func Create(dir string) (*Recorder, error) {
	out, err := createOutput(dir, createFile)
	if err != nil {
		return nil, err
	}
	r := New()
	r.output = out
	return r, nil
}

// Access records an access that has finished, at the instant now ≥ that of
// every earlier call. The access is copied.
func (r *Recorder) Access(now clocked.Time, a *Access) {
	if r.accesses.due(now) {
		r.flushAccesses(now)
	}
	r.accesses.put(now, a)
}

// Invalidation records a finished round trip to one adapter, at the instant
// now ≥ that of every earlier call. The record is copied.
func (r *Recorder) Invalidation(now clocked.Time, v *Invalidation) {
	if r.invalidations.due(now) {
		r.flushInvalidations(now)
	}
	r.invalidations.put(now, v)
}

// Hazard records how long one translation was held: from the look-up to the
// last bus access that used it.
func (r *Recorder) Hazard(held clocked.Time) { r.hazard.Record(held) }

// Violate records a broken rule. The first 100 are kept.
func (r *Recorder) Violate(v Violation) {
	if len(r.violations) < maxViolations {
		r.violations = append(r.violations, v)
	}
}

// Err is the first error in writing a table, or nil. A run that checks it now
// and then stops early on a full disk.
func (r *Recorder) Err() error {
	if r.output == nil {
		return nil
	}
	return r.output.err()
}

func (r *Recorder) flushAccesses(now clocked.Time) {
	r.checkOrder("access", r.accesses.instant, now)
	rows := r.accesses.take()
	for i := range rows {
		a := &rows[i]
		r.accessRows.access(a)
		r.countAccess(a)
		if r.output != nil {
			r.output.accesses.add(a)
		}
	}
}

func (r *Recorder) countAccess(a *Access) {
	latency := a.Complete - a.Issue
	if sum := a.Ledger.Sum(); sum != latency {
		r.Violate(Violation{Rule: RuleCauses, TimePS: a.Complete, What: fmt.Sprintf(
			"access %d: causes sum to %d ps, its latency is %d ps", a.ID, sum, latency)})
	}
	if !a.Op.Atomic() && (a.Placed > a.Len || a.Status == StatusOK && a.Placed < a.Len) {
		r.Violate(Violation{Rule: RulePlaced, TimePS: a.Complete, What: fmt.Sprintf(
			"access %d: %d of its %d bytes were placed", a.ID, a.Placed, a.Len)})
	}
	switch {
	case a.Warmup:
		r.warmup++
	case a.Status != StatusOK:
		r.failedBy[a.Status]++
		r.failedLatency.Record(latency)
	default:
		r.completed++
		r.bytes += uint64(a.Len)
		r.latency.Record(latency)
		for c, t := range &a.Ledger.Causes {
			r.causes[c] += t
		}
		r.tenants.count(a)
	}
}

func (r *Recorder) flushInvalidations(now clocked.Time) {
	r.checkOrder("invalidation", r.invalidations.instant, now)
	rows := r.invalidations.take()
	for i := range rows {
		v := &rows[i]
		r.invalidationRows.invalidation(v)
		r.countInvalidation(v)
		if r.output != nil {
			r.output.invalidations.add(v)
		}
	}
}

func (r *Recorder) countInvalidation(v *Invalidation) {
	switch {
	case v.Warmup:
		return
	case v.TimedOut:
		r.timedOut++
	default:
		r.acknowledged++
		r.roundTrip.Record(v.Acknowledged - v.Notified)
		r.whole.Record(v.Done - v.Notified)
		for s, t := range v.Steps() {
			r.steps[s] += t
		}
	}
	r.pages += uint64(v.Pages)
}

func (r *Recorder) checkOrder(what string, last, now clocked.Time) {
	if now < last {
		r.Violate(Violation{Rule: RuleOrder, TimePS: now, What: fmt.Sprintf(
			"%s reported at %d ps after one at %d ps", what, now, last)})
	}
}

// Finish lets the held rows go and completes s, in which the platform has set
// the simulated time, the counters of its units, accesses.issued and
// invalidations.issued. It sets schema, the other access figures, of the
// invalidations acknowledged, timed_out, pages, round_trip_ps, whole_ps,
// step_ps and hazard_ps, the tenants, the violations (of the run by time, then those of Check) and result_hash.
func (r *Recorder) Finish(s *Summary) {
	r.flushAccesses(clocked.Never)
	r.flushInvalidations(clocked.Never)
	s.Schema = SummarySchema
	acc, inv := &s.Accesses, &s.Invalidations
	acc.Completed, acc.Bytes = r.completed, r.bytes
	acc.Failed, acc.FailedBy, acc.Warmup = r.failedBy.total(), r.failedBy, r.warmup
	acc.LatencyPS, acc.FailedLatencyPS = r.latency.Quantiles(), r.failedLatency.Quantiles()
	acc.CausePS = r.causes
	inv.Acknowledged, inv.TimedOut, inv.Pages = r.acknowledged, r.timedOut, r.pages
	inv.RoundTripPS, inv.HazardPS = r.roundTrip.Quantiles(), r.hazard.Quantiles()
	inv.WholePS, inv.StepPS = r.whole.Quantiles(), r.steps
	r.tenants.finish(s)
	if s.WallS > 0 {
		s.AccessesPerWallS = float64(acc.Completed+acc.Failed+acc.Warmup) / s.WallS
	}
	slices.SortStableFunc(r.violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.TimePS, b.TimePS), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.What, b.What))
	})
	s.Violations = append(slices.Clone(r.violations), Check(s)...)
	s.ResultHash = resultHash(&r.accessRows, &r.invalidationRows, s)
}

// ErrKept says that an interrupted run left the results of an earlier, complete
// one in its folder and dropped its own.
var ErrKept = errors.New("keeps the results of an earlier run; those of this interrupted one are dropped")

// Write completes the files of a finished run and gives them their names:
// both tables, config.resolved.yaml with the bytes of config, manifest.json
// and, last, summary.json. After an error, one line, none has its name. Files
// of an earlier run are replaced, except complete ones by those of an
// interrupted run: that is ErrKept. A recorder without files writes nothing.
func (r *Recorder) Write(s *Summary, m Manifest, config []byte) error {
	if r.output == nil {
		return nil
	}
	if s.Interrupted && !r.output.closed && r.output.holdsComplete() {
		r.output.discard()
		return fmt.Errorf("%s: %w", r.output.dir, ErrKept)
	}
	return r.output.finish(s, m, config)
}

// Discard removes what has been written, for a run that shall leave no files.
func (r *Recorder) Discard() {
	if r.output != nil {
		r.output.discard()
	}
}
