package platform

import (
	"testing"

	"rnicmmu/model"
	"rnicmmu/workload"
)

// An access stays on the QP that its trace names, also where that is the only
// one; accesses of a trace that names none are dealt out to all in turn.
func TestQPsOfATrace(t *testing.T) {
	for _, c := range []struct {
		qp   uint32
		want int // QPs that carry requests
	}{{0, 4}, {7, 1}} {
		all := make([]workload.Access, 40)
		for i := range all {
			all[i] = workload.Access{VA: model.VA(0x10000 + 64*i), Len: 64, QP: c.qp, TimePS: workload.NoTime}
		}
		in := &Input{Accesses: all, NoQPs: noQPs(all)}
		o, err := execute(in, []string{"workload.qps=4", "adapter.qpc_entries=4", "adapter.qpc_ways=0"})
		if err != nil {
			t.Fatal(err)
		}
		// Each QP's first packet misses the context cache, and no other does.
		if got := int(o.sys.nodes[0].responder.Stats.ContextMisses); got != c.want {
			t.Errorf("trace of QP %d: %d QPs used, want %d", c.qp, got, c.want)
		}
	}
}
