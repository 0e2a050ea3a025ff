package plots

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Axis is one swept configuration key.
type Axis struct {
	Key     string
	Values  []string  // distinct, in plan order
	Numbers []float64 // one a value, in the unit's base; nil when not numeric
	Unit    string    // "", B, s, Hz, T/s or b/s: the base of Numbers
}

func newAxis(key string, column int, rows []Row) Axis {
	a := Axis{Key: key}
	seen := map[string]bool{}
	for _, row := range rows {
		if v := row.Values[column]; !seen[v] {
			seen[v] = true
			a.Values = append(a.Values, v)
		}
	}
	for i, v := range a.Values {
		n, unit, ok := parseQuantity(v)
		if !ok || i > 0 && unit != a.Unit {
			a.Numbers, a.Unit = nil, ""
			return a
		}
		a.Numbers, a.Unit = append(a.Numbers, n), unit
	}
	return a
}

func (a Axis) numeric() bool { return a.Numbers != nil }

// position is a value's place on the axis: the number or the index.
func (a Axis) position(value string) float64 {
	i := slices.Index(a.Values, value)
	if a.numeric() {
		return a.Numbers[i]
	}
	return float64(i)
}

// named is a value as a group's name tells it: with what it is of, but for words
// that say it themselves.
func (a Axis) named(value string) string {
	what := a.name().short
	switch {
	case strings.HasSuffix(a.Key, ".ways") && value == "0":
		return "fully associative"
	case what == "":
		return value
	case a.numeric():
		return what + " " + a.quantity(a.position(value))
	}
	return what + ": " + value
}

// axisName is what a key is called: on an axis, and before a value in a group's
// name, where schemes and transports are their own names.
type axisName struct{ long, short string }

var axisNames = map[string]axisName{
	"adapters":                        {"adapters", "adapters"},
	"advertise.policy":                {"policy of advertising memory", "policy"},
	"host.events.unmap_pages":         {"pages that are unmapped together", "unmapped"},
	"host.iommu.flush_count":          {"unmappings that wait for one flush", "flush after"},
	"host.iommu.flush_time":           {"longest wait of an unmapping for its flush", "flush within"},
	"host.iommu.mode":                 {"the IOMMU's flushes", "flush"},
	"host.pager.flush_on_clear":       {"flush when the accessed bit is cleared", "flush on clear"},
	"host.memory":                     {"host memory for user pages", "memory"},
	"host.notifier.order":             {"order in which adapters are told", "notifier"},
	"host.pager.batch":                {"pages of one invalidation", "batch"},
	"pressure.overcommit":             {"overcommit (working set / user frames)", "overcommit"},
	"scheme":                          {"scheme", ""},
	"tcp.min_rto":                     {"floor of TCP's time-out (min RTO)", "min RTO"},
	"tpt.mpt.entries":                 {"protection-cache (MPT) entries", "MPT entries"},
	"tpt.mtt.entries":                 {"translation-cache (MTT) entries", "MTT entries"},
	"tpt.mtt.ways":                    {"ways of the translation cache (MTT)", "ways"},
	"tpt.page":                        {"page of the adapter's table", "page"},
	"tpt.partition":                   {"partition of the adapter's caches", "partition"},
	"translate_per":                   {"translated once a", "translated per"},
	"transport":                       {"transport", ""},
	"workload.access_bytes":           {"access size", "access"},
	"workload.aggressor_fraction":     {"neighbour's share of the accesses", "neighbour's share"},
	"workload.aggressor_registration": {"how the neighbour's memory is registered", "neighbour's registration"},
	"workload.outstanding":            {"accesses outstanding", "outstanding"},
	"workload.qps":                    {"queue pairs", "QPs"},
	"workload.registration":           {"registration", "registration"},
	"workload.registration_cache":     {"regions that the registration cache holds", "cached regions"},
	"workload.working_set":            {"working set", "working set"},
}

// name is that of the list; else the key, and in short its last part.
func (a Axis) name() axisName {
	if name, ok := axisNames[a.Key]; ok {
		return name
	}
	last := a.Key[strings.LastIndexByte(a.Key, '.')+1:]
	return axisName{a.Key, strings.ReplaceAll(last, "_", " ")}
}

func (a Axis) label() string { return a.name().long }

// prefixes of quantities in configurations, longest unit first.
var quantities = []struct {
	suffix, unit string
	factor       float64
}{
	{"KiB", "B", 1 << 10}, {"MiB", "B", 1 << 20}, {"GiB", "B", 1 << 30}, {"TiB", "B", 1 << 40},
	{"kB", "B", 1e3}, {"MB", "B", 1e6}, {"GB", "B", 1e9}, {"B", "B", 1},
	{"kHz", "Hz", 1e3}, {"MHz", "Hz", 1e6}, {"GHz", "Hz", 1e9}, {"Hz", "Hz", 1},
	{"GT/s", "T/s", 1e9}, {"Gb/s", "b/s", 1e9}, {"Mb/s", "b/s", 1e6},
	{"Gbps", "b/s", 1e9}, {"Mbps", "b/s", 1e6},
	{"ps", "s", 1e-12}, {"ns", "s", 1e-9}, {"us", "s", 1e-6}, {"µs", "s", 1e-6}, {"ms", "s", 1e-3}, {"s", "s", 1},
	{"", "", 1},
}

// parseQuantity reads a number with a unit of configurations: 64, 4KiB, 250ns.
func parseQuantity(text string) (value float64, unit string, ok bool) {
	for _, q := range quantities {
		digits, found := strings.CutSuffix(text, q.suffix)
		if !found {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
			return v * q.factor, q.unit, true
		}
	}
	return 0, "", false
}
