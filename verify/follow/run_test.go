package follow

import (
	"context"
	"strings"
	"testing"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/platform"
	"rnicmmu/sweep"
	"rnicmmu/verify/rule"
)

// run runs a configuration with the check beside it.
func run(t *testing.T, set string) (*Path, *rule.Log) {
	t.Helper()
	var job sweep.Job
	if _, err := configs.Load(&job.Spec, configs.Sources{Profile: "default", Set: strings.Fields(set)}); err != nil {
		t.Fatal(err)
	}
	log := &rule.Log{}
	var c *Path
	job.Watch = func(s *platform.System) func(bool) []measure.Violation {
		c = New(s, log)
		return func(rest bool) []measure.Violation {
			c.Finish(s.Now(), rest)
			return log.Violations()
		}
	}
	if _, err := job.Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	return c, log
}

const pressure = "workload.accesses=800 workload.working_set=512KiB workload.read_fraction=0.3 tcp.min_rto=1ms host.pager.migrate_interval=50us "
const events = "host.events.protect_interval=70us host.events.cow_interval=90us host.events.fork_interval=400us host.events.unmap_interval=110us host.events.child_lifetime=100us "
const splits = events + "host.events.split_interval=60us host.events.collapse_interval=130us "
const paging = pressure + "pressure.overcommit=2 "

// TestRunsArePaths: runs of sound systems are followed to the end, and all of
// their pages are, but for what is left out by design.
func TestRunsArePaths(t *testing.T) {
	for _, set := range []string{
		paging + "scheme=odp workload.atomic_fraction=0.2",
		paging + "scheme=odp transport=iwarp",
		paging + "scheme=suspend",
		paging + "scheme=suspend host.suspend.unit=region",
		pressure + "scheme=pinned",
		pressure + "scheme=iommu",
		paging + "scheme=odp host.iommu.mode=strict",
		paging + "scheme=suspend host.iommu.mode=strict",
		paging + "scheme=odp workload.registration=implicit",
		pressure + "scheme=odp workload.registration=each workload.regions=8",
		paging + "scheme=odp qp.fault_response=hold",
		paging + "scheme=odp qp.fault_response=backup",
		paging + "scheme=odp host.notifier.order=serial adapters=3",
		paging + "scheme=odp adapters=2 tpt.command.hang_at=1ms host.notifier.timeout=1ms",
		paging + "scheme=odp host.page=2MiB workload.working_set=64MiB",
		paging + "scheme=odp pcie.inject.ber=1e-7",
		paging + "scheme=odp " + events,
		paging + "scheme=odp host.events.protect_by=protect " + events,
		paging + "scheme=suspend " + events,
		paging + "scheme=odp host.iommu.mode=strict " + events,
		paging + "scheme=odp adapters=2 " + events,
		paging + "scheme=sva workload.send_fraction=0.2",
		paging + "scheme=sva transport=iwarp",
		paging + "scheme=sva " + events,
		paging + "scheme=sva host.page=2MiB workload.working_set=64MiB " + splits,
		paging + "scheme=odp host.page=2MiB workload.working_set=64MiB " + splits,
		paging + "scheme=odp host.page=2MiB workload.working_set=64MiB tpt.page=2MiB " + splits,
		paging + "scheme=suspend host.page=2MiB workload.working_set=64MiB tpt.page=64KiB",
		pressure + "scheme=pinned tpt.page=64KiB",
		paging + "scheme=sva qp.fault_response=backup",
		paging + "scheme=sva adapters=2 host.switch.adapters=2",
		paging + "scheme=sva adapters=2 tpt.command.hang_at=300us host.iommu.ats_timeout=1ms",
		paging + "scheme=sva host.page=2MiB workload.working_set=64MiB",
		paging + "scheme=iommu host.iommu.table=process host.iommu.absent=retry",
	} {
		t.Run(strings.TrimPrefix(strings.TrimPrefix(set, paging), pressure), func(t *testing.T) {
			c, log := run(t, set)
			for _, v := range log.Violations() {
				t.Errorf("%s at %v: %s", v.Rule, v.TimePS, v.What)
			}
			if s := c.Stats; s.LeftOut > 0 || s.Pages == 0 || s.Events < 800 {
				t.Errorf("followed: %+v", s)
			}
		})
	}
}
