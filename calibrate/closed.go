package calibrate

import (
	"context"
	"math"

	"rnicmmu/clocked"
	"rnicmmu/components/pcie"
	rules "rnicmmu/model/pcie"
)

// ClosedTolerance is how far a simulated link may be from the closed form.
const ClosedTolerance = 0.01

// Width is a generation and a number of lanes.
type Width struct{ Gen, Lanes int }

// Widths are all links that are compared with the closed form.
func Widths() []Width {
	var all []Width
	for gen := rules.FirstGen; gen <= rules.LastGen; gen++ {
		for lanes := 1; lanes <= 32; lanes *= 2 {
			all = append(all, Width{gen, lanes})
		}
	}
	return all
}

// Sizes are those of the transfers, in bytes.
func Sizes() []uint32 {
	var all []uint32
	for n := uint32(8); n <= 4096; n *= 2 {
		all = append(all, n)
	}
	return all
}

// ClosedRow is the payload bandwidth of one link, traffic and size, in bytes a
// second.
type ClosedRow struct {
	Width
	Bytes     uint32
	Traffic   Traffic
	Simulated float64
	Closed    float64
}

// Error is the simulation's deviation, a fraction of the closed form.
func (r *ClosedRow) Error() float64 { return r.Simulated/r.Closed - 1 }

// Good tells whether the two agree.
func (r *ClosedRow) Good() bool { return math.Abs(r.Error()) <= ClosedTolerance }

// CompareClosed simulates links of all sizes and traffics beside the closed form.
// Rows come by link, size and traffic; done is told how many are over.
func CompareClosed(ctx context.Context, widths []Width, sizes []uint32, done func(over int)) ([]ClosedRow, error) {
	var rows []ClosedRow
	for _, w := range widths {
		for _, n := range sizes {
			for t := range NumTraffics {
				rows = append(rows, ClosedRow{Width: w, Bytes: n, Traffic: t})
			}
		}
	}
	return rows, each(ctx, len(rows), done, func(i int) error { return rows[i].fill() })
}

// A simulation has about so many TLPs, of which the first quarter does not count.
const closedTLPs = 4000

func (r *ClosedRow) fill() error {
	spec, err := ideal(r.Gen, r.Lanes)
	if err != nil {
		return err
	}
	transfers := max(closedTLPs/int((r.Bytes+uint32(spec.MPS)-1)/uint32(spec.MPS)), 400)
	s, err := saturate(spec, r.Traffic, r.Bytes, transfers, transfers/4, clocked.Nanosecond)
	if err != nil {
		return err
	}
	r.Simulated, r.Closed = s.rate(r.Traffic, r.Bytes), closedForm(&spec, r.Traffic, r.Bytes)
	return nil
}

// closedForm is that of model/pcie for transfers of n bytes, in bytes a second.
// Acknowledgements and credits count where they leave by the formula's limits.
func closedForm(s *pcie.Spec, traffic Traffic, n uint32) float64 {
	l := rules.Link{Gen: s.Gen, Lanes: s.Lanes, MPS: uint32(s.MPS), MRRS: uint32(s.MRRS), RCB: uint32(s.RCB), Split: rules.SplitMin,
		Header: rules.Header4DW, SKP: s.SKP, DLLPs: s.Ack == pcie.Timer{}}
	switch traffic {
	case Writes:
		return l.WriteBandwidth(n)
	case Reads:
		return l.ReadBandwidth(n)
	}
	return l.BothBandwidth(n)
}
