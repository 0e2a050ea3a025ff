package platform

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// draw is a configuration in the making.
type draw struct {
	t      *rapid.T
	chosen map[string]string
	set    []string
}

func (d *draw) add(key, value string) { d.set = append(d.set, key+"="+value) }

func (d *draw) pick(name string, values []string) string {
	return rapid.SampledFrom(values).Draw(d.t, name)
}

// drawConfiguration chooses a configuration that the host can run.
func drawConfiguration(t *rapid.T) []string {
	d := &draw{t: t, chosen: map[string]string{}}
	for _, x := range draws {
		d.chosen[x.key] = d.pick(x.key, x.values)
	}
	d.add("watchdog", "5s")
	if d.chosen["host.pager.migrate_interval"] != "0ns" {
		d.chosen["host.pager.grace"] = "2ms" // or pages move faster than an RNR timer runs
	}
	d.hosts()
	d.accesses()
	if rapid.Bool().Draw(t, "fast") {
		d.set = append(d.set, fastPaging...)
	}
	for _, x := range draws {
		if d.chosen[x.key] != x.values[0] || x.fixed {
			d.add(x.key, d.chosen[x.key])
		}
	}
	most := 150
	if os.Getenv("RNICMMU_LONG") != "" {
		most = 3000
	}
	d.add("workload.accesses", fmt.Sprint(rapid.IntRange(20, most).Draw(t, "accesses")))
	return d.set
}

// hosts chooses the schemes of the adapters, and what goes with them.
func (d *draw) hosts() {
	host := schemes[rapid.IntRange(0, len(schemes)-1).Draw(d.t, "scheme")]
	list := host.adapters
	if list == "" {
		list = d.pick("adapters", adapterLists)
	}
	has := func(scheme string) bool { return host.scheme == scheme || strings.Contains(list, "scheme: "+scheme) }
	pages := pageSizes[rapid.IntRange(0, len(pageSizes)-1).Draw(d.t, "pages")]
	dma := has("iommu") && d.chosen["host.iommu.table"] == "dma"
	if has("odp") || has("sva") || has("suspend") || pages[1] == "64KiB" && has("iommu") && !dma {
		if pages[0] == "4KiB" {
			pages[1] = "4KiB"
		}
	}
	d.add("scheme", host.scheme)
	d.add("adapters", list)
	if pages[0] == "4KiB" || pages[1] != "4KiB" && has("sva") { // there is nothing smaller, or it is too small
		d.chosen["host.events.split_interval"], d.chosen["host.events.collapse_interval"] = "0ns", "0ns"
	}
	if d.chosen["host.events.split_interval"] != "0ns" {
		d.chosen["host.pager.grace"] = "2ms" // as for pages that move
	}
	d.add("host.page", pages[0])
	d.add("tpt.page", pages[1])
	d.switches(host.scheme, list)
	if host.scheme != "odp" || strings.Contains(list, "scheme: ") {
		d.chosen["workload.registration"] = "once"
	}
	switch {
	case d.sparse(): // so few frames that children come and go
		d.add("host.memory", d.pick("memory", []string{"6MiB", "16MiB"}))
	case has("pinned") || dma: // what one pins is pinned for all
		d.add("pressure.overcommit", "0.5")
	default:
		d.add("pressure.overcommit", d.pick("overcommit", []string{"0.5", "1", "1.5", "3"}))
	}
	if has("pinned") || dma {
		d.chosen["workload.registration_advice"] = "none"
	}
	if d.chosen["tpt.partition"] == "tenant" { // a way for each
		d.chosen["tpt.mtt.ways"], d.chosen["tpt.mpt.ways"], d.chosen["tpt.mpt.entries"] = "2", "2", "4"
	}
	if has("sva") {
		d.chosen["tpt.mtt.line_entries"] = "1"
	}
	if d.chosen["tpt.mtt.index"] == "page" {
		d.chosen["tpt.mtt.l2_entries"] = "0"
	}
	if has("iommu") && !dma { // nobody tells the kernel which page a long access still needs
		d.chosen["host.pager.grace"], d.chosen["host.pager.low_watermark"] = "50ms", "0.01"
	}
	if d.chosen["host.pager.low_watermark"] == "0.3" {
		d.add("host.pager.high_watermark", "0.4")
	}
	if d.chosen["transport"] == iwarp || strings.Contains(list, iwarp) {
		d.streams(has("iommu") && !dma)
	}
}

