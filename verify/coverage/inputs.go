package coverage

// Inputs are configurations that between them use every part of the system.
var Inputs = []Input{
	{Name: "default", Set: []string{
		"workload.accesses=2000"}},
	{Name: "warm-up and READs", Set: []string{
		"workload.accesses=1000", "warmup=300", "workload.read_fraction=0.5"}},
	{Name: "paging", Set: []string{
		"workload.accesses=500", "scheme=odp", "workload.working_set=256KiB", "pressure.overcommit=2"}},
	{Name: "three adapters, LRU", Set: []string{
		"workload.accesses=500", "scheme=odp", "workload.working_set=256KiB", "pressure.overcommit=2", "warmup=200", "adapters=3",
		"host.pager.policy=lru"}},
	{Name: "held for a fault", Set: []string{
		"workload.accesses=500", "scheme=odp", "workload.working_set=256KiB", "pressure.overcommit=1.5", "qp.fault_response=hold",
		"workload.read_fraction=0.5", "host.cpu.working_set=64KiB", "host.cpu.shared_fraction=0.3"}},
	{Name: "migration, batches, read-ahead", Set: []string{
		"workload.accesses=500", "scheme=odp", "workload.working_set=256KiB", "pressure.overcommit=2",
		"host.pager.migrate_interval=30us", "host.pager.batch=4", "host.pager.readahead=3", "host.pager.initial=swapped",
		"tpt.mtt.line_entries=8", "tpt.mtt.levels=3"}},
	{Name: "two adapters, all operations", Set: []string{
		"workload.accesses=500", "adapters=[{tpt.mtt.entries: 64}, {pcie.gen: 3, tpt.clock: 333MHz}]", "workload.send_fraction=0.3",
		"workload.atomic_fraction=0.3", "workload.access_bytes=8B"}},
	{Name: "long accesses, a translation a packet", Set: []string{
		"workload.accesses=300", "workload.access_bytes=100000B", "workload.working_set=1600000B", "workload.read_fraction=0.5",
		"translate_per=packet", "adapter.rx_buffer=16KiB"}},
	{Name: "a translation a TLP, few tags", Set: []string{
		"workload.accesses=300", "workload.access_bytes=16KiB", "translate_per=tlp", "pcie.tags=3", "pcie.gen=2", "pcie.lanes=2",
		"qp.ack_point=placement"}},
	{Name: "full receive buffer drops", Set: []string{
		"workload.accesses=800", "adapter.rx_buffer=16KiB", "adapter.rx_full=drop", "qp.nak_after_rnr=once",
		"workload.access_bytes=4KiB", "tpt.mtt.mshrs=1", "tpt.mtt.entries=16", "qp.ack_timeout=5"}},
	{Name: "small caches", Set: []string{
		"workload.accesses=800", "workload.qps=64", "adapter.qpc_entries=8", "tpt.mtt.replacement=random", "tpt.mtt.entries=64",
		"tpt.in_flight=3"}},
	{Name: "open loop, resident", Set: []string{
		"workload.accesses=800", "workload.offered_rate=3000000/s", "workload.pattern=keyvalue", "host.notifier.order=serial",
		"scheme=odp", "host.pager.initial=resident", "host.pager.snapshot=false", "host.memory=3MiB"}},
	{Name: "registered for each access", Set: []string{
		"workload.accesses=500", "workload.registration=each", "workload.regions=8", "workload.access_bytes=4KiB",
		"workload.read_fraction=0.5", "adapters=2", "host.memory=1MiB"}},
	{Name: "registrations kept", Set: []string{
		"workload.accesses=800", "workload.registration=cached", "workload.registration_cache=3", "workload.regions=8",
		"workload.read_fraction=0.5", "adapters=2", "workload.remap_interval=30us", "workload.pattern=zipf", "warmup=100"}},
	{Name: "registrations kept, on demand", Set: []string{
		"workload.accesses=500", "scheme=odp", "workload.registration=cached", "workload.registration_cache=2", "workload.regions=4",
		"workload.working_set=256KiB", "pressure.overcommit=2", "workload.remap_interval=100us", "workload.registration_hook=notice"}},
	{Name: "sva, events", Set: []string{
		"workload.accesses=500", "scheme=sva", "host.iommu.ats_timeout=10ms", "workload.working_set=256KiB", "pressure.overcommit=1.5",
		"host.prefetch.advice=write", "host.events.protect_interval=30us", "host.events.cow_interval=70us",
		"host.events.unmap_interval=110us", "host.cpu.working_set=64KiB", "host.cpu.shared_fraction=0.3"}},
	{Name: "suspend, IOMMU, events", Set: []string{
		"workload.accesses=500", "scheme=suspend", "host.iommu.mode=strict", "workload.working_set=256KiB", "pressure.overcommit=1.5",
		"host.events.protect_interval=30us", "host.events.protect_by=protect", "host.events.fork_interval=200us",
		"host.pager.migrate_interval=50us"}},
	{Name: "two sva adapters", Set: []string{
		"workload.accesses=400", "scheme=sva", "host.iommu.ats_timeout=10ms", "workload.working_set=256KiB", "pressure.overcommit=2",
		"workload.read_fraction=0.5", "adapters=2", "tpt.page_requests=2", "host.iommu.iotlb_entries=8", "host.iommu.psc_entries=1",
		"host.pager.flush_on_clear=true", "qp.fault_response=hold"}},
	{Name: "IOMMU walks the process's table", Set: []string{
		"workload.accesses=400", "scheme=iommu", "host.iommu.table=process", "host.iommu.absent=retry", "workload.working_set=256KiB",
		"pressure.overcommit=1.5", "workload.read_fraction=0.5", "host.iommu.walkers=1", "host.iommu.slots=3", "adapters=2"}},
	{Name: "IOMMU, deferred", Set: []string{
		"workload.accesses=400", "scheme=iommu", "host.iommu.mode=deferred", "workload.access_bytes=16KiB", "workload.read_fraction=0.5",
		"host.iommu.iotlb_entries=4", "adapters=2", "warmup=100"}},
	{Name: "two suspend adapters", Set: []string{
		"workload.accesses=400", "scheme=suspend", "workload.working_set=256KiB", "pressure.overcommit=2", "workload.read_fraction=0.5",
		"host.pager.migrate_interval=100us", "adapters=2", "host.iommu.mode=strict", "host.notifier.order=serial"}},
	{Name: "suspended by region", Set: []string{
		"workload.accesses=400", "scheme=suspend", "host.suspend.unit=region", "workload.regions=8", "workload.working_set=256KiB",
		"pressure.overcommit=1.5", "workload.read_fraction=0.5", "host.pager.migrate_interval=1ms"}},
	{Name: "iWARP", Set: []string{
		"workload.accesses=400", "scheme=odp", "transport=iwarp", "tcp.min_rto=1ms", "workload.working_set=256KiB",
		"pressure.overcommit=1.5", "host.pager.grace=10ms", "workload.read_fraction=0.5", "workload.access_bytes=4KiB", "qp.mtu=1KiB"}},
	{Name: "three schemes", Set: []string{
		"host.iommu.ats_timeout=10ms", "workload.accesses=400", "scheme=odp",
		"adapters=[{}, {scheme: sva}, {scheme: suspend, transport: iwarp, tcp.min_rto: 1ms, tpt.clock: 333MHz}]",
		"workload.working_set=256KiB", "pressure.overcommit=1.5", "host.pager.grace=10ms", "host.cpu.working_set=64KiB",
		"host.cpu.shared_fraction=0.3", "qp.fault_response=hold"}},
	{Name: "switch, sva", Set: []string{
		"workload.accesses=400", "scheme=sva", "host.iommu.ats_timeout=10ms", "workload.working_set=256KiB", "pressure.overcommit=1.5",
		"workload.read_fraction=0.5", "adapters=3", "host.switch.adapters=2", "host.switch.pcie.lanes=1", "host.switch.pcie.gen=3",
		"host.switch.pcie.inject.ber=1e-6"}},
	{Name: "switch, odp", Set: []string{
		"workload.accesses=400", "scheme=odp", "workload.working_set=256KiB", "pressure.overcommit=1.5",
		"adapters=[{pcie.pass: random}, {pcie.gen: 1, pcie.lanes: 1}, {tpt.clock: 333MHz}]", "host.switch.adapters=3",
		"host.switch.pcie.adapter_credits.cplh=1"}},
	{Name: "implicit region", Set: []string{
		"workload.accesses=400", "scheme=odp", "workload.registration=implicit", "workload.working_set=8GiB", "host.page=2MiB",
		"host.memory=8MiB", "workload.read_fraction=0.5", "adapters=2", "host.prefetch.advice=read", "host.pager.migrate_interval=1ms",
		"tpt.mpt.entries=4", "tpt.mpt.ways=0", "tpt.mpt.mshrs=2"}},
	{Name: "implicit region, IOMMU", Set: []string{
		"workload.accesses=400", "scheme=odp", "workload.registration=implicit", "workload.working_set=8GiB", "host.page=2MiB",
		"tpt.page=64KiB", "host.memory=16MiB", "workload.send_fraction=0.3", "host.iommu.mode=strict", "tpt.tables=onboard",
		"qp.fault_response=hold", "tpt.mpt.l2_entries=1024", "host.events.unmap_interval=1ms", "host.events.protect_interval=700us"}},
	{Name: "ideal memory", Set: []string{
		"workload.accesses=500", "host.dram.controller=ideal", "scheme=odp", "workload.working_set=256KiB", "pressure.overcommit=2",
		"adapters=2", "host.cpu.working_set=64KiB"}},
	{Name: "two sockets", Set: []string{
		"workload.accesses=800", "scheme=odp", "host.numa.sockets=2", "host.numa.pages=interleave",
		"adapters=[{}, {host.numa.socket: 1}, {scheme: sva, host.numa.socket: 1}]", "workload.working_set=256KiB",
		"pressure.overcommit=2", "host.llc.ddio_lines=64", "workload.read_fraction=0.5", "host.cpu.working_set=64KiB",
		"host.cpu.shared_fraction=0.3"}},
}
