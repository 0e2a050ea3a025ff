package pcie

import (
	"rnicmmu/clocked"
	rules "rnicmmu/model/pcie"
)

// conserved checks that nothing is left of tags, places, space and credits when
// all has drained.
func conserved(t tb, r *rig) {
	t.Helper()
	u := r.Endpoint
	if !r.Idle() || r.engine.Pending() > 0 {
		t.Errorf("not idle: %d events, %v %v", r.engine.Pending(), u.Waits(), r.Root.Waits())
	}
	if int(u.tx.tags) != len(u.tags.at) || u.tx.space != uint32(r.spec.CompletionBuffer) || u.asking != 0 {
		t.Errorf("%d of %d tags and %d of %v bytes are free, %d reads ask", u.tx.tags, len(u.tags.at), u.tx.space, r.spec.CompletionBuffer, u.asking)
	}
	if n := u.tags.used() + u.reads.used() + u.writes.used() + r.Root.answers.used() + r.Root.bells.used(); n > 0 {
		t.Errorf("%d places are taken", n)
	}
	for i := range u.tags.at {
		if x := &u.tags.at[i]; x.busy || x.late || x.left != 0 {
			t.Errorf("tag %d is left %+v", i, *x)
		}
	}
	returned(t, r, &u.tx, &r.spec.Credits)
	returned(t, r, &r.Root.tx, &r.spec.AdapterCredits)
}

// returned checks that a transmitter has all the credits that its peer advertised
// and that its replay buffer is empty; what comes to it costs no event and is
// there at the latest a millisecond on. Parts of a step of the scale are not told.
func returned(t tb, r *rig, x *transmitter, advertised *Credits) {
	t.Helper()
	x.collect(r.engine.Now() + clocked.Millisecond)
	for p, n := range advertised.pools() {
		if free := int(x.credits[p].Free()); free > n || n > 0 && n-free >= r.spec.Scale {
			t.Errorf("pool %v has %d of %d credits", rules.Pool(p), free, n)
		}
	}
	if x.sequence.Outstanding() > 0 || x.held > 0 || x.again > 0 {
		t.Errorf("%d TLPs of %d B are left in the replay buffer", x.sequence.Outstanding(), x.held)
	}
}

// withhold takes all credits of a pool away from a transmitter for ever.
func withhold(r *rig, x *transmitter, p rules.Pool) {
	x.collect(r.engine.Now())
	x.credits[p].Take(x.credits[p].Free())
}