// switches settles what goes with switches: all links of one have the same MPS, and
// of the adapters behind it the IOMMU has all or none.
func (d *draw) switches(scheme, list string) {
	d.add("host.switch.pcie.mps", d.chosen["pcie.mps"])
	translated := func(scheme string) bool { return scheme == "sva" || scheme == "iommu" }
	for _, other := range []string{"pinned", "odp", "sva", "iommu", "suspend"} {
		if strings.Contains(list, "scheme: "+other) && translated(other) != translated(scheme) && d.chosen["host.iommu.mode"] == "off" {
			d.chosen["host.switch.adapters"] = "1"
		}
	}
}

// streams settles what goes with iWARP. What it drops comes again by TCP's
// time-outs: pages must stay for longer than those.
func (d *draw) streams(process bool) {
	d.add("tcp.max_rto", "5ms")
	d.add("tcp.retries", "1000")
	d.chosen["host.pager.grace"] = "50ms"
	if d.chosen["host.pager.migrate_interval"] != "0ns" {
		d.chosen["host.pager.migrate_interval"] = "5ms"
	}
	if d.chosen["qp.fault_response"] == "backup" {
		d.chosen["qp.fault_response"] = "hold"
	}
	if process {
		d.chosen["host.iommu.absent"] = "abort"
	}
}

// sparse tells whether the memory is spread over some children of an implicit
// region.
func (d *draw) sparse() bool {
	return d.chosen["workload.registration"] == "implicit" && d.set[3] == "host.page=2MiB" && d.chosen["workload.access_bytes"] != "100000B"
}

// accesses chooses the mix of operations and the memory that they fall in.
func (d *draw) accesses() {
	mix := rapid.SampledFrom(mixes).Draw(d.t, "mix")
	d.add("workload.read_fraction", mix[0])
	d.add("workload.send_fraction", mix[1])
	d.add("workload.atomic_fraction", mix[2])
	if mix[2] != "0" && d.chosen["workload.access_bytes"] == "1B" {
		d.chosen["workload.access_bytes"] = "8B" // an atomic's operand
	}
	long := d.chosen["workload.access_bytes"] == "100000B"
	size, stride := "256KiB", "4KiB"
	if long {
		size, stride = "800000B", "100000B"
		d.add("workload.receive_bytes", "128KiB")
	}
	switch {
	case d.sparse():
		size, stride = "8GiB", "1GiB"
	case d.set[3] == "host.page=2MiB": // 8 pages, or a little less
		size = map[bool]string{true: "16000000B", false: "16MiB"}[long]
	}
	d.add("workload.stride", stride)
	d.add("workload.working_set", size)
	if d.chosen["workload.pattern"] == "pointer-chase" {
		d.chosen["workload.regions"] = "1"
	}
}

// mayFail tells whether a finite budget of retries may end an access: one of
// RNR NAKs where a page or a receive buffer may be missing, one of losses where
// packets are dropped or answered by sequence NAKs; or whether the IOMMU aborts
// what meets an absent page, iWARP meets no receive buffer, or a buffer may be
// withheld.
func mayFail(specs []Spec) bool {
	for i := range specs {
		s := &specs[i]
		notReady := s.Scheme == "odp" || s.Scheme == "sva" || s.Scheme == "suspend" || s.process() || s.Workload.SendFraction > 0
		if notReady && s.QP.RNRRetry < 7 || s.Adapter.RxFull == "drop" || s.QP.NakAfterRNR == "once" && s.QP.Retry < 7 ||
			s.process() || s.Transport == iwarp && s.Workload.SendFraction > 0 || s.Advertise.Policy == advertiseRefuse || s.Advertise.Policy == advertiseThrottle {
			return true
		}
	}
	return false
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
		if failed := o.sum.Accesses.Failed; failed > 0 && !mayFail(specsOf(o.sys)) {
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

// specsOf are the specs of a system's adapters.
func specsOf(s *System) (all []Spec) {
	for _, n := range s.nodes {
		all = append(all, n.spec)
	}
	return all
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
