package platform

// draws are the values that the property test chooses among, key by key. The
// first is the one that shrinking prefers.
var draws = []struct {
	key    string
	values []string
	fixed  bool // the first value is not the default
}{
	{"seed", []string{"1", "2", "3"}, false},
	{"translate_per", []string{"request", "packet", "tlp"}, false},
	{"tpt.tables", []string{"host", "onboard"}, false},
	{"tpt.mtt.levels", []string{"1", "2", "3"}, false},
	{"tpt.mtt.entries", []string{"2048", "16", "64"}, false},
	{"tpt.mtt.ways", []string{"1", "2", "0"}, true},
	{"tpt.mtt.line_entries", []string{"1", "2", "8"}, false},
	{"tpt.mtt.replacement", []string{"lru", "fifo", "tree-plru", "nru", "random"}, false},
	{"tpt.mtt.mshrs", []string{"32", "1", "3"}, false},
	{"tpt.mtt.index", []string{"entry", "page"}, false},
	{"tpt.mpt.entries", []string{"1024", "1", "4"}, false},
	{"tpt.mpt.ways", []string{"1", "0"}, true},
	{"tpt.mpt.mshrs", []string{"16", "1"}, false},
	{"tpt.in_flight", []string{"1024", "2", "5"}, false},
	{"tpt.fault.max_outstanding", []string{"4", "1"}, false},
	{"tpt.fault.queue_depth", []string{"4096", "1", "2"}, false},
	{"tpt.invalidation.queue_depth", []string{"32", "2"}, false},
	{"pcie.gen", []string{"4", "1", "5"}, false},
	{"pcie.lanes", []string{"16", "1", "4"}, false},
	{"pcie.mps", []string{"256B", "128B", "4KiB"}, false},
	{"pcie.mrrs", []string{"512B", "128B", "4KiB"}, false},
	{"pcie.rcb", []string{"64B", "128B"}, false},
	{"pcie.split_policy", []string{"min", "rcb"}, false},
	{"pcie.tags", []string{"256", "1", "4"}, false},
	{"pcie.credits.ph", []string{"127", "1", "0"}, false},
	{"pcie.credits.pd", []string{"1024", "256", "0"}, false},
	{"pcie.credits.nph", []string{"127", "1"}, false},
	{"pcie.read_queue", []string{"64", "1"}, false},
	{"pcie.write_queue", []string{"32", "1"}, false},
	{"pcie.completion_buffer", []string{"64KiB", "4KiB"}, false},
	{"pcie.adapter_credits.ph", []string{"64", "1"}, false},
	{"qp.mtu", []string{"4KiB", "256B", "1KiB"}, false},
	{"qp.window", []string{"64", "1", "3"}, false},
	{"qp.max_rd_atomic", []string{"16", "1", "2"}, false},
	{"qp.inline", []string{"64B", "0B", "1KiB"}, false},
	{"qp.payload_ahead", []string{"16", "1"}, false},
	{"qp.ack_point", []string{"issue", "receipt", "placement"}, false},
	{"qp.fault_response", []string{"rnr", "hold", "backup"}, false},
	{"qp.nak_after_rnr", []string{"silent", "once"}, false},
	{"qp.rnr_timer", []string{"12", "1", "14"}, false},
	{"qp.ack_timeout", []string{"14", "18"}, false},
	{"qp.recv_prefetch", []string{"8", "1"}, false},
	{"adapter.rx_buffer", []string{"1MiB", "8KiB", "32KiB"}, false},
	{"adapter.rx_full", []string{"pause", "drop"}, false},
	{"adapter.qpc_entries", []string{"2048", "8"}, false},
	{"adapter.read_ahead", []string{"16", "1"}, false},
	{"host.pager.policy", []string{"clock", "lru"}, false},
	{"host.pager.initial", []string{"zero", "swapped", "resident"}, false},
	{"host.pager.snapshot", []string{"true", "false"}, false},
	{"host.pager.readahead", []string{"0", "3"}, false},
	{"host.pager.batch", []string{"1", "4"}, false},
	{"host.pager.parallel", []string{"16", "1", "256"}, false},
	{"host.pager.read_faults_write", []string{"true", "false"}, false},
	{"host.pager.migrate_interval", []string{"0ns", "50us"}, false},
	{"host.pager.grace", []string{"2ms", "0ns"}, false},
	{"host.fault.workers", []string{"32", "1"}, false},
	{"host.notifier.order", []string{"parallel", "serial"}, false},
	{"host.command.outstanding", []string{"1", "4", "64"}, false},
	{"host.command.chunk", []string{"131064", "8"}, false},
	{"host.dram.write_buffer", []string{"92", "0", "1"}, false},
	{"peer.pcie.tags", []string{"256", "1"}, false},
	{"peer.pcie.lanes", []string{"16", "1"}, false},
	{"peer.pcie.read_queue", []string{"64", "1"}, false},
	{"peer.pcie.write_queue", []string{"32", "1"}, false},
	{"network.rate", []string{"100Gb/s", "1Gb/s", "800Gb/s"}, false},
	{"host.cpu.working_set", []string{"0B", "64KiB"}, false},
	{"host.cpu.shared_fraction", []string{"0", "0.5"}, false},
	{"host.llc.ddio_lines", []string{"32768", "0"}, false},
	{"workload.pattern", []string{"uniform", "sequential", "strided", "zipf", "pointer-chase", "hotset", "keyvalue"}, false},
	{"workload.qps", []string{"1", "2", "16"}, true},
	{"workload.outstanding", []string{"1", "4", "32"}, true},
	{"workload.regions", []string{"1", "3"}, false},
	{"workload.access_bytes", []string{"64B", "1B", "8B", "4KiB", "100000B"}, false},
	{"workload.receive_buffers", []string{"64", "1", "2"}, false},
	{"workload.offered_rate", []string{"0/s", "100000/s", "50000000/s"}, false},
	{"qp.rnr_retry", []string{"7", "0", "2"}, false},
	{"qp.retry", []string{"7", "1"}, false},
	{"warmup", []string{"0", "10", "5us"}, false},
	{"transport", []string{"rc", "iwarp"}, false},
	{"tpt.page_requests", []string{"32", "1", "2", "4"}, false},
	{"tpt.partition", []string{"none", "none", "tenant"}, false},
	{"tpt.tenants", []string{"2"}, true},
	{"tpt.mtt.l2_entries", []string{"0", "0", "2048"}, false},
	{"tpt.mpt.l2_entries", []string{"0", "0", "1024"}, false},
	{"tpt.mtt.prefetch", []string{"none", "next_line", "stride", "qp_window"}, false},
	{"tpt.mtt.prefetch_degree", []string{"1", "4"}, false},
	{"host.iommu.mode", []string{"off", "strict", "deferred"}, false},
	{"host.iommu.table", []string{"dma"}, false}, // not process: a lost write is to be found there first
	{"host.iommu.absent", []string{"abort", "retry"}, false},
	{"host.iommu.iotlb_entries", []string{"117", "2", "8"}, false},
	{"host.iommu.psc_entries", []string{"32", "1"}, false},
	{"host.iommu.context_entries", []string{"64", "1", "2"}, false},
	{"host.iommu.slots", []string{"64", "2", "3"}, false},
	{"host.iommu.walkers", []string{"5", "1"}, false},
	{"host.iommu.set_accessed", []string{"true", "false"}, false},
	{"host.iommu.page_requests", []string{"2048", "1024"}, false},
	{"host.iommu.ats_depth", []string{"32", "1", "2"}, false},
	{"host.iommu.flush_count", []string{"250", "1", "4"}, false},
	{"host.iommu.flush_time", []string{"10ms", "20us"}, false},
	{"host.iommu.walk_overhead", []string{"208ns", "3us"}, false},
	{"host.pager.flush_on_clear", []string{"false", "true"}, false},
	{"host.suspend.unit", []string{"page", "region"}, false},
	{"host.fault.contexts", []string{"64", "1", "4"}, false},
	{"host.pager.low_watermark", []string{"0.01", "0", "0.3"}, false},
	{"advertise.policy", []string{"allow", "warn", "refuse", "throttle"}, false},
	{"advertise.buffer", []string{"64KiB", "128KiB"}, false},
	{"adapter.backup_entries", []string{"256", "1", "4"}, false},
	{"adapter.backup_ahead", []string{"16", "1"}, false},
	{"adapter.hold", []string{"1ms", "1us"}, false},
	{"tcp.min_rto", []string{"1ms", "100us"}, true},
	{"tcp.initial_window", []string{"10", "1"}, false},
	{"tcp.window", []string{"256KiB", "8KiB"}, false},
	{"tcp.fast_retransmit", []string{"true", "false"}, false},
	{"tcp.out_of_order", []string{"hold", "drop"}, false},
	{"tcp.ack_every", []string{"1", "2"}, false},
	{"tcp.delayed_ack", []string{"40ms", "100us"}, false},
}

