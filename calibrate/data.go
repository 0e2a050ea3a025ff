package calibrate

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"rnicmmu/components/dmabench"
)

//go:embed data/*.csv
var embedded embed.FS

// DataSource is where the embedded measurements come from, as their column source
// says.
const DataSource = "pcie-bench/data@b2abf2f"

// Point is one measurement.
type Point struct {
	Test  dmabench.Test
	Bytes uint32
	Value float64 // mean latency in ns, or payload in Gb/s: of each direction where both are used
	File  string  // the measurement's own file
}

// Points are the measurements of a system, by test and size. They come from the
// embedded files, whose source column names their origin.
func Points(system string) ([]Point, error) {
	var all []Point
	for _, f := range []struct{ name, value string }{
		{"data/pciebench_latency.csv", "avg_ns"}, {"data/pciebench_bandwidth.csv", "bw_gbps"},
	} {
		data, err := embedded.ReadFile(f.name)
		if err != nil {
			return nil, err
		}
		points, err := parse(data, system, f.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		all = append(all, points...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no measurements of %s", system)
	}
	slices.SortStableFunc(all, func(a, b Point) int {
		if a.Test != b.Test {
			return int(a.Test - b.Test)
		}
		return int(a.Bytes) - int(b.Bytes)
	})
	return all, nil
}

// parse takes the rows of a system; value names the column of the measurement.
func parse(data []byte, system, value string) ([]Point, error) {
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	var points []Point
	for i, row := range rows[1:] {
		if row[column["system"]] != system {
			continue
		}
		p := Point{File: row[column["file"]]}
		size, err := strconv.ParseUint(row[column["bytes"]], 10, 32)
		if err == nil {
			p.Value, err = strconv.ParseFloat(row[column[value]], 64)
		}
		if err == nil {
			p.Test, err = dmabench.ParseTest(row[column["test"]])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		p.Bytes = uint32(size)
		points = append(points, p)
	}
	return points, nil
}
