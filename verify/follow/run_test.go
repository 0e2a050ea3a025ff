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
