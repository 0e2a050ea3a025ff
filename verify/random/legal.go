package random

import (
	"fmt"

	"pgregory.net/rapid"
)

// accesses chooses the mix of operations and the memory that they fall in.
func (d *draw) accesses() {
	mix := rapid.SampledFrom(mixes).Draw(d.t, "mix")
	d.add("workload.read_fraction", mix[0])
	d.add("workload.send_fraction", mix[1])
	d.add("workload.atomic_fraction", mix[2])
	if mix[2] != "0" && d.is("workload.access_bytes", "1B") {
		d.need("workload.access_bytes", "8B") // an atomic's operand
	}
	long := d.is("workload.access_bytes", "100000B")
	size, stride := "256KiB", "4KiB"
	if long {
		size, stride = "800000B", "100000B"
		d.add("workload.receive_bytes", "128KiB")
		d.need("workload.aggressor_working_set", size)
	}
	switch {
	case d.sparse():
		size, stride = "8GiB", "1GiB"
	case d.is("host.page", "2MiB"): // 8 pages, or a little less
		size = map[bool]string{true: "16000000B", false: "16MiB"}[long]
	}
	d.add("workload.stride", stride)
	d.add("workload.working_set", size)
	if d.is("workload.pattern", "pointer-chase") {
		d.need("workload.regions", "1")
	}
	if d.is("workload.qps", "1") { // it is tenant 0's
		d.need("workload.aggressor_fraction", "0")
	}
	if !d.is("workload.offered_rate", "100000/s") && d.is("warmup", "5us") {
		d.need("warmup", "10") // 5 us may be all there is
	}
}

// registrations settles what goes with memory that is registered during the run.
func (d *draw) registrations() {
	how := d.chosen["workload.registration"]
	if how == "implicit" {
		d.need("workload.aggressor_registration", "once")
	}
	if how != "cached" || d.is("workload.registration_method", "regular") {
		d.need("workload.send_invalidate", "0")
	}
	dynamic := how == "each" || how == "cached" ||
		!d.is("workload.aggressor_fraction", "0") && d.is("workload.aggressor_registration", "each", "cached")
	if !dynamic || (d.has("pinned") || d.dma()) && d.behind() {
		d.need("workload.remap_interval", "0ns")
	}
	if !dynamic || d.pins() {
		return
	}
	if d.is("workload.registration_method", "fast") {
		d.need("workload.registration_method", "regular")
		d.need("workload.send_invalidate", "0")
	}
	if d.is("qp.fault_response", "backup") {
		d.need("qp.fault_response", "hold")
	}
}

// storms are intervals at which events come in a storm.
var storms = []string{"20us", "5us", "2us"}

// times settles how often pages are taken and how long they stay: an access must
// have its turn before its page goes again.
func (d *draw) times() {
	if !d.streams() && d.is("host.page", "4KiB") && d.below("storm", 4) == 3 {
		for _, what := range []string{"host.pager.migrate_interval", "host.events.protect_interval", "host.events.cow_interval", "host.events.unmap_interval"} {
			if rapid.Bool().Draw(d.t, "storm of "+what) {
				d.need(what, d.pick(what, storms))
			}
		}
	}
	if !d.streams() && !d.never("host.events.split_interval") && d.below("storm", 4) == 3 {
		d.need("host.events.split_interval", d.pick("host.events.split_interval", storms))
	}
	moves := !d.never("host.pager.migrate_interval") || !d.never("host.events.split_interval")
	switch {
	case d.streams(): // what is dropped comes again by TCP's time-outs
		d.need("host.pager.grace", "50ms")
		if !d.never("host.pager.migrate_interval") {
			d.need("host.pager.migrate_interval", "5ms")
		}
	case moves: // or pages move faster than an RNR timer runs
		d.need("host.pager.grace", "2ms")
	}
	if d.process() { // nobody tells the kernel which page a long access still needs
		d.need("host.pager.grace", "50ms")
		d.need("host.pager.low_watermark", "0.01")
	}
	if d.is("host.pager.low_watermark", "0.3") {
		d.add("host.pager.high_watermark", "0.4")
	}
}

// damage is what may happen to one TLP without an access failing.
var damage = []string{"drop", "corrupt", "duplicate", "nak", "delay 300ns", "delay 20us"}

// faults lets something happen to one TLP of a link, now and then.
func (d *draw) faults() {
	for _, link := range []string{"pcie", "peer.pcie", "host.switch.pcie"} {
		if d.below("fault", 4) == 3 {
			tlp := rapid.IntRange(1, 300).Draw(d.t, "TLP")
			d.add(link+".inject.events", fmt.Sprintf("%s %d %s", d.pick("way", []string{"up", "down"}), tlp, d.pick("damage", damage)))
		}
	}
}

// below draws a number below n.
func (d *draw) below(name string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, name) }
