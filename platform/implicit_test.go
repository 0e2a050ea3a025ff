package platform

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

const implicitly = "workload.registration=implicit"

// 20 GiB of touched address space are 20 children of 1 GiB, all
// there at the end; and with frames for four pages children go as others come.
func TestChildrenOfTwentyGiB(t *testing.T) {
	sparse := []string{"scheme=odp", implicitly, "workload.working_set=20GiB", "host.page=2MiB", "workload.pattern=strided",
		"workload.stride=1GiB", "workload.accesses=200", "qp.fault_response=hold"}
	r := must(t, nil, append(sparse, "host.memory=1GiB")...).sum.Registration
	if r.ChildrenMade != 20 || r.ChildrenResident != 20 || r.ChildrenDestroyed != 0 {
		t.Errorf("%d children made, %d destroyed, %d resident; want 20, 0, 20", r.ChildrenMade, r.ChildrenDestroyed, r.ChildrenResident)
	}
	r = must(t, nil, append(sparse, "host.memory=8MiB")...).sum.Registration
	if r.ChildrenDestroyed == 0 || r.ChildrenMade != r.ChildrenDestroyed+r.ChildrenResident || r.ChildrenResident > 4 {
		t.Errorf("%d children made, %d destroyed, %d resident", r.ChildrenMade, r.ChildrenDestroyed, r.ChildrenResident)
	}
}

// A hit behind an implicit region takes one look-up (4 cycles) more than behind
// a region of its own. With nothing cached the protection entries of root and
// child (64 B), the list's entry (16 B) and the page's (8 B) are read, one after
// the other, over PCIe or from on-board memory.
func TestImplicitLatency(t *testing.T) {
	odp := []string{"scheme=odp", "qp.fault_response=hold"}
	cold := []string{"tpt.mpt.entries=1", "tpt.mpt.ways=0", "tpt.mtt.entries=1", "tpt.mtt.ways=0"}
	for _, op := range []model.Op{model.OpWrite, model.OpRead} {
		for _, c := range []struct {
			tables string
			want   clocked.Time
		}{
			{"tpt.tables=host", 2*readTrip(64) + readTrip(16) + readTrip(8)},
			{"tpt.tables=onboard", 4 * 90 * ns},
		} {
			set := append([]string{c.tables}, odp...)
			plain := latencyOf(t, accesses(op, 64, 0, 100, 0), set...)
			hit := latencyOf(t, accesses(op, 64, 0, 100, 0), append(set, implicitly)...)
			miss := latencyOf(t, accesses(op, 64, 0, 100, 0), append(append(set, implicitly), cold...)...)
			if hit-plain != 4*cycle || miss-hit != c.want {
				t.Errorf("%v %s: a hit takes %v more than a plain one, want %v; a cold look-up %v more, want %v",
					op, c.tables, hit-plain, 4*cycle, miss-hit, c.want)
			}
		}
	}
}

// What cannot be registered so is refused, with the mend.
func TestImplicitNeedsODP(t *testing.T) {
	for _, set := range [][]string{{implicitly}, {implicitly, "scheme=suspend"}, {implicitly, "scheme=odp", "adapters=[{}, {scheme: sva}]"}} {
		if _, err := execute(nil, set); err == nil {
			t.Errorf("%v runs", set)
		}
	}
}
