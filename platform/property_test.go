package platform

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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
	{"qp.fault_response", []string{"rnr", "hold"}, false},
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
	{"workload.registration", []string{"once", "each", "cached"}, false},
	{"workload.registration_cache", []string{"16", "1", "2"}, false},
	{"workload.registration_method", []string{"regular", "fast"}, false},
	{"workload.registration_hook", []string{"none", "notice"}, false},
	{"workload.remap_interval", []string{"0ns", "20ms"}, false},
	{"host.events.protect_interval", []string{"0ns", "40us"}, false},
	{"host.events.protect_by", []string{"invalidate", "protect"}, false},
	{"host.events.cow_interval", []string{"0ns", "90us"}, false},
	{"host.events.fork_interval", []string{"0ns", "5ms"}, false},
	{"host.events.unmap_interval", []string{"0ns", "70us"}, false},
	{"host.prefetch.advice", []string{"none", "read", "write", "no_fault"}, false},
	{"workload.access_bytes", []string{"64B", "1B", "8B", "4KiB", "100000B"}, false},
	{"workload.receive_buffers", []string{"64", "1", "2"}, false},
	{"workload.offered_rate", []string{"0/s", "100000/s", "50000000/s"}, false},
	{"qp.rnr_retry", []string{"7", "0", "2"}, false},
	{"qp.retry", []string{"7", "1"}, false},
	{"warmup", []string{"0", "10", "5us"}, false},
}

// mixes of operations: READ, SEND, atomic; what is left are WRITEs.
var mixes = [][3]string{{"0", "0", "0"}, {"1", "0", "0"}, {"0.5", "0", "0"}, {"0.3", "0.3", "0.3"}, {"0", "1", "0"}, {"0", "0", "1"}, {"0.4", "0", "0.3"}}

// pageSizes of the host and of the adapter's table, by scheme.
var pageSizes = map[string][][2]string{
	"pinned": {{"4KiB", "4KiB"}, {"4KiB", "64KiB"}, {"2MiB", "4KiB"}, {"2MiB", "2MiB"}},
	"odp":    {{"4KiB", "4KiB"}, {"2MiB", "4KiB"}, {"2MiB", "64KiB"}, {"2MiB", "2MiB"}},
}

// fastPaging is firmware and software so fast, and walks so slow, that faults,
// fills and invalidations of a page meet in flight.
var fastPaging = []string{"tpt.fault.trigger=0ns", "tpt.fault.resume=0ns", "tpt.command.fill=0ns", "tpt.command.invalidate=0ns",
	"host.notifier.checks=0ns", "host.notifier.updates=0ns", "host.notifier.tlb_flush=0ns", "host.fault.driver=0ns",
	"host.pager.swap.read_latency=1us", "host.pager.swap.write_latency=1us", "pcie.read_latency=3us"}

