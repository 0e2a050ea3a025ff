package coverage

import (
	"slices"

	"rnicmmu/verify/random"
)

// fast has faults, fills and invalidations of a page meet in flight.
var fast = random.FastPaging

// crowded is memory of few pages that come and go under all operations.
var crowded = []string{"workload.accesses=1500", "workload.working_set=64KiB", "pressure.overcommit=1.5", "host.pager.grace=100us", "qp.rnr_timer=1",
	"workload.read_fraction=0.4", "workload.atomic_fraction=0.2", "workload.qps=16", "host.cpu.working_set=16KiB", "host.cpu.shared_fraction=0.5",
	"host.pager.migrate_interval=7us", "host.events.protect_interval=5us", "host.events.cow_interval=11us", "host.events.fork_interval=40us",
	"host.events.unmap_interval=13us", "watchdog=5s"}

func set(parts ...any) (all []string) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			all = append(all, p)
		case []string:
			all = slices.Concat(all, p)
		}
	}
	return all
}

// Corners are directed configurations: each comes to rare situations in less
// than a second.
var Corners = []Input{
	{Name: "odp, crowded", Set: set("scheme=odp", crowded)},
	{Name: "odp, crowded, fast", Set: set("scheme=odp", crowded, fast),
		Hits: []string{"race_invalidate: sent × translation out", "race_invalidate: marked × DMA write", "race_invalidate: marked × walk", "allowed_set: store × 2", "entry_event: absent × store"}},
	{Name: "odp, crowded, protected in place", Set: set("scheme=odp", crowded, fast, "host.events.protect_by=protect"),
		Hits: []string{"race_protect: marked × translation out", "entry_event: writable × protect"}},
	{Name: "odp, crowded, read ahead", Set: set("scheme=odp", crowded, fast, "tpt.mtt.prefetch=next_line", "tpt.mtt.prefetch_degree=4", "tpt.mtt.entries=4", "tpt.mtt.mshrs=8"),
		Hits: []string{"race_invalidate: sent × read ahead"}},
	{Name: "odp, crowded, prefetch", Set: set("scheme=odp", crowded, fast, "host.prefetch.advice=read", "tpt.fault.pages=1", "host.pager.read_faults_write=false")},
	{Name: "odp, crowded, held", Set: set("scheme=odp", crowded, fast, "qp.fault_response=hold", "tpt.mtt.line_entries=8")},
	{Name: "odp, crowded, backup ring", Set: set("scheme=odp", crowded, "qp.fault_response=backup", "adapter.backup_entries=4")},
	{Name: "odp, crowded, long accesses", Set: set("scheme=odp", crowded, fast, "workload.access_bytes=8KiB", "workload.atomic_fraction=0", "pcie.lanes=1", "workload.accesses=500")},
	{Name: "suspend, crowded", Set: set("scheme=suspend", crowded)},
	{Name: "suspend, crowded, fast", Set: set("scheme=suspend", crowded, fast, "tpt.mtt.prefetch=next_line", "tpt.mtt.entries=4", "tpt.mtt.mshrs=8"),
		Hits: []string{"race_suspend: sent × translation out", "race_suspend: marked × DMA write", "entry_event: moving × store"}},
	{Name: "suspend, crowded, protected in place", Set: set("scheme=suspend", crowded, fast, "host.events.protect_by=protect", "host.prefetch.advice=read")},
	{Name: "suspend by region, crowded", Set: set("scheme=suspend", crowded, fast, "host.suspend.unit=region", "workload.regions=4", "host.command.outstanding=16"),
		Hits: []string{"race_suspend: sent × suspension"}},
	{Name: "suspend, crowded, long", Set: set("scheme=suspend", crowded, fast, "workload.access_bytes=8KiB", "workload.atomic_fraction=0", "pcie.lanes=1", "workload.accesses=300")},
	{Name: "sva, crowded", Set: set("scheme=sva", crowded)},
	{Name: "sva, crowded, fast", Set: set("scheme=sva", crowded, fast, "tpt.command.ats_invalidate=2us", "tpt.mtt.entries=8"),
		Hits: []string{"race_ats: received × translation out", "race_ats: received × walk", "race_ats: sent × fault", "dma_status: ATS × success"}},
	{Name: "sva, crowded, read ahead", Set: set("scheme=sva", crowded, fast, "tpt.mtt.prefetch=next_line", "tpt.mtt.prefetch_degree=4", "tpt.mtt.entries=4", "tpt.mtt.mshrs=8", "tpt.command.ats_invalidate=2us")},
	{Name: "sva, few of all", Set: set("scheme=sva", crowded, fast, "tpt.page_requests=1", "host.iommu.ats_depth=1", "qp.fault_response=hold"),
		Hits: []string{"queue: page requests × full", "queue: ITags × full"}},
	{Name: "sva, crowded, long accesses", Set: set("scheme=sva", crowded, "workload.access_bytes=8KiB", "workload.atomic_fraction=0", "pcie.lanes=1", "tpt.command.ats_invalidate=5us", "workload.accesses=500")},
	{Name: "iommu process, crowded", Set: set("scheme=iommu", "host.iommu.table=process", "host.iommu.absent=retry", crowded, "host.pager.grace=50ms", "workload.accesses=100")},
	{Name: "large pages split", Set: set("scheme=odp", "host.page=2MiB", "workload.accesses=600", "workload.working_set=16MiB", "pressure.overcommit=1.3", "host.events.split_interval=20us", "host.events.collapse_interval=30us", "host.pager.grace=2ms")},
	{Name: "large pages split, sva", Set: set("scheme=sva", "host.page=2MiB", "workload.accesses=600", "workload.working_set=16MiB", "pressure.overcommit=1.3", "host.events.split_interval=20us", "host.events.collapse_interval=30us", "host.pager.grace=2ms")},
	{Name: "large pages split, suspend", Set: set("scheme=suspend", "host.page=2MiB", "workload.accesses=600", "workload.working_set=16MiB", "pressure.overcommit=1.3", "host.events.split_interval=20us", "host.events.collapse_interval=30us", "host.pager.grace=2ms")},
	{Name: "keys die", Set: set("workload.accesses=1500", "workload.registration=cached", "workload.registration_cache=2", "workload.regions=4", "workload.working_set=64KiB", "workload.remap_interval=5us", "workload.read_fraction=0.4", "workload.access_bytes=4KiB")},
	{Name: "fast registration", Set: set("workload.accesses=1500", "workload.registration=cached", "workload.registration_method=fast", "workload.registration_cache=2", "workload.regions=4", "workload.working_set=64KiB", "workload.send_fraction=0.3", "workload.send_invalidate=0.5", "workload.read_fraction=0.3")},
	{Name: "windows", Set: set("workload.accesses=1500", "workload.registration=each", "workload.registration_method=window", "workload.regions=4", "workload.working_set=64KiB", "workload.read_fraction=0.4")},
	{Name: "windows kept", Set: set("workload.accesses=1500", "workload.registration=cached", "workload.registration_method=window", "workload.registration_cache=2", "workload.regions=4", "workload.working_set=64KiB", "workload.send_fraction=0.3", "workload.send_invalidate=0.5")},
	{Name: "lossy link", Set: set("workload.accesses=1500", "pcie.inject.ber=1e-4", "workload.read_fraction=0.5", "workload.access_bytes=4KiB"),
		Hits: []string{"link_event: TLP sent again", "link_event: Nak", "link_arrival: up × damaged"}},
	{Name: "lossy link, short replay buffer", Set: set("workload.accesses=800", "pcie.inject.ber=3e-4", "pcie.replay_buffer.tlps=2", "workload.read_fraction=0.5", "workload.access_bytes=1KiB")},
	{Name: "poisoned and dropped", Set: set("workload.accesses=400", "pcie.inject.events=up 40 poison, down 60 poison, up 100 drop, down 90 drop", "workload.read_fraction=0.5", "qp.retry=2")},
	{Name: "few credits", Set: set("workload.accesses=400", "pcie.credits.ph=1", "pcie.credits.nph=1", "pcie.adapter_credits.cplh=1", "pcie.adapter_credits.cpld=64", "pcie.tags=1", "pcie.completion_buffer=4KiB", "workload.read_fraction=0.5", "workload.access_bytes=4KiB"),
		Hits: []string{"stall: posted header credits", "stall: tags"}},
	{Name: "link down", Set: set("scheme=odp", "workload.accesses=400", "qp.retry=3", "qp.ack_timeout=5", "pcie.inject.down=20us", "workload.read_fraction=0.3", "workload.send_fraction=0.2", "workload.atomic_fraction=0.2")},
	{Name: "a silent adapter", Set: set("scheme=odp", "adapters=[{}, {tpt.command.hang_at: 200us}]", "workload.working_set=256KiB", "pressure.overcommit=1.5", "workload.accesses=600", "workload.read_fraction=0.3", "qp.ack_timeout=8", "qp.retry=2", "host.notifier.timeout=1ms"),
		Hits: []string{"fault_service: adapter gone"}},
	{Name: "a silent sva adapter", Set: set("scheme=sva", "adapters=[{}, {tpt.command.hang_at: 200us}]", "workload.working_set=256KiB", "pressure.overcommit=1.5", "workload.accesses=600", "workload.read_fraction=0.3", "qp.ack_timeout=8", "qp.retry=2", "host.notifier.timeout=1ms", "host.iommu.ats_timeout=1ms")},
	{Name: "no RNR budget", Set: set("scheme=odp", "workload.accesses=400", "workload.working_set=256KiB", "pressure.overcommit=1.5", "qp.rnr_retry=0", "workload.read_fraction=0.3", "workload.send_fraction=0.2", "workload.atomic_fraction=0.2"),
		Hits: []string{"op_status: WRITE × rnr_retry_exceeded", "qp_response: sending × RNR NAK"}},
	{Name: "too long for the receive buffers", Set: set("workload.accesses=200", "workload.send_fraction=0.5", "workload.receive_buffers=1", "workload.qps=2", "workload.outstanding=32")},
	{Name: "refused advertisements", Set: set("workload.accesses=400", "advertise.policy=refuse", "scheme=odp", "pressure.overcommit=2", "workload.read_fraction=0.3", "workload.atomic_fraction=0.3")},
	{Name: "throttled advertisements", Set: set("workload.accesses=400", "advertise.policy=throttle", "scheme=odp", "pressure.overcommit=2")},
	{Name: "warned advertisements", Set: set("workload.accesses=400", "advertise.policy=warn", "advertise.bytes=4MiB", "scheme=odp", "workload.working_set=256KiB", "pressure.overcommit=2")},
	{Name: "iWARP, pinned", Set: set("transport=iwarp", "workload.accesses=400", "workload.send_fraction=0.3", "workload.read_fraction=0.3", "workload.atomic_fraction=0.2")},
	{Name: "iWARP, sva", Set: set("transport=iwarp", "scheme=sva", "workload.accesses=400", "workload.working_set=256KiB", "pressure.overcommit=1.5", "host.pager.grace=10ms", "tcp.min_rto=1ms", "workload.read_fraction=0.3")},
	{Name: "iWARP, iommu", Set: set("transport=iwarp", "scheme=iommu", "workload.accesses=400")},
	{Name: "iWARP, suspend", Set: set("transport=iwarp", "scheme=suspend", "workload.accesses=400", "workload.working_set=256KiB", "pressure.overcommit=1.5", "host.pager.grace=10ms", "tcp.min_rto=1ms", "host.pager.migrate_interval=50us")},
	{Name: "iWARP drops", Set: set("transport=iwarp", "scheme=odp", "workload.accesses=400", "workload.working_set=256KiB", "pressure.overcommit=1.5", "host.pager.grace=10ms", "tcp.min_rto=1ms", "qp.fault_response=rnr", "workload.access_bytes=4KiB", "qp.mtu=1KiB", "workload.read_fraction=0.4", "adapter.rx_buffer=8KiB", "adapter.rx_full=drop", "tcp.max_rto=5ms")},
	{Name: "iWARP, no receive buffer", Set: set("transport=iwarp", "workload.accesses=100", "workload.send_fraction=1", "workload.receive_buffers=1", "workload.qps=2", "workload.outstanding=32"),
		Hits: []string{"terminate_reason: DDP: no receive buffer"}},
	{Name: "odd sizes", Set: set("workload.accesses=400", "workload.pattern=keyvalue", "workload.value_min=1B", "workload.value_max=100000B", "workload.read_fraction=0.5", "workload.working_set=4MiB")},
	{Name: "odd starts", Set: set("workload.accesses=300", "workload.access_bytes=4095B", "workload.read_fraction=0.5", "pcie.rcb=128B", "pcie.split_policy=random")},
	{Name: "one byte", Set: set("workload.accesses=300", "workload.access_bytes=1B", "workload.read_fraction=0.5")},
	{Name: "three bytes", Set: set("workload.accesses=300", "workload.access_bytes=3B", "workload.read_fraction=0.5", "qp.mtu=256B")},
	{Name: "megabytes", Set: set("workload.accesses=6", "workload.access_bytes=1500000B", "workload.read_fraction=0.5", "workload.working_set=15000000B", "host.memory=64MiB", "qp.mtu=256B")},
	{Name: "long SENDs", Set: set("workload.accesses=100", "workload.access_bytes=40000B", "workload.receive_bytes=64KiB", "workload.send_fraction=1", "qp.mtu=256B", "workload.working_set=4000000B")},
	{Name: "odp, crowded, many commands", Set: set("scheme=odp", crowded, fast, "host.command.outstanding=16", "host.prefetch.advice=write", "host.pager.batch=4", "tpt.command.invalidate=1us", "tpt.command.fill=1us")},
	{Name: "odp, crowded, many commands, protected in place", Set: set("scheme=odp", crowded, fast, "host.command.outstanding=16", "host.events.protect_by=protect", "host.prefetch.advice=read", "tpt.command.invalidate=1us", "tpt.command.fill=1us", "host.events.protect_interval=1us", "tpt.mtt.prefetch=next_line", "tpt.mtt.entries=4", "tpt.mtt.mshrs=8")},
	{Name: "odp, READs of what is protected", Set: set("scheme=odp", crowded, fast, "host.events.protect_by=protect", "workload.read_fraction=1", "workload.atomic_fraction=0", "host.pager.read_faults_write=false", "host.events.protect_interval=1us", "tpt.mtt.prefetch=next_line", "tpt.mtt.entries=4", "tpt.mtt.mshrs=8", "host.prefetch.advice=read")},
	{Name: "odp, small event queue", Set: set("scheme=odp", crowded, "tpt.fault.queue_depth=1", "workload.send_fraction=0.3", "workload.accesses=300"),
		Hits: []string{"queue: event queue × full"}},
	{Name: "sva, neighbours", Set: set("scheme=sva", crowded, fast, "host.pager.batch=4", "host.events.unmap_pages=3", "tpt.command.ats_invalidate=5us", "host.pager.parallel=16")},
	{Name: "refused buffers", Set: set("scheme=odp", "workload.accesses=400", "workload.working_set=256KiB", "pressure.overcommit=2", "advertise.policy=refuse", "advertise.buffer=4KiB", "workload.pattern=sequential", "workload.read_fraction=0.3", "workload.atomic_fraction=0.3", "workload.access_bytes=64B")},
	{Name: "all completions, 64 B", Set: set("workload.accesses=200", "workload.access_bytes=4KiB", "workload.read_fraction=1", "pcie.mrrs=4KiB", "pcie.split_policy=rcb"),
		Hits: []string{"read_completions: 64 B × 33–64"}},
	{Name: "all completions, 128 B", Set: set("workload.accesses=200", "workload.access_bytes=4KiB", "workload.read_fraction=1", "pcie.mrrs=4KiB", "pcie.split_policy=rcb", "pcie.rcb=128B")},
	{Name: "some completions, 64 B", Set: set("workload.accesses=200", "workload.pattern=keyvalue", "workload.value_max=4KiB", "workload.read_fraction=1", "pcie.mrrs=4KiB", "pcie.split_policy=rcb")},
	{Name: "some completions, 128 B", Set: set("workload.accesses=200", "workload.pattern=keyvalue", "workload.value_max=4KiB", "workload.read_fraction=1", "pcie.mrrs=4KiB", "pcie.split_policy=rcb", "pcie.rcb=128B")},
	{Name: "lossy link, paging", Set: set("scheme=odp", "workload.accesses=800", "workload.working_set=256KiB", "pressure.overcommit=1.5", "pcie.inject.ber=3e-4", "workload.read_fraction=0.5")},
	{Name: "iWARP, crowded", Set: set("transport=iwarp", "scheme=odp", "workload.accesses=300", "workload.working_set=64KiB", "pressure.overcommit=1.5", "host.pager.grace=5ms", "tcp.min_rto=100us", "tcp.max_rto=2ms", "tcp.retries=1000", "tpt.fault.queue_depth=1", "workload.qps=4", "host.pager.migrate_interval=300us")},
	{Name: "iWARP, crowded, suspend", Set: set("transport=iwarp", "scheme=suspend", "workload.accesses=300", "workload.working_set=64KiB", "pressure.overcommit=1.5", "host.pager.grace=5ms", "tcp.min_rto=100us", "tcp.max_rto=2ms", "tcp.retries=1000", "workload.qps=4", "host.pager.migrate_interval=300us", "workload.read_fraction=0.3")},
	{Name: "large pages collapse", Set: set("scheme=odp", "host.page=2MiB", "workload.accesses=2000", "workload.working_set=8MiB", "host.memory=32MiB", "host.pager.initial=resident", "host.events.split_interval=5us", "host.events.collapse_interval=7us", "host.pager.grace=100us", "qp.rnr_timer=1"),
		Hits: []string{"trigger_scheme: collapse × odp", "trigger_scheme: split × odp"}},
	{Name: "large pages collapse, sva", Set: set("scheme=sva", "host.page=2MiB", "workload.accesses=2000", "workload.working_set=8MiB", "host.memory=32MiB", "host.pager.initial=resident", "host.events.split_interval=5us", "host.events.collapse_interval=7us", "host.pager.grace=100us", "qp.rnr_timer=1")},
	{Name: "large pages collapse, suspend", Set: set("scheme=suspend", "host.page=2MiB", "workload.accesses=2000", "workload.working_set=8MiB", "host.memory=32MiB", "host.pager.initial=resident", "host.events.split_interval=5us", "host.events.collapse_interval=7us", "host.pager.grace=100us", "qp.rnr_timer=1")},
}

// Every pair of page sizes, and sizes of accesses and packets between the others'.
func init() {
	for _, host := range []string{"4KiB", "2MiB", "1GiB"} {
		for _, table := range []string{"4KiB", "64KiB", "2MiB", "1GiB", "2GiB"} {
			Corners = append(Corners, Input{Name: "pages of " + host + " and " + table, Set: []string{"host.page=" + host, "tpt.page=" + table,
				"host.memory=8GiB", "workload.accesses=20"}})
		}
	}
	for _, bytes := range []string{"2B", "12B", "24B", "100B", "200B", "400B", "800B", "1500B", "3000B", "12000B", "200000B", "400000B", "800000B"} {
		Corners = append(Corners, Input{Name: "accesses of " + bytes, Set: []string{"workload.access_bytes=" + bytes, "workload.accesses=12", "workload.working_set=8000000B",
			"workload.read_fraction=0.4", "workload.send_fraction=0.3", "workload.receive_bytes=1MiB", "workload.receive_buffers=1", "workload.qps=2", "qp.mtu=256B"}})
	}
}
