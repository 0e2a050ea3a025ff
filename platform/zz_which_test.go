package platform

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
)

func TestZZWhich(t *testing.T) {
	for _, i := range []int{7, 9, 10, 11} {
		want := hash(t, diverse[i])
		specs, _ := adapters(diverse[i])
		sys, _ := New(specs, nil)
		ids := map[string]clocked.UnitID{"tpt": sys.nodes[0].tpt.ID(), "responder": sys.nodes[0].responder.ID(), "requester": sys.nodes[0].requester.ID(),
			"ep": sys.nodes[0].link.Endpoint.ID(), "root": sys.nodes[0].link.Root.ID(), "pep": sys.nodes[0].peerLink.Endpoint.ID(), "proot": sys.nodes[0].peerLink.Root.ID(), "mem": sys.memory.ID(), "pmem": sys.nodes[0].peerMemory.ID(), "kernel": sys.kernel.ID()}
		for n, id := range ids {
			for seed := range uint64(3) {
				only = id
				if got := hash(t, diverse[i], chaotic(seed)); got != want {
					fmt.Println(i, n, seed, got, want)
				}
			}
		}
		only = -1
	}
}
