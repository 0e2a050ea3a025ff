package plots

import (
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"rnicmmu/measure"
)

// accessBytes is the size of an access for every row, or nil where sizes vary
// or are not known: under a trace, key-value or atomic workloads, and where the
// points' configurations are gone.
func (t *Table) accessBytes(dir string, trace bool) []float64 {
	if trace {
		return nil
	}
	size, ok := t.configuredBytes(dir)
	if !ok {
		return nil
	}
	axis := t.axis("workload.access_bytes")
	out := make([]float64, len(t.Rows))
	for i, row := range t.Rows {
		out[i] = size
		if axis >= 0 && t.Axes[axis].numeric() {
			out[i] = t.Axes[axis].position(row.Values[axis])
		}
	}
	return out
}

func (t *Table) axis(key string) int {
	for i, a := range t.Axes {
		if a.Key == key {
			return i
		}
	}
	return -1
}

// configuredBytes reads the size that the first point with a configuration has.
func (t *Table) configuredBytes(dir string) (float64, bool) {
	if t.axis("workload.pattern") >= 0 || t.axis("workload.atomic_fraction") >= 0 {
		return 0, false
	}
	for _, row := range t.Rows {
		data, err := os.ReadFile(filepath.Join(dir, "points", row.Point, measure.ConfigFile))
		if row.Point == "" || err != nil {
			continue
		}
		var config struct {
			Workload struct {
				Pattern        string  `yaml:"pattern"`
				AccessBytes    string  `yaml:"access_bytes"`
				AtomicFraction float64 `yaml:"atomic_fraction"`
			} `yaml:"workload"`
		}
		if yaml.Unmarshal(data, &config) != nil {
			return 0, false
		}
		w := config.Workload
		size, unit, ok := parseQuantity(w.AccessBytes)
		return size, ok && unit == "B" && w.Pattern != "keyvalue" && w.AtomicFraction == 0
	}
	return 0, false
}
