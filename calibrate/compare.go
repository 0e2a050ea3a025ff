package calibrate

import (
	"context"
	"math"

	"rnicmmu/components/dmabench"
)

// Tolerances of a measured machine.
const (
	LatencyTolerance   = 0.05
	BandwidthTolerance = 0.10
)

// Outlier is what the model does not reproduce of a machine, and why.
type Outlier struct {
	Test   dmabench.Test
	Sizes  []uint32 // bytes
	Reason string
	// With are the settings, KEY=VALUE, with which the model does reproduce it;
	// none where no setting says what is missing.
	With []string
}

// Row is a measurement and the model's value.
type Row struct {
	Point
	Model   float64 // in the unit of Value
	Outlier *Outlier
	With    float64 // the model's value with the outlier's settings; NaN without
}

// Error is the model's deviation, a fraction of the measurement.
func (r *Row) Error() float64 { return r.Model/r.Value - 1 }

// WithError is that with the outlier's settings.
func (r *Row) WithError() float64 { return r.With/r.Value - 1 }

// Tolerance is that of the row's kind of measurement.
func (r *Row) Tolerance() float64 {
	if r.Test.Latency() {
		return LatencyTolerance
	}
	return BandwidthTolerance
}

// Within tells whether the model reproduces the measurement.
func (r *Row) Within() bool { return math.Abs(r.Error()) <= r.Tolerance() }

// Good tells whether the row is as it should be: within, or an outlier that is
// named and, where settings are said to explain it, explained by them.
func (r *Row) Good() bool {
	switch {
	case r.Within():
		return true
	case r.Outlier == nil:
		return false
	}
	return len(r.Outlier.With) == 0 || math.Abs(r.WithError()) <= r.Tolerance()
}

// Compare measures the machine's model at every point that want accepts (nil:
// all). done is told how many are over.
func (m *Machine) Compare(ctx context.Context, want func(*Point) bool, done func(over int)) ([]Row, error) {
	points, err := Points(m.System)
	if err != nil {
		return nil, err
	}
	spec, err := m.Load(nil)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for i := range points {
		if want == nil || want(&points[i]) {
			rows = append(rows, Row{Point: points[i], With: math.NaN()})
		}
	}
	err = each(ctx, len(rows), done, func(i int) error { return m.fill(spec, &rows[i]) })
	return rows, err
}

// fill simulates a row.
func (m *Machine) fill(spec Spec, r *Row) (err error) {
	if r.Model, err = m.value(spec, &r.Point); err != nil || r.Within() {
		return err
	}
	if r.Outlier = m.outlier(r.Test, r.Bytes); r.Outlier == nil || len(r.Outlier.With) == 0 {
		return nil
	}
	if spec, err = m.Load(r.Outlier.With); err == nil {
		r.With, err = m.value(spec, &r.Point)
	}
	return err
}

func (m *Machine) outlier(test dmabench.Test, size uint32) *Outlier {
	for i := range m.Outliers {
		o := &m.Outliers[i]
		for _, s := range o.Sizes {
			if o.Test == test && s == size {
				return o
			}
		}
	}
	return nil
}

// Transfers of a simulation, and those before the first that counts: latencies
// are the same from the second lap of the window on; bandwidths when the queues
// have filled, and where both directions are used, when the contexts have gathered
// at the slower.
const (
	latencyTransfers, latencyWarmup     = 400, 200
	bandwidthTransfers, bandwidthWarmup = 3000, 1000
	bothTransfers, bothWarmup           = 6000, 2000
)

// value is the model's answer to a measurement, in its unit.
func (m *Machine) value(spec Spec, p *Point) (float64, error) {
	program := dmabench.Program{Test: p.Test, Bytes: p.Bytes, Window: window, Base: m.Base, Seed: 1, Random: !p.Test.Latency()}
	switch {
	case p.Test.Latency():
		program.Transfers, program.Warmup = latencyTransfers, latencyWarmup
	case p.Test == dmabench.BothBandwidth:
		program.Transfers, program.Warmup = bothTransfers, bothWarmup
	default:
		program.Transfers, program.Warmup = bandwidthTransfers, bandwidthWarmup
	}
	r, err := Measure(spec, program)
	if p.Test.Latency() {
		return r.Latency / 1e3, err // ns
	}
	return float64(p.Bytes) * 8e3 / r.Period, err // Gb/s
}

// window is that of the measurements by size, in bytes ([pcie-bench]).
const window = 8 << 10
