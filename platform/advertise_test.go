package platform

import (
	"fmt"
	"testing"

	"rnicmmu/measure"
)

// Under refuse the buffers that the reserve does not back are never advertised:
// their accesses end with the host's word, nothing of them reaches the host's
// memory, and what is advertised is paged in at most once.
func TestAdvertiseRefuse(t *testing.T) {
	o := must(t, nil, pressed("odp", 2, "advertise.policy=refuse", "advertise.buffer=4KiB", "workload.pattern=sequential",
		"workload.accesses=8192", "qp.rnr_timer=1")...)
	// 64 pages of 64 accesses each, twice over; 32 frames back the first 32 buffers.
	a, failed := &o.sum.Advertise, o.sum.Accesses.FailedBy[measure.StatusNotAdvertised]
	if a.Refused != 32 || a.BytesAdvertised != 32<<12 || failed != 8192/2 || o.sum.Accesses.Failed != failed {
		t.Errorf("%d buffers refused, %d bytes advertised, %d accesses refused of %d failed", a.Refused, a.BytesAdvertised, failed, o.sum.Accesses.Failed)
	}
	if got, want := o.sum.Accesses.FailedLatencyPS.Total, int64(failed)*10_000_000; int64(got) != want {
		t.Errorf("refused accesses took %d ps in all, want %d", got, want)
	}
	n := o.sum.Transport.RNRNaks
	if o.sum.Faults.FilledPages > 32+1 || n.OverAdvertised != 0 || n.Paging == 0 {
		t.Errorf("%d pages filled, RNR NAKs %+v", o.sum.Faults.FilledPages, n)
	}
}

// Under throttle every access is served in the end, no more is advertised than
// reserved, and peers wait for the host's word instead of for RNR timers.
func TestAdvertiseThrottle(t *testing.T) {
	for _, buffer := range []string{"4KiB", "16KiB"} {
		o := must(t, nil, pressed("odp", 4, "advertise.policy=throttle", "advertise.buffer="+buffer, "workload.access_bytes=4KiB",
			"workload.read_fraction=0.5")...)
		n, a := o.sum.Transport.RNRNaks, &o.sum.Accesses
		if a.Failed != 0 || o.sum.Advertise.BytesAdvertised > o.sum.Advertise.BytesReserved || n.OverAdvertised != 0 {
			t.Errorf("buffer %s: %d failed, %d bytes advertised, RNR NAKs %+v", buffer, a.Failed, o.sum.Advertise.BytesAdvertised, n)
		}
		if a.CausePS[measure.CauseGrant] == 0 {
			t.Errorf("buffer %s: nobody waited for a buffer", buffer)
		}
	}
}

// Of one access at a time over pages in turn, every access waits the whole
// grant time, which may be none: the buffers that it needs were withdrawn long ago.
func TestThrottleGrantTime(t *testing.T) {
	for _, us := range []int64{7, 0} {
		o := must(t, nil, pressed("odp", 4, "advertise.policy=throttle", "advertise.buffer=4KiB", fmt.Sprintf("advertise.grant_time=%dus", us),
			"workload.pattern=sequential", "workload.access_bytes=4KiB", "workload.outstanding=1", "workload.accesses=256")...)
		if got, want := o.sum.Accesses.CausePS[measure.CauseGrant], 256*us*1_000_000; int64(got) != want {
			t.Errorf("%d us: %d ps waited for grants, want %d", us, got, want)
		}
	}
}

// More than the reserve is said, under warn only, and changes nothing else.
func TestAdvertiseWarn(t *testing.T) {
	var hashes []string
	for _, policy := range []string{"allow", "warn"} {
		o := must(t, nil, pressed("odp", 2, "advertise.policy="+policy)...)
		if want := policy == "warn"; (o.sum.Warning != "") != want {
			t.Errorf("%s: warning %q", policy, o.sum.Warning)
		}
		hashes = append(hashes, o.sum.ResultHash)
		if o.sum.Transport.RNRNaks.OverAdvertised == 0 || o.sum.Transport.RNRNaks.Paging != 0 {
			t.Errorf("%s: RNR NAKs %+v", policy, o.sum.Transport.RNRNaks)
		}
	}
	if hashes[0] != hashes[1] {
		t.Error(fmt.Sprint("a warning changed the result: ", hashes))
	}
}

// An access that falls in more buffers than may be advertised at a time is
// refused, not held for ever.
func TestThrottleTooLarge(t *testing.T) {
	o := must(t, nil, pressed("odp", 32, "advertise.policy=throttle", "advertise.buffer=4KiB", "workload.access_bytes=16KiB", "workload.accesses=8")...)
	if n := o.sum.Accesses.FailedBy[measure.StatusNotAdvertised]; n != 8 {
		t.Errorf("%d of 8 accesses refused", n)
	}
}
