package plots

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Statuses of a point that the figures tell apart.
const (
	statusRefused = "refused"
	statusFailed  = "failed"
)

// Table is a sweep.csv: a row a point in plan order.
type Table struct {
	Path string
	Axes []Axis
	Rows []Row

	columns map[string]int // of the figures, by dotted name
}

// Row is one point of a sweep.
type Row struct {
	Values []string // one an axis
	Status string   // ok, refused, failed, violation or interrupted
	Point  string   // folder under points/

	line  int
	cells []string
}

// ReadTable reads a sweep.csv: the columns before "status" are the axes, those
// after it the figures. A table without rows or without "status" is an error.
func ReadTable(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, readError(path, err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	records, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: not a complete CSV table: %w; run the sweep again with --resume", path, err)
	}
	if len(records) < 2 {
		return nil, fmt.Errorf("%s: no points; run the sweep again with --resume", path)
	}
	return newTable(path, records)
}

func newTable(path string, records [][]string) (*Table, error) {
	head := records[0]
	status := slices.Index(head, "status")
	if status < 0 {
		return nil, fmt.Errorf("%s: no column status: not the table of a sweep", path)
	}
	t := &Table{Path: path, columns: map[string]int{}}
	for i, name := range head[status+1:] {
		t.columns[name] = status + 1 + i
	}
	for i, cells := range records[1:] {
		for k := range cells[:status] {
			cells[k] = oneLine(cells[k])
		}
		row := Row{Values: cells[:status], Status: cells[status], line: i + 2, cells: cells}
		if c, ok := t.columns["point"]; ok {
			row.Point = oneLine(cells[c])
		}
		t.Rows = append(t.Rows, row)
	}
	for i, key := range head[:status] {
		t.Axes = append(t.Axes, newAxis(oneLine(key), i, t.Rows))
	}
	return t, nil
}

// readError names the file and the mend.
func readError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: missing: name the folder of a run or of a sweep", path)
	}
	return fmt.Errorf("%s: cannot read: %w", path, pathless(err))
}

// pathless drops the path that a system error repeats.
func pathless(err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

// Metric is a figure computed from columns of one row.
type Metric struct {
	Columns []string
	Of      func(cells []float64) float64
}

// Column is a column as it stands.
func Column(name string) Metric {
	return Metric{[]string{name}, func(v []float64) float64 { return v[0] }}
}

// Ratio is factor × a / b, without a value where b is 0.
func Ratio(a, b string, factor float64) Metric {
	return Metric{[]string{a, b}, func(v []float64) float64 {
		if v[1] == 0 {
			return math.NaN()
		}
		return factor * v[0] / v[1]
	}}
}

const completed = "accesses.completed"

// Figures of a sweep by name.
var (
	// MissRate is the share of MTT look-ups that missed, in percent.
	MissRate = Ratio("tpt.mtt.misses", "tpt.mtt.lookups", 100)
	// WalkRate is the share of MTT look-ups that walked the table, in percent; the
	// other misses joined a walk in flight or hit in the second level.
	WalkRate = Metric{[]string{"tpt.mtt.walks", "tpt.mtt.l2.hits", "tpt.mtt.lookups"}, func(v []float64) float64 {
		if v[2] == 0 {
			return math.NaN()
		}
		return 100 * (v[0] - v[1]) / v[2]
	}}
	// Throughput is completed accesses per simulated second.
	Throughput = Ratio(completed, "simulated_ps", 1e12)
	// FaultRate is adapter faults per 1000 completed accesses.
	FaultRate = Ratio("faults.raised", completed, 1000)
	// InvalidationRate is invalidations per 1000 completed accesses.
	InvalidationRate = Ratio("invalidations.issued", completed, 1000)
	// LinkCost is bytes on the adapters' links, both directions, per byte of payload
	// of completed accesses.
	LinkCost = Metric{[]string{"pcie.up.bytes", "pcie.down.bytes", "accesses.bytes"}, func(v []float64) float64 {
		if v[2] == 0 {
			return math.NaN()
		}
		return (v[0] + v[1]) / v[2]
	}}
	// NotReadyRate is RNR NAKs and dropped TCP segments for pages that were not there,
	// per 1000 completed accesses.
	NotReadyRate = Metric{append(slices.Clone(notReady), completed), func(v []float64) float64 {
		last := len(v) - 1
		if v[last] == 0 {
			return math.NaN()
		}
		sum := 0.0
		for _, n := range v[:last] {
			sum += n
		}
		return 1000 * sum / v[last]
	}}
	// ResendShare is the share of the peers' packets that were sent again, in
	// percent.
	ResendShare = Ratio("transport.packets_resent", "transport.packets_sent", 100)
	// CPUStall is the mean time that an access of the host's own program waits for
	// its page, picoseconds; without a value where the program is off.
	CPUStall = Ratio("cpu.stall_ps", "cpu.accesses", 1)
)

var notReady = []string{"transport.rnr_naks.moving", "transport.rnr_naks.paging", "transport.rnr_naks.over_advertised",
	"transport.tcp_drops.moving", "transport.tcp_drops.paging", "transport.tcp_drops.over_advertised"}

// Latency is a quantile of the latency of completed accesses in picoseconds:
// mean, p50, p90, p99, p999 or max. A row in which none completed has no value.
func Latency(quantile string) Metric {
	return Metric{[]string{"accesses.latency_ps." + quantile, completed}, func(v []float64) float64 {
		if v[1] == 0 {
			return math.NaN()
		}
		return v[0]
	}}
}

const causePrefix = "accesses.cause_ps."

// under lists what the names of columns have after a prefix, in file order.
func (t *Table) under(prefix string) []string {
	var names []string
	for name := range t.columns {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return t.columns[a] - t.columns[b] })
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], prefix)
	}
	return names
}

// Measure computes a metric for every row; NaN stands where a cell is empty.
func (t *Table) Measure(m Metric) ([]float64, error) {
	values := make([]float64, len(t.Rows))
	inputs := make([]float64, len(m.Columns))
	for i := range t.Rows {
		empty := false
		for k, name := range m.Columns {
			v, err := t.number(&t.Rows[i], name)
			if err != nil {
				return nil, err
			}
			inputs[k] = v
			empty = empty || math.IsNaN(v)
		}
		values[i] = math.NaN()
		if !empty {
			values[i] = m.Of(inputs)
		}
	}
	return values, nil
}

func (t *Table) number(row *Row, column string) (float64, error) {
	c, ok := t.columns[column]
	if !ok {
		return 0, fmt.Errorf("%s: no column %s: written by another version; run the sweep again", t.Path, column)
	}
	if row.cells[c] == "" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(row.cells[c], 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, fmt.Errorf("%s:%d: %s: %q is no number; run the sweep again with --resume",
			t.Path, row.line, column, row.cells[c])
	}
	return v, nil
}
