// Package plots draws the figures of a run folder or of a sweep folder from its
// result files alone.
//
//	sweep.csv ──▶ Table ──Metric──▶ Series ─┐
//	summary.json, *.parquet ──histograms────┼─▶ figure ─▶ png, svg, pdf
//	manifest.json ──small print─────────────┘
//
// # Figures of a run
//
//	latency        distribution: share at or under, and share over (log)
//	causes         mean latency of an access by cause, in the order of its life:
//	               one stacked bar, unrolled into a row a cause
//	invalidation   mean time of each step of an invalidation's round trip
//
// # Figures of a sweep
//
//	overview       miss rate over latency for one group; else p50 and p99 latency,
//	               under misses and walks for sweeps of the adapter's tables, over
//	               paging, or over throughput and misses where nothing is paged
//	miss-rate      share of the lookups of the adapter's translation cache (MTT)
//	               that missed, and that walked the table
//	latency        p50, p99 and p99.9
//	causes         mean latency by cause (of 1 % or more of a bar, and the largest
//	               others while few are named), with each bar's total; shares where
//	               the means span more than 8×
//	throughput     completed accesses per simulated second, and data where the
//	               size of an access is known
//	paging         faults and invalidations per 1000 accesses, where there are any
//	cpu            mean stall of the host's own program, where there is one
//	schemes        latency, throughput, link bytes a payload byte, not-ready answers
//	               and what was sent again, a panel each, where there are groups
//	steps          mean time of an invalidation by step, where there are any
//	hazard         how long translations are held: p50, p99 and longest
//	tenants        p50 and p99 latency and throughput of tenant 0 and the share of
//	               its MTT look-ups that missed, where there are several tenants
//
// The numeric axis with most values is x; every combination of the other axes'
// values is a group: a panel or a line. A point that the host refused or that
// failed has no value: it stands as a cross in a band of its own under the data, in
// the colour of its group, a row a colour.
//
// # Conventions
//
// Times are picoseconds in files and ns, µs or ms in figures, by magnitude. An
// axis that spans more than 10× and holds no zero is logarithmic. Latencies
// in panels side by side have one unit. Series differ in colour, marker and dash,
// causes in colour and lightness, so figures read in grey and with impaired colour
// vision (colours after M. Okabe and K. Ito, "Color Universal Design", 2008). A
// group looks the same in all figures: the first grouping axis of names gives
// colour and shape, the others dashes and the filling of markers. Later groups are
// thinner and drawn over earlier ones, so that both show where they coincide. A
// figure's bytes are a function of the result files: no date, no map order.
//
// Not drawn here: time within a run, heat maps, confidence bands.
package plots
