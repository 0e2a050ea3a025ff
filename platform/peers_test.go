package platform

import (
	"testing"

	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/workload"
)

// Two unlike adapters, and a region of its own registered with each: 4 pages, and
// 12 of which the accesses touch 7. Where both pin, and the host has as many
// frames as pages, each peer has its part, and the parts are the host's figures.
// Where the second pins nothing, of 24 frames its peer can have those that are
// not pinned for the other, and has what it touched; the first can have all.
func TestPeersAreToldApart(t *testing.T) {
	var run []workload.Access
	touch := func(qp uint32, at model.VA, pages ...int) {
		for _, p := range pages {
			run = append(run, workload.Access{Op: model.OpWrite, Len: 64, VA: base + at + model.VA(p)<<12, QP: qp})
		}
	}
	touch(0, 0, 0, 1, 2, 3)
	touch(1, 16<<20, 0, 1, 2, 3, 4, 5, 11)
	pages := func(advertised, reserved, resident uint64) measure.AdvertiseStats {
		return measure.AdvertiseStats{BytesAdvertised: advertised << 12, BytesReserved: reserved << 12, BytesResident: resident << 12}
	}
	for _, c := range []struct {
		scheme, memory     string
		host, first, other measure.AdvertiseStats
	}{
		{"pinned", "64KiB", pages(16, 16, 16), pages(4, 4, 4), pages(12, 12, 12)},
		{"odp", "96KiB", pages(16, 24, 11), pages(4, 24, 4), pages(12, 20, 7)},
	} {
		o := must(t, &Input{Accesses: run}, "adapters=[{}, {tpt.clock: 333MHz, scheme: "+c.scheme+"}]", "workload.registration=cached",
			"workload.qps=2", "host.memory="+c.memory)
		a := &o.sum.Advertise
		if a.AdvertiseStats != c.host || len(a.Peers) != 2 || a.Peers[0] != c.first || a.Peers[1] != c.other {
			t.Fatalf("second adapter %s:\n%+v of the host, %+v\nwant\n%+v, %+v and %+v", c.scheme, a.AdvertiseStats, a.Peers, c.host, c.first, c.other)
		}
		if both := a.Peers[0].BytesReserved + a.Peers[1].BytesReserved; c.scheme == "pinned" && both != a.BytesReserved {
			t.Errorf("%d bytes reserved for both peers, the host has %d", both, a.BytesReserved)
		}
		if a.Peers[0].BytesAdvertised+a.Peers[1].BytesAdvertised != a.BytesAdvertised || a.Peers[0].BytesResident+a.Peers[1].BytesResident != a.BytesResident {
			t.Errorf("second adapter %s: peers do not add up to the host's %+v", c.scheme, a.AdvertiseStats)
		}
	}
}
