package monitor_test

import (
	"context"
	"strings"
	"testing"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/sweep"
	"rnicmmu/verify/monitor"
	"rnicmmu/verify/rule"
)

// watch runs a configuration with these monitors beside it.
func watch(t *testing.T, set ...string) *rule.Log {
	t.Helper()
	var job sweep.Job
	if _, err := configs.Load(&job.Spec, configs.Sources{Profile: "default", Set: set}); err != nil {
		t.Fatal(err)
	}
	return play(t, &job)
}

// quiet asserts that a job breaks no rule.
func quiet(t *testing.T, job *sweep.Job) {
	t.Helper()
	for _, v := range play(t, job).Violations() {
		t.Errorf("%s at %v: %s", v.Rule, v.TimePS, v.What)
	}
}

// play runs a job with these monitors beside it.
func play(t *testing.T, job *sweep.Job) *rule.Log {
	t.Helper()
	log := &rule.Log{}
	job.Watch = func(s *platform.System) func(bool) []measure.Violation {
		u := monitor.Attach(s, log)
		return func(rest bool) []measure.Violation {
			u.Finish(s.Now(), rest)
			return log.Violations()
		}
	}
	if _, err := job.Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	return log
}

// TestNoFalseAlarm: a sound system breaks no rule, under every scheme and
// transport, while pages leave and move, keys come and go, adapters differ or
// stop answering, and links lose what they carry.
func TestNoFalseAlarm(t *testing.T) {
	pressure := "workload.accesses=800 workload.working_set=512KiB workload.read_fraction=0.3 tcp.min_rto=1ms host.pager.migrate_interval=50us "
	paging := pressure + "pressure.overcommit=2 "
	for _, set := range []string{
		paging + "scheme=odp workload.atomic_fraction=0.2 qp.first_psn=16777210",
		paging + "scheme=odp transport=iwarp qp.first_psn=16777210",
		paging + "scheme=sva workload.send_fraction=0.2",
		paging + "scheme=sva transport=iwarp",
		paging + "scheme=suspend",
		pressure + "scheme=pinned",
		pressure + "scheme=iommu",
		paging + "scheme=iommu host.iommu.table=process host.iommu.absent=retry",
		paging + "scheme=odp host.iommu.mode=strict",
		paging + "scheme=odp host.iommu.mode=deferred",
		paging + "scheme=odp workload.registration=implicit",
		pressure + "scheme=pinned workload.registration=cached workload.registration_method=fast workload.regions=8 workload.registration_cache=4 workload.send_fraction=0.3 workload.send_invalidate=0.5",
		pressure + "scheme=odp workload.registration=each workload.registration_method=window workload.regions=8",
		pressure + "scheme=odp workload.registration=each workload.regions=8",
		paging + "scheme=odp qp.fault_response=hold",
		paging + "scheme=sva qp.fault_response=backup",
		paging + "scheme=odp tpt.mtt.prefetch=next_line workload.access_bytes=16KiB",
		paging + "scheme=odp tpt.mtt.entries=64 tpt.mtt.ways=2 tpt.mtt.line_entries=4 tpt.mtt.levels=2",
		paging + "scheme=odp qp.nak_after_rnr=once qp.rnr_retry=1 qp.ack_timeout=3",
		paging + "scheme=odp qp.flood=true",
		paging + "scheme=odp qp.damming=true qp.ack_timeout=8",
		paging + "scheme=sva adapters=2 host.switch.adapters=2",
		paging + "scheme=odp adapters=2 tpt.command.hang_at=1ms host.notifier.timeout=1ms",
		paging + "scheme=sva adapters=2 tpt.command.hang_at=300us host.iommu.ats_timeout=1ms",
		paging + "scheme=odp pcie.inject.ber=1e-7",
	} {
		t.Run(strings.TrimPrefix(strings.TrimPrefix(set, paging), pressure), func(t *testing.T) {
			for _, v := range watch(t, strings.Fields(set)...).Violations() {
				t.Errorf("%s at %v: %s", v.Rule, v.TimePS, v.What)
			}
		})
	}
}

// TestDefectIsSeen: an adapter that acknowledges invalidations at once, by
// configuration, is seen to do so.
func TestDefectIsSeen(t *testing.T) {
	log := watch(t, strings.Fields("scheme=odp workload.accesses=400 qp.mtu=256B workload.access_bytes=4KiB workload.working_set=64KiB host.pager.migrate_interval=2us "+
		"qp.rnr_timer=1 tpt.fault.trigger=0ns tpt.fault.resume=0ns tpt.command.invalidate=0ns tpt.command.fill=0ns host.notifier.checks=0ns tpt.invalidation.early_ack=true")...)
	if log.Count("TPT-DRAIN-01") == 0 {
		t.Errorf("not seen: %v", log.Violations())
	}
}

// TestExperiments: neither do the first points of the embedded experiments, nor
// the profiles, cut to a few accesses.
func TestExperiments(t *testing.T) {
	short := []string{"workload.accesses=600", "warmup=0"}
	for _, name := range configs.Profiles() {
		t.Run(name, func(t *testing.T) {
			var job sweep.Job
			if _, err := configs.Load(&job.Spec, configs.Sources{Profile: name, Set: short}); err != nil {
				t.Fatal(err)
			}
			quiet(t, &job)
		})
	}
	for _, e := range configs.Experiments() {
		t.Run(e.Name, func(t *testing.T) {
			doc, err := configs.ExperimentDocument(e.Name)
			if err != nil {
				t.Fatal(err)
			}
			x, err := configs.LoadExperiment(&platform.Spec{}, doc, nil)
			if err != nil {
				t.Fatal(err)
			}
			var set []string
			for _, s := range x.Overrides(x.Points()[0]) {
				set = append(set, s.Key+"="+s.Value)
			}
			set = append(set, short...)
			if e.Name == "over-advertise" {
				set = append(set, "host.memory=2MiB", "workload.working_set=20MiB")
			}
			if e.Name == "deferred" { // of an adapter with that defect
				set = append(set, "tpt.invalidation.early_ack=false")
			}
			var job sweep.Job
			if _, err := configs.Load(&job.Spec, configs.Sources{Experiment: x, Set: set}); err != nil {
				t.Fatal(err)
			}
			quiet(t, &job)
		})
	}
}
