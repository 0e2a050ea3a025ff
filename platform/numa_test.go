package platform

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// twoSockets is a host of two, 30 ns apart, and 1 ns a line on the link.
var twoSockets = []string{"host.numa.sockets=2", "host.numa.latency=30ns", "host.numa.bandwidth=512Gb/s"}

// An adapter at the other socket reads user pages 61 ns later. Its tables and
// queues are at its own: walks take what they took, and so do WRITEs, which are
// acknowledged on the link.
func TestRemoteSocketLatency(t *testing.T) {
	const remote = 61 * ns
	for _, c := range []struct {
		name  string
		op    model.Op
		pages []int
		want  clocked.Time
	}{
		{"read, hit", model.OpRead, []int{0, 0}, remote},
		{"read, miss", model.OpRead, []int{0, 1}, remote},
		{"write, miss", model.OpWrite, []int{0, 1}, 0},
		{"atomic", model.OpFetchAdd, []int{0, 0}, remote},
	} {
		var got [2]clocked.Time
		for socket := range got {
			set := append(append([]string{}, twoSockets...), "host.numa.socket="+itoa(socket))
			got[socket] = latencyOf(t, accesses(c.op, 8, c.pages...), set...)
		}
		if late := got[1] - got[0]; late != c.want {
			t.Errorf("%s: %v later at socket 1, want %v", c.name, late, c.want)
		}
	}
}

// Pages in turn on both sockets: each adapter finds half of them at home, and is
// as far from the others.
func TestInterleavedPages(t *testing.T) {
	for socket := range 2 {
		set := append(append([]string{}, twoSockets...), "host.numa.pages=interleave", "host.numa.socket="+itoa(socket))
		var got []clocked.Time
		for page := range 4 {
			got = append(got, latencyOf(t, accesses(model.OpRead, 8, 0, 1, 2, 3, page), set...))
		}
		near, far := got[0], got[1]
		if near > far {
			near, far = far, near
		}
		if far-near != 61*ns || got[2] != got[0] || got[3] != got[1] || (got[0] == near) != (socket == 0) {
			t.Errorf("socket %d: pages 0 to 3 take %v", socket, got)
		}
	}
}

// Adapters that differ in nothing but their socket share pages on socket 0.
func TestAdaptersOnTwoSockets(t *testing.T) {
	o := must(t, nil, append(append([]string{}, twoSockets...), "adapters=[{}, {host.numa.socket: 1}]", "workload.accesses=2000",
		"workload.read_fraction=0.5", "scheme=odp", "workload.working_set=256KiB", "pressure.overcommit=2")...)
	if o.sum.Accesses.Completed != 2000 {
		t.Errorf("%d completed", o.sum.Accesses.Completed)
	}
	if _, err := execute(nil, []string{"host.numa.socket=1"}); err == nil {
		t.Error("a socket that the host has not is accepted")
	}
}
