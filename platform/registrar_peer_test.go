package platform

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// By windows an access of another queue pair waits for two work requests, with
// four hops between software and kernel: the invalidation of the window, and the
// next binding, which brings the entry along. The memory stays registered. One of
// the same queue pair finds its window bound where registrations are cached.
func TestRegisterByWindows(t *testing.T) {
	const us = clocked.Microsecond
	trip := 4*hostHop + commandTrip(64, 64, us) + commandTrip(64+64, 64, us)
	for _, c := range []struct {
		mode string
		qps  uint32
		want clocked.Time
	}{{"each", 1, trip}, {"each", 2, trip}, {"cached", 1, 0}, {"cached", 2, trip}} {
		all := accesses(model.OpWrite, 64, 0, 0, 0)
		for i := range all {
			all[i].QP = uint32(i) % c.qps
		}
		set := append(append([]string{}, wholeNanoseconds...), "warmup=2", "workload.qps=2", "workload.registration="+c.mode, "workload.registration_method=window")
		sum := must(t, &Input{Accesses: all}, set...).sum
		if got := sum.Accesses.CausePS[measure.CauseRegistration]; got != c.want || sum.Registration.Registered != 0 {
			t.Errorf("%s, %d queue pairs: waited %v for registration, want %v; %+v", c.mode, c.qps, got, c.want, sum.Registration)
		}
	}
}

// Windows cost less than registration for each access, under every scheme, and
// more than the fast registration of all queue pairs together where there is one.
func TestWindowCosts(t *testing.T) {
	cost := func(set ...string) clocked.Time {
		o := must(t, nil, mixed(append(set, "workload.registration=each")...)...)
		consistent(t, o, set[0])
		return o.sum.Accesses.LatencyPS.Mean
	}
	for _, scheme := range []string{"pinned", "iommu", "odp", "sva", "suspend"} {
		each, windows := cost("scheme="+scheme), cost("scheme="+scheme, "workload.registration_method=window")
		if windows >= each {
			t.Errorf("%s: each %v, windows %v", scheme, each, windows)
		}
		if scheme != "pinned" && scheme != "iommu" {
			continue
		}
		if fast := cost("scheme="+scheme, "workload.registration_method=fast"); fast >= windows {
			t.Errorf("%s: fast %v, windows %v", scheme, fast, windows)
		}
	}
}

// FRW-4: SENDs invalidate registrations that nobody uses, in place of as many
// work requests of the host, and no access by a dead key follows.
func TestSendInvalidates(t *testing.T) {
	for _, set := range [][]string{{"workload.registration_method=fast"}, {"workload.registration_method=window"},
		{"workload.registration_method=window", "scheme=odp", "pressure.overcommit=1.5"}, {"workload.registration_method=fast", "transport=iwarp", "adapters=2"}} {
		run := func(share string) *measure.RegistrationSummary {
			o := must(t, nil, mixed(append(set, "workload.registration=cached", "workload.registration_cache=8", "workload.send_fraction=0.3", "workload.send_invalidate="+share)...)...)
			consistent(t, o, set[0])
			var kills, refused uint64
			for _, n := range o.sys.nodes {
				kills += n.tpt.Stats.Kills
				refused += n.responder.Stats.KillsRefused
			}
			if r := &o.sum.Registration; kills != r.RemoteInvalidated || refused != 0 {
				t.Errorf("%v, share %s: %d keys invalidated by SENDs, %d told to the kernel, %d refused", set, share, kills, r.RemoteInvalidated, refused)
			}
			return &o.sum.Registration
		}
		none, half, all := run("0").RemoteInvalidated, run("0.5").RemoteInvalidated, run("1").RemoteInvalidated
		if none != 0 || half == 0 || all <= half {
			t.Errorf("%v: none %d, half %d, all %d", set, none, half, all)
		}
	}
}

// Advice at registration brings pages in before peers ask for them: with write
// advice on fresh memory, given long before the accesses, nothing faults, with
// read advice each page faults once for the right to store, and without, or for
// pages that are present, as often as without advice.
func TestRegistrationAdvice(t *testing.T) {
	faults := func(set ...string) uint64 {
		set = append([]string{"scheme=odp", "workload.pattern=sequential", "workload.accesses=64", "workload.access_bytes=4KiB",
			"workload.working_set=256KiB", "workload.qps=1", "workload.offered_rate=1000/s", "warmup=1"}, set...)
		return must(t, nil, set...).sum.Faults.Raised
	}
	for _, c := range []struct {
		set    []string
		faults uint64
	}{
		{nil, 63},
		{[]string{"workload.registration_advice=write"}, 0},
		{[]string{"workload.registration_advice=read"}, 63},
		{[]string{"workload.registration_advice=no_fault"}, 63},
		{[]string{"workload.registration=cached", "workload.registration_advice=write"}, 0},
	} {
		if raised := faults(c.set...); raised != c.faults {
			t.Errorf("%v: %d faults, want %d", c.set, raised, c.faults)
		}
	}
}