// drawConfiguration chooses a configuration that the host can run.
func drawConfiguration(t *rapid.T) []string {
	var set []string
	add := func(key, value string) { set = append(set, key+"="+value) }
	pick := func(name string, values []string) string { return rapid.SampledFrom(values).Draw(t, name) }
	chosen := map[string]string{}
	for _, d := range draws {
		chosen[d.key] = pick(d.key, d.values)
	}
	scheme := pick("scheme", []string{"pinned", "odp"})
	adapter := pick("adapters", []string{"1", "2", "3", "[{tpt.mtt.entries: 16}, {pcie.lanes: 8, tpt.tables: onboard}]", "[{tpt.clock: 500MHz}, {}, {tpt.mtt.levels: 2}]"})
	mix := rapid.SampledFrom(mixes).Draw(t, "mix")
	pages := rapid.SampledFrom(pageSizes[scheme]).Draw(t, "pages")
	add("scheme", scheme)
	add("host.page", pages[0])
	add("tpt.page", pages[1])
	add("adapters", adapter)
	add("workload.read_fraction", mix[0])
	add("workload.send_fraction", mix[1])
	add("workload.atomic_fraction", mix[2])
	if mix[2] != "0" && chosen["workload.access_bytes"] == "1B" {
		chosen["workload.access_bytes"] = "8B" // an atomic's operand
	}
	set0, bytes := "256KiB", chosen["workload.access_bytes"]
	if bytes == "100000B" {
		set0 = "800000B"
		add("workload.receive_bytes", "128KiB")
	}
	if pages[0] == "2MiB" { // 8 pages, or a little less
		set0 = map[bool]string{true: "16000000B", false: "16MiB"}[bytes == "100000B"]
	}
	add("workload.stride", map[bool]string{true: bytes, false: "4KiB"}[bytes == "100000B"])
	add("workload.working_set", set0)
	if rapid.Bool().Draw(t, "fast") {
		set = append(set, fastPaging...)
	}
	if chosen["workload.registration"] == "once" {
		chosen["workload.remap_interval"] = "0ns"
	} else if pages[1] == "64KiB" && pages[0] == "4KiB" {
		chosen["workload.registration"], chosen["workload.remap_interval"] = "once", "0ns"
	}
	if scheme != "pinned" {
		chosen["workload.registration_method"] = "regular"
	}
	if chosen["host.pager.migrate_interval"] != "0ns" || chosen["host.events.protect_interval"] != "0ns" || chosen["host.events.cow_interval"] != "0ns" {
		chosen["host.pager.grace"] = "2ms" // or pages move faster than an RNR timer runs
	}
	if chosen["workload.pattern"] == "pointer-chase" {
		chosen["workload.regions"] = "1"
	}
	if scheme == "odp" {
		add("pressure.overcommit", pick("overcommit", []string{"0.5", "1", "1.5", "3"}))
	}
	for _, d := range draws {
		if chosen[d.key] != d.values[0] || d.fixed {
			add(d.key, chosen[d.key])
		}
	}
	most := 150
	if os.Getenv("RNICMMU_LONG") != "" {
		most = 3000
	}
	accesses := rapid.IntRange(20, most).Draw(t, "accesses")
	add("workload.accesses", fmt.Sprint(accesses))
	return set
}

// mayFail tells whether a finite budget of retries may end an access: one of
// RNR NAKs where a page or a receive buffer may be missing, one of losses where
// packets are dropped or answered by sequence NAKs.
func mayFail(s *Spec) bool {
	notReady := s.Scheme == "odp" || s.Workload.SendFraction > 0
	return notReady && s.QP.RNRRetry < 7 || s.Adapter.RxFull == "drop" || s.QP.NakAfterRNR == "once" && s.QP.Retry < 7
}

// Whatever the configuration, the run ends, no rule is broken, every access
// completes, and all comes to rest with every page holding its last write; and
// ticking the units in another order changes nothing.
func TestAnyConfiguration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := drawConfiguration(t)
		fail := func(format string, args ...any) {
			t.Fatalf("--set %s\n%s", strings.Join(set, " --set "), fmt.Sprintf(format, args...))
		}
		o, err := execute(nil, set)
		if err != nil {
			if strings.HasPrefix(err.Error(), "warmup: the run ended within it") {
				return // 5 us may be all there is
			}
			fail("%v", err)
		}
		if broken := o.broken(); broken != "" {
			fail("%s", broken)
		}
		if failed := o.sum.Accesses.Failed; failed > 0 && !mayFail(&o.sys.spec) {
			fail("%d accesses failed", failed)
		}
		other, err := execute(nil, set, shuffled(rapid.Uint64().Draw(t, "order")))
		if err != nil {
			fail("in another order: %v", err)
		}
		if got, want := other.sum.ResultHash, o.sum.ResultHash; got != want {
			fail("in another order: result %s, want %s", got, want)
		}
	})
}

// The audit sees a page that is not where the pager believes it to be.
func TestAuditSeesLoss(t *testing.T) {
	o := must(t, nil, "workload.accesses=2000", "workload.working_set=64KiB")
	lie := func(page uint32) (frame uint32, resident, swapped bool) {
		if page == 3 {
			return 0, false, false
		}
		return o.sys.kernel.Locate(page)
	}
	if lost := o.sys.memory.Audit(lie); lost != 1 {
		t.Errorf("%d pages lost, want 1: page 3 was written", lost)
	}
}