// mixes of operations: READ, SEND, atomic; what is left are WRITEs.
var mixes = [][3]string{{"0", "0", "0"}, {"1", "0", "0"}, {"0.5", "0", "0"}, {"0.3", "0.3", "0.3"}, {"0", "1", "0"}, {"0", "0", "1"}, {"0.4", "0", "0.3"}}

// schemes are the hosts that the property test chooses among: a scheme, and the
// settings in which adapters differ from it and from each other.
var schemes = []struct {
	scheme   string
	adapters string // empty: as adapters has them
}{
	{"pinned", ""}, {"odp", ""}, {"sva", ""}, {"iommu", ""}, {"suspend", ""},
	{"odp", "[{}, {scheme: suspend}]"},
	{"odp", "[{scheme: sva, tpt.mtt.line_entries: 1}, {}]"},
	{"suspend", "[{}, {scheme: sva, tpt.mtt.line_entries: 1}, {scheme: odp, tpt.clock: 500MHz}]"},
	{"iommu", "[{}, {scheme: odp}]"},
	{"odp", "[{}, {transport: iwarp, qp.fault_response: hold}]"},
	{"pinned", "[{}, {scheme: odp}, {scheme: iommu}]"},
}

// adapterLists of one scheme.
var adapterLists = []string{"1", "2", "3", "[{tpt.mtt.entries: 16}, {pcie.lanes: 8, tpt.tables: onboard}]",
	"[{tpt.clock: 500MHz}, {}, {tpt.mtt.levels: 2}]", "[{translate_per: tlp}, {translate_per: packet, pcie.gen: 1}]"}

// pageSizes of the host and of the adapter's table.
var pageSizes = [][2]string{{"4KiB", "4KiB"}, {"2MiB", "4KiB"}, {"2MiB", "64KiB"}, {"2MiB", "2MiB"}, {"4KiB", "64KiB"}}

// fastPaging is firmware and software so fast, and walks so slow, that faults,
// fills and invalidations of a page meet in flight.
var fastPaging = []string{"tpt.fault.trigger=0ns", "tpt.fault.resume=0ns", "tpt.command.fill=0ns", "tpt.command.invalidate=0ns",
	"host.notifier.checks=0ns", "host.notifier.updates=0ns", "host.notifier.tlb_flush=0ns", "host.fault.driver=0ns",
	"host.pager.swap.read_latency=1us", "host.pager.swap.write_latency=1us", "pcie.read_latency=3us"}
