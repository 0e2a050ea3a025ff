package platform

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// One access at a time, of a line each, finds memory at rest, whoever serves it:
// the same to the picosecond. Only peers, whose entry lies behind the data of a
// READ, may meet a busy bank where memory is not ideal; SKP would make of that
// another wait on the link.
func TestControllersAtRest(t *testing.T) {
	var hashes []string
	var times []clocked.Time
	for _, c := range []string{"banks", "akita", "ideal"} {
		o := must(t, nil, "host.dram.controller="+c, "workload.accesses=150", "workload.outstanding=1", "workload.qps=1",
			"workload.read_fraction=0.5", "workload.atomic_fraction=0.2", "workload.working_set=16MiB",
			"host.llc.ddio_lines=0", "adapter.qpc_bytes=64B", "pcie.skp=false", "peer.pcie.skp=false")
		hashes = append(hashes, o.sum.ResultHash)
		times = append(times, o.sum.Accesses.CausePS[measure.CauseHostMemory], o.sum.Accesses.CausePS[measure.CauseMTTMiss])
	}
	if hashes[0] != hashes[1] {
		t.Errorf("banks %s, akita %s", hashes[0], hashes[1])
	}
	for i := 2; i < len(times); i++ {
		if times[i] != times[i%2] {
			t.Errorf("times in host memory and for MTT misses %v: banks, akita, ideal differ", times)
		}
	}
}

// Under load the others are late: 4 KiB of data are 64 lines on one channel.
func TestControllersUnderLoad(t *testing.T) {
	mean := map[string]int64{}
	for _, c := range []string{"ideal", "banks", "akita"} {
		o := must(t, nil, "host.dram.controller="+c, "host.dram.channels=1", "workload.accesses=150", "workload.read_fraction=1",
			"workload.access_bytes=4KiB", "workload.working_set=256KiB", "network.rate=800Gb/s", "pcie.gen=5", "peer.pcie.gen=5", "tpt.tables=onboard")
		if o.sum.Accesses.Completed != 150 {
			t.Errorf("%s: %d completed", c, o.sum.Accesses.Completed)
		}
		mean[c] = int64(o.sum.Accesses.CausePS[measure.CauseHostMemory])
	}
	if mean["banks"] < 2*mean["ideal"] || mean["akita"] < 2*mean["ideal"] {
		t.Errorf("time in host memory %v: ideal memory has no queue", mean)
	}
}
