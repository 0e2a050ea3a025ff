package platform

import (
	"testing"

	"rnicmmu/model"
	"rnicmmu/workload"
)

// A requester that reads one packet ahead goes on reading when that packet has
// left: nothing else would wake it before its time-out.
func TestOnePacketAhead(t *testing.T) {
	o := must(t, nil, "qp.payload_ahead=1", "qp.mtu=256B", "workload.access_bytes=100000B", "workload.working_set=800000B",
		"workload.accesses=20", "workload.qps=1", "workload.outstanding=1")
	if s := &o.sum.Transport; s.Timeouts != 0 || s.PacketsResent != 0 {
		t.Errorf("%d time-outs, %d packets sent again, without a loss", s.Timeouts, s.PacketsResent)
	}
}

// Doorbells are taken even while the requester's DMA engine is full: completions
// cannot pass them on the link, and the engine waits for completions.
func TestManyDoorbells(t *testing.T) {
	o := must(t, nil, "workload.offered_rate=50000000/s", "workload.accesses=600", "workload.access_bytes=100000B",
		"workload.working_set=8000000B", "qp.inline=0B", "peer.pcie.completion_buffer=8KiB", "peer.pcie.read_queue=2")
	if o.sum.Accesses.Completed != 600 {
		t.Errorf("%d completed", o.sum.Accesses.Completed)
	}
}

// Runs of touched memory in one large page are one region: the page has one
// frame and one table entry.
func TestRegionsShareNoPage(t *testing.T) {
	run := []workload.Access{{Op: model.OpWrite, Len: 64, VA: base}, {Op: model.OpWrite, Len: 64, VA: base + 3<<19}, {Op: model.OpRead, Len: 64, VA: base}}
	for _, host := range []string{"2MiB", "4KiB"} {
		_, o := rowsOf(t, run, run, "host.page="+host, "tpt.page=2MiB", "workload.outstanding=1", "host.memory=64MiB")
		if mtt := &o.sum.TPT.MTT; mtt.Misses != 1 || mtt.Hits != 2 {
			t.Errorf("host.page %s: %d misses, %d hits in one page", host, mtt.Misses, mtt.Hits)
		}
	}
}

// Pages that move faster than an RNR timer runs still serve the access that
// they were faulted in for.
func TestMigrationLeavesTime(t *testing.T) {
	must(t, nil, "scheme=odp", "host.page=2MiB", "tpt.page=2MiB", "workload.working_set=16MiB", "workload.pattern=sequential",
		"host.pager.migrate_interval=50us", "pressure.overcommit=1.5", "workload.accesses=32", "workload.qps=2", "watchdog=1s")
}

// The kernel posts no more commands than the adapter's queue holds, so that no
// doorbell stands in the way of a completion.
func TestManyCommands(t *testing.T) {
	set := append(pressed("odp", 3, "host.command.outstanding=1024", "tpt.invalidation.queue_depth=2", "host.pager.parallel=512",
		"host.fault.workers=512", "host.fault.contexts=512", "workload.qps=64", "workload.outstanding=64"), fastPaging...)
	must(t, nil, set...)
}

// ATS-1: pages of 2 MiB that are split, leave and come back under an IOMMU lose
// no write: what its walks cache of a table that emptied goes before the table
// serves another page.
func TestSplitPagesComeAndGo(t *testing.T) {
	for _, set := range [][]string{
		{"scheme=iommu", "host.iommu.table=process", "host.iommu.absent=retry", "host.events.split_interval=1ms"},
		{"scheme=sva", "host.events.split_interval=20us"},
		{"scheme=sva", "workload.outstanding=1", "workload.registration=each", "host.events.unmap_interval=1ms", "host.events.split_interval=200us"},
	} {
		must(t, nil, append(set, "host.page=2MiB", "workload.working_set=16MiB", "pressure.overcommit=1.5", "workload.accesses=1000", "qp.retry=2", "watchdog=5s")...)
	}
}
