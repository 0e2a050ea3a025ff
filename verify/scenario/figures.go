package scenario

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"rnicmmu/components/hostmmu/iommu"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/hostmmu/memory"
	"rnicmmu/components/pcie"
	"rnicmmu/components/tpt"
	"rnicmmu/components/transport"
	"rnicmmu/measure"
	"rnicmmu/platform"
)

// units are the counters of units, by the first word of their names; a number
// behind it, where there is one, is the adapter's.
func units(s *platform.System, unit string, adapter int) (reflect.Value, bool) {
	numbered := adapter >= 0
	if numbered && adapter >= len(s.Adapters()) || !numbered && unit != "kernel" && unit != "memory" && unit != "iommu" {
		return reflect.Value{}, false
	}
	switch unit {
	case "kernel":
		return reflect.ValueOf(&s.Kernel().Stats), !numbered
	case "memory":
		return reflect.ValueOf(s.Memory().Stats(s.Now())), !numbered
	case "iommu":
		if s.IOMMU() == nil {
			return reflect.ValueOf(iommu.Stats{}), !numbered
		}
		return reflect.ValueOf(s.IOMMU().Stats()), !numbered
	case "tpt":
		return reflect.ValueOf(&s.TPT(adapter).Stats), true
	case "up":
		return reflect.ValueOf(s.Link(adapter).Endpoint.Stats()), true
	case "down":
		return reflect.ValueOf(s.Link(adapter).Down()), true
	case "requester":
		q, _ := s.Transport(adapter)
		return reflect.ValueOf(&q.Stats), true
	case "responder":
		_, r := s.Transport(adapter)
		return reflect.ValueOf(&r.Stats), true
	}
	return reflect.Value{}, false
}

// unitTypes are what units returns.
var unitTypes = map[string]reflect.Type{"kernel": reflect.TypeFor[kernel.Stats](), "memory": reflect.TypeFor[memory.Stats](),
	"iommu": reflect.TypeFor[iommu.Stats](), "tpt0": reflect.TypeFor[tpt.Stats](), "up0": reflect.TypeFor[pcie.Stats](), "down0": reflect.TypeFor[pcie.Stats](),
	"requester0": reflect.TypeFor[transport.RequesterStats](), "responder0": reflect.TypeFor[transport.ResponderStats]()}

// figureNames are the names of all figures; of units with a number, those of
// adapter 0.
var figureNames = sync.OnceValue(func() []string {
	names, _ := measure.Flatten(measure.Summary{})
	for unit, t := range unitTypes {
		names = append(names, fieldNames(unit+".", t)...)
	}
	slices.Sort(names)
	return names
})

func fieldNames(prefix string, t reflect.Type) (names []string) {
	for f := range t.Fields() {
		switch {
		case !f.IsExported():
		case f.Anonymous:
			names = append(names, fieldNames(prefix, f.Type)...)
		case f.Type.Kind() == reflect.Struct:
			names = append(names, fieldNames(prefix+snake(f.Name)+".", f.Type)...)
		case isNumber(f.Type.Kind()):
			names = append(names, prefix+snake(f.Name))
		}
	}
	return names
}

func isNumber(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Uint64 || k == reflect.Float64
}

// snake is a Go name as figures are named: RNRSent is rnr_sent.
func snake(name string) string {
	var out []rune
	runes := []rune(name)
	for i, c := range runes {
		plural := i+1 < len(runes) && runes[i+1] == 's' && (i+2 == len(runes) || unicode.IsUpper(runes[i+2])) // QPs
		ends := i+1 < len(runes) && unicode.IsLower(runes[i+1]) && !plural
		if i > 0 && unicode.IsUpper(c) && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) || ends && unicode.IsUpper(runes[i-1])) {
			out = append(out, '_')
		}
		out = append(out, unicode.ToLower(c))
	}
	return string(out)
}

var numbered = regexp.MustCompile(`^([a-z]+)([0-9]*)$`)

// isFigure tells whether there is a figure of that name.
func isFigure(name string) bool {
	unit, rest, _ := strings.Cut(name, ".")
	if m := numbered.FindStringSubmatch(unit); m != nil && m[2] != "" {
		name = m[1] + "0." + rest
	}
	_, found := slices.BinarySearch(figureNames(), name)
	return found
}

// figure is the value of a figure: of a unit, or of the summary.
func (v *view) figure(name string) (float64, bool) {
	unit, rest, _ := strings.Cut(name, ".")
	if m := numbered.FindStringSubmatch(unit); m != nil {
		adapter := -1
		if m[2] != "" {
			adapter, _ = strconv.Atoi(m[2])
		}
		if s, ok := units(v.p.sys, m[1], adapter); ok {
			if x, ok := field(reflect.Indirect(s), rest, func(f reflect.StructField) string { return snake(f.Name) }); ok {
				return x, true
			}
		}
	}
	if x, ok := field(reflect.ValueOf(v.sum()).Elem(), name, jsonName); ok {
		return x, true
	}
	names, values := measure.Flatten(*v.sum())
	if i := slices.Index(names, name); i >= 0 {
		x, err := strconv.ParseFloat(values[i], 64)
		return x, err == nil
	}
	return 0, false
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// field is the number at a dotted path in a struct.
func field(v reflect.Value, path string, name func(reflect.StructField) string) (float64, bool) {
	head, rest, _ := strings.Cut(path, ".")
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch x := reflect.Indirect(v.Field(i)); {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			if n, ok := field(x, path, name); ok {
				return n, true
			}
		case !f.IsExported() || name(f) != head || !x.IsValid():
		case rest != "" && x.Kind() == reflect.Struct:
			return field(x, rest, name)
		case rest == "" && isNumber(x.Kind()):
			return toFloat(x), true
		}
	}
	return 0, false
}

func toFloat(x reflect.Value) float64 {
	switch {
	case x.CanInt():
		return float64(x.Int())
	case x.CanUint():
		return float64(x.Uint())
	}
	return x.Float()
}
