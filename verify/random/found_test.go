package random

import (
	"context"
	"strings"
	"testing"

	"rnicmmu/configs"
)

// Systems in which random verification has found something, each in the smallest
// form that showed it.
func TestFoundBefore(t *testing.T) {
	for what, set := range map[string]string{
		"a proof told of another queue pair's dropped write, and a write that was dropped was acknowledged": "scheme=iommu; pcie.lanes=1; pcie.replay_buffer.tlps=1; host.iommu.table=process; workload.accesses=14; seed=314",
		"an atomic, likewise": "scheme=iommu; pcie.lanes=1; pcie.replay_buffer.tlps=1; host.iommu.table=process; workload.accesses=40; workload.atomic_fraction=1; seed=584",
		"payload behind a READ that went back was read where there was none":        "scheme=odp; workload.read_fraction=0.5; qp.rnr_timer=1; peer.pcie.lanes=1; workload.access_bytes=100000B; workload.accesses=18; seed=503",
		"a segment sent again while its acknowledgement is in the receive pipeline": "scheme=odp; adapters=[{},{transport: iwarp, qp.fault_response: hold}]; workload.read_fraction=1; tpt.in_flight=2; qp.mtu=256B; adapter.read_ahead=1; network.rate=1Gb/s; workload.access_bytes=4KiB; tcp.min_rto=100us; tcp.initial_window=1; tcp.ack_every=2; tcp.delayed_ack=100us; workload.accesses=26",
	} {
		if o := Run(context.Background(), configs.Sources{}, strings.Split(set, "; ")); o.Status != OK {
			t.Errorf("%s: %s: %s", what, o.Status, o.What)
		}
	}
}
