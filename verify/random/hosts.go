package random

import (
	"slices"
	"strings"
)

// hosts chooses the schemes of the adapters, and what goes with them.
func (d *draw) hosts() {
	d.schemes()
	d.pages()
	d.switches()
	if !d.is("scheme", "odp") || strings.Contains(d.chosen["adapters"], "scheme: ") {
		if d.is("workload.registration", "implicit") {
			d.need("workload.registration", "once")
		}
	}
	d.memory()
	if d.has("pinned") || d.dma() {
		d.need("workload.registration_advice", "none")
	}
	if d.is("tpt.partition", "tenant") { // a way for each
		d.need("tpt.mtt.ways", "2")
		d.need("tpt.mpt.ways", "2")
		d.need("tpt.mpt.entries", "4")
	}
	if d.has("sva") {
		d.need("tpt.mtt.line_entries", "1")
	}
	if d.is("tpt.mtt.index", "page") {
		d.need("tpt.mtt.l2_entries", "0")
	}
	if d.streams() {
		d.tcp()
	}
}

// schemes draws a host that has the scheme and the adapters that are fixed.
func (d *draw) schemes() {
	hosts := slices.DeleteFunc(slices.Clone(schemes), func(h host) bool {
		scheme, fixed := d.fixed["scheme"]
		_, list := d.fixed["adapters"]
		return fixed && scheme != h.scheme || list && h.adapters != ""
	})
	h := hosts[d.below("scheme", len(hosts))]
	d.add("scheme", h.scheme)
	if h.adapters == "" {
		d.add("adapters", d.choose("adapters", adapterLists))
		return
	}
	d.add("adapters", h.adapters)
}

// has tells whether an adapter has the scheme.
func (d *draw) has(scheme string) bool {
	return d.is("scheme", scheme) || strings.Contains(d.chosen["adapters"], "scheme: "+scheme)
}

// dma tells whether an IOMMU translates transfers by a table of pinned pages.
func (d *draw) dma() bool { return d.has("iommu") && d.is("host.iommu.table", "dma") }

// process tells whether an IOMMU translates each transfer by the process's table.
func (d *draw) process() bool { return d.has("iommu") && !d.dma() }

// pins tells whether every adapter's memory is pinned.
func (d *draw) pins() bool {
	return !d.has("odp") && !d.has("sva") && !d.has("suspend") && !d.process()
}

// behind tells whether an adapter is behind an IOMMU.
func (d *draw) behind() bool {
	return d.has("sva") || d.has("iommu") || !d.is("host.iommu.mode", "off")
}

// streams tells whether an adapter has TCP.
func (d *draw) streams() bool {
	return d.is("transport", "iwarp") || strings.Contains(d.chosen["adapters"], "iwarp")
}

// pages chooses the page sizes of the host and of the adapter's table. Frames
// that come and go one by one, and those of a registration, do not follow each
// other.
func (d *draw) pages() {
	pages := pageSizes[d.below("pages", len(pageSizes))]
	d.add("host.page", pages[0])
	small := d.is("host.page", "4KiB")
	if small && (!d.pins() || d.is("workload.registration", "each", "cached") || d.is("workload.aggressor_registration", "each", "cached")) {
		pages[1] = "4KiB"
	}
	d.add("tpt.page", pages[1])
	if small || !d.is("tpt.page", "4KiB") && d.has("sva") { // there is nothing smaller, or it is too small
		d.need("host.events.split_interval", "0ns")
		d.need("host.events.collapse_interval", "0ns")
	}
}

// switches settles what goes with switches: all links of one have the same MPS, and
// of the adapters behind it the IOMMU has all or none.
func (d *draw) switches() {
	d.add("host.switch.pcie.mps", d.chosen["pcie.mps"])
	translated := func(scheme string) bool { return scheme == "sva" || scheme == "iommu" }
	for _, other := range []string{"pinned", "odp", "sva", "iommu", "suspend"} {
		if d.has(other) && translated(other) != translated(d.chosen["scheme"]) && d.is("host.iommu.mode", "off") {
			d.need("host.switch.adapters", "1")
		}
	}
}

// memory chooses the host's memory: what one adapter pins is pinned for all.
func (d *draw) memory() {
	if _, fixed := d.fixed["host.memory"]; fixed {
		return
	}
	switch {
	case d.sparse(): // so few frames that children come and go
		d.add("host.memory", d.pick("memory", []string{"6MiB", "16MiB"}))
	case d.has("pinned") || d.dma():
		d.add("pressure.overcommit", "0.5")
	default:
		d.add("pressure.overcommit", d.pick("overcommit", []string{"0.5", "1", "1.5", "3"}))
	}
}

// sparse tells whether the memory is spread over some children of an implicit
// region.
func (d *draw) sparse() bool {
	return d.is("workload.registration", "implicit") && d.is("host.page", "2MiB") && !d.is("workload.access_bytes", "100000B")
}

// tcp settles what goes with iWARP.
func (d *draw) tcp() {
	d.add("tcp.max_rto", "5ms")
	d.add("tcp.retries", "1000")
	if d.is("qp.fault_response", "backup") {
		d.need("qp.fault_response", "hold")
	}
	if d.process() {
		d.need("host.iommu.absent", "abort")
	}
}
