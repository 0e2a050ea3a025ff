package platform

import (
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// commandTrip is a table command from the kernel's doorbell to its completion
// entry: the work request is fetched, processed until the clock edge after the time
// for it, and what it changes in a table is written in front of the entry.
func commandTrip(request, table int64, processing clocked.Time) clocked.Time {
	lines := clocked.Time((request + 63) / 64)
	return doorbellTrip(8) + readTrip(request) + 3*ns*(lines-1) + processing + cycle + clocked.Time(24+table)*linkByte + completionTrip(0)
}

// last runs accesses one at a time and is what remains of a run of which only
// the last access is measured.
func last(t *testing.T, n int, set ...string) *measure.Summary {
	t.Helper()
	all := accesses(model.OpWrite, 64, make([]int, n)...)
	set = append(append(append([]string{}, wholeNanoseconds...), set...), "warmup="+itoa(n-1))
	return must(t, &Input{Accesses: all}, set...).sum
}

// Of one access at a time to one region of a page, each waits for the end of
// the registration before it and then for its own: two system calls, four table
// commands, a pin and its end. What else it takes is an access whose region and
// page no cache of the adapter holds.
func TestRegisterEach(t *testing.T) {
	const us = clocked.Microsecond
	sum := last(t, 3, "workload.registration=each")
	leave := hostHop + 10*us + commandTrip(64, 64, 12*us) + commandTrip(64, 8, 12*us) + 100*ns + hostHop
	enter := hostHop + 10*us + 460*ns + commandTrip(64+8, 8, 5*us) + commandTrip(64+64, 64, 5*us) + hostHop
	a := &sum.Accesses
	if got, want := a.CausePS[measure.CauseRegistration], leave+enter; got != want {
		t.Errorf("waited %v for registration, want %v + %v = %v", got, leave, enter, want)
	}
	once := last(t, 3).Accesses.LatencyPS.Total
	if got, want := a.LatencyPS.Total, once+leave+enter+readTrip(64)+readTrip(8); got != want {
		t.Errorf("latency %v, want %v: that of memory registered once, %v, two table reads, and the registration", got, want, once)
	}
	if r := sum.Registration; r.Registered != 1 || r.Deregistered != 2 || r.PinnedPages != 1 || r.CacheHits != 0 {
		t.Errorf("%+v", r) // from the second access's completion on: its end, then one of each
	}
}

// With fast registration the pages stay pinned: an access waits for two work
// requests and no system call.
func TestRegisterEachFast(t *testing.T) {
	sum := last(t, 3, "workload.registration=each", "workload.registration_method=fast")
	const us = clocked.Microsecond
	want := 4*hostHop + commandTrip(64, 64, us) + commandTrip(64+64, 64, us)
	if got := sum.Accesses.CausePS[measure.CauseRegistration]; got != want {
		t.Errorf("waited %v for registration, want %v", got, want)
	}
	if r := sum.Registration; r.Registered != 0 || r.FastRegistered != 1 || r.Invalidated != 2 || r.PinnedPages != 0 {
		t.Errorf("%+v", r)
	}
}

// mixed is accesses to 16 regions of 16 pages, most of them to a few.
func mixed(set ...string) []string {
	return append([]string{"workload.accesses=2000", "workload.working_set=1MiB", "workload.regions=16", "workload.pattern=zipf",
		"workload.access_bytes=4KiB", "workload.read_fraction=0.5", "workload.outstanding=4", "host.pager.initial=resident"}, set...)
}

// consistent checks what the counters of a run without warm-up must add up to.
func consistent(t *testing.T, o *outcome, what string) {
	t.Helper()
	r, k, g := &o.sum.Registration, o.sys.kernel, o.sys.driver.registrar
	held, free := uint64(0), uint64(0)
	for i := range g.regions {
		switch x := &g.regions[i]; {
		case x.place == placeFree:
			free++
		case x.place == placeValid:
			held++
		case x.place != placeNone || x.wanted || x.waiting.Len() > 0:
			t.Errorf("%s: region %d is in place %d at the end", what, i, x.place)
		}
		if g.regions[i].users != 0 {
			t.Errorf("%s: region %d has %d users at the end", what, i, g.regions[i].users)
		}
	}
	keys := r.FastRegistered - r.Invalidated - r.RemoteInvalidated
	if g.spec.RegistrationMethod != "window" { // a registration gives a key too
		keys += r.Registered - r.Deregistered
	}
	if r.Registered-r.Deregistered != held+free || keys != held {
		t.Errorf("%s: %d + %d registered, %d + %d ended; %d are held, %d free", what, r.Registered, r.FastRegistered, r.Deregistered, r.Invalidated, held, free)
	}
	made := r.FastRegistered
	if g.spec.RegistrationMethod != "window" { // a registration is followed by a binding
		made += r.Registered
	}
	if issued := o.sum.Accesses.Issued; r.CacheHits > issued || made > issued-r.CacheHits {
		t.Errorf("%s: %d accesses, %d hits, %d + %d registrations", what, issued, r.CacheHits, r.Registered, r.FastRegistered)
	}
	for i := range g.caches {
		if c := &g.caches[i]; c.held > c.limit || c.leaving != 0 || c.wanted.Len() != 0 {
			t.Errorf("%s: adapter %d holds %d of %d, %d leaving, %d wanted", what, i, c.held, c.limit, c.leaving, c.wanted.Len())
		}
	}
	if r.TimePS != k.Stats.RegisterTime+k.Stats.DeregisterTime || o.sum.Accesses.Failed > 0 {
		t.Errorf("%s: %d failed; %+v", what, o.sum.Accesses.Failed, *r)
	}
	if each := g.spec.Registration == registerEach && g.spec.RegistrationMethod == "regular"; each && k.PinnedFrames()+k.Held() != 0 {
		t.Errorf("%s: %d frames pinned, %d held at the end", what, k.PinnedFrames(), k.Held())
	}
}

// Memory registered once is fastest, a cache that holds the hot regions comes
// next, and registration for each access is slowest; fast registration lies
// between. On demand nothing is pinned, whatever is registered.
func TestRegistrationCosts(t *testing.T) {
	cost := func(set ...string) clocked.Time {
		o := must(t, nil, mixed(set...)...)
		if o.sys.driver.registrar != nil {
			consistent(t, o, strings.Join(set, " "))
		}
		if r := o.sum.Registration; o.sys.spec.Scheme == "odp" && r.PinnedPages != 0 || r.Refused != 0 {
			t.Errorf("%v: %+v", set, r)
		}
		return o.sum.Accesses.LatencyPS.Mean
	}
	for _, scheme := range []string{"scheme=pinned", "scheme=odp", "scheme=sva", "scheme=suspend", "scheme=iommu"} {
		once, cached, each := cost(scheme), cost(scheme, "workload.registration=cached", "workload.registration_cache=8"), cost(scheme, "workload.registration=each")
		if once >= cached || cached >= each {
			t.Errorf("%s: once %v, cached %v, each %v", scheme, once, cached, each)
		}
		if scheme != "scheme=pinned" && scheme != "scheme=iommu" {
			continue
		}
		if fast := cost(scheme, "workload.registration=each", "workload.registration_method=fast"); fast <= once || fast >= each {
			t.Errorf("%s: once %v, fast %v, each %v", scheme, once, fast, each)
		}
	}
}

// A cache that holds every region registers each once, and then costs nothing.
func TestCacheThatHoldsAll(t *testing.T) {
	o := must(t, nil, mixed("workload.registration=cached", "workload.registration_cache=16", "warmup=1000")...)
	// The warm-up ends with the instant in which the first measured access is posted.
	if r := o.sum.Registration; r.Registered != 0 || r.Deregistered != 0 || r.CacheHits < 1000-1 || o.sum.Accesses.CausePS[measure.CauseRegistration] != 0 {
		t.Errorf("%+v", r)
	}
}

// E1: the process maps memory afresh while a cache keeps its registration. Peers
// go on with the old frames: stale by design, and no violation. A cache that is
// told lets go, and is stale for much fewer accesses; on demand none is.
func TestStaleCache(t *testing.T) {
	stale := func(set ...string) uint64 {
		o := must(t, nil, mixed(append(set, "workload.registration=cached", "workload.remap_interval=20us")...)...)
		consistent(t, o, strings.Join(set, " "))
		if o.sum.Invalidations.StaleDMA != 0 || o.sum.Registration.Remaps == 0 {
			t.Errorf("%v: %d stale, %d remaps", set, o.sum.Invalidations.StaleDMA, o.sum.Registration.Remaps)
		}
		return o.sum.Invalidations.StaleDeferred
	}
	blind, told, demand := stale(), stale("workload.registration_hook=notice"), stale("scheme=odp")
	if blind < 500 || told >= blind/4 || demand != 0 {
		t.Errorf("stale transfers: %d, with notice %d, on demand %d", blind, told, demand)
	}
}

// Registrations that memory does not suffice for wait until others have let go;
// where nothing else holds memory, their accesses end as not advertised.
func TestRegistrationRefused(t *testing.T) {
	for _, mode := range []string{"each", "cached"} {
		for _, method := range []string{"regular", "fast", "window"} {
			set := []string{"workload.registration=" + mode, "workload.registration_method=" + method}
			o := must(t, nil, mixed(append(set, "host.memory=160KiB")...)...) // 40 frames: two regions of 16 pages, and two to page in
			if r := o.sum.Registration; r.Refused == 0 || o.sum.Accesses.Failed != 0 || r.Deregistered == 0 {
				t.Errorf("%v: %d accesses failed; %+v", set, o.sum.Accesses.Failed, r)
			}
			o = must(t, nil, mixed(append(set, "host.memory=64KiB")...)...) // 16 frames: not one
			if n := o.sum.Accesses.FailedBy[measure.StatusNotAdvertised]; n != 2000 || o.sum.Registration.Registered != 0 {
				t.Errorf("%v: %d of 2000 accesses refused; %+v", set, n, o.sum.Registration)
			}
		}
	}
}

// What cannot be is refused by the name of its key.
func TestRegistrationKeys(t *testing.T) {
	for _, c := range []struct {
		want string
		set  []string
	}{
		{"workload.remap_interval", []string{"workload.remap_interval=1ms"}},
		{"workload.registration_method", []string{"workload.registration=each", "workload.registration_method=fast", "scheme=odp"}},
		{"workload.remap_interval", []string{"workload.registration=each", "workload.remap_interval=1ms", "host.iommu.mode=strict"}},
		{"tpt.page", []string{"workload.registration=each", "tpt.page=64KiB"}},
		{"workload.registration_advice", []string{"workload.registration_advice=read"}},
		{"workload.send_invalidate", []string{"workload.registration=each", "workload.registration_method=fast", "workload.send_invalidate=0.5"}},
		{"workload.send_invalidate", []string{"workload.registration=cached", "workload.send_invalidate=0.5"}},
		{"tpt.page", []string{"tpt.tenants=2", "workload.aggressor_fraction=0.5", "workload.aggressor_registration=each", "tpt.page=64KiB"}},
		{"workload.registration_method", []string{"tpt.tenants=2", "workload.aggressor_fraction=0.5", "workload.aggressor_registration=cached", "workload.registration_method=fast", "scheme=odp"}},
	} {
		if _, err := execute(nil, c.set); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: %v", c.set, err)
		}
	}
}

// What peers are told of at a time is what is registered at most: as many of the
// largest regions as there are places, or accesses in flight.
func TestAdvertisedByRegistration(t *testing.T) {
	for set, want := range map[string]uint64{"workload.registration=once": 16, "workload.registration=cached": 3, "workload.registration=each": 4} {
		o := must(t, nil, mixed(set, "workload.registration_cache=3", "workload.accesses=100")...)
		if got := o.sum.Advertise.BytesAdvertised >> 16; got != want {
			t.Errorf("%s: %d regions advertised, want %d", set, got, want)
		}
	}
}
