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
