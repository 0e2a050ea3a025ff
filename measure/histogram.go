package measure

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"rnicmmu/clocked"
)

const (
	histogramTop    = 100 * clocked.Second
	histogramDigits = 3
)

// Quantiles describes a set of times in picoseconds; all are 0 when the set is
// empty. Total must stay under 2^63 ps (106 days of summed waiting).
type Quantiles struct {
	Mean  clocked.Time `json:"mean"` // Total / count, rounded to the nearest
	P50   clocked.Time `json:"p50"`
	P90   clocked.Time `json:"p90"`
	P99   clocked.Time `json:"p99"`
	P999  clocked.Time `json:"p999"`
	Max   clocked.Time `json:"max"`   // exact
	Total clocked.Time `json:"total"` // exact
}

// Histogram collects times for Quantiles. It allocates when made, never when
// recording.
type Histogram struct {
	hdr   *hdrhistogram.Histogram
	total clocked.Time
	max   clocked.Time
}

// NewHistogram makes an empty histogram of 0 … 100 s at 3 significant digits.
func NewHistogram() *Histogram {
	return &Histogram{hdr: hdrhistogram.New(1, int64(histogramTop), histogramDigits)}
}

// Record adds one time; a negative one counts as 0.
func (h *Histogram) Record(t clocked.Time) {
	t = max(t, 0)
	h.total += t
	h.max = max(h.max, t)
	// The argument is within the trackable range, so there is no error.
	_ = h.hdr.RecordValue(int64(min(t, histogramTop)))
}

// Count is how many times were recorded.
func (h *Histogram) Count() int64 { return h.hdr.TotalCount() }

// Quantiles summarizes what was recorded so far.
func (h *Histogram) Quantiles() Quantiles {
	n := h.Count()
	if n == 0 {
		return Quantiles{}
	}
	return Quantiles{
		Mean: roundedShare(h.total, n), Max: h.max, Total: h.total,
		P50: h.at(rank(n, 500)), P90: h.at(rank(n, 900)), P99: h.at(rank(n, 990)), P999: h.at(rank(n, 999)),
	}
}

// at is the r-th smallest value, 1 ≤ r ≤ Count. The histogram takes a rank as a
// percentage and rounds to the nearest rank, which gives r back on every
// machine while the count is under 2^50.
func (h *Histogram) at(r int64) clocked.Time {
	percentile := 100 * float64(r) / float64(h.Count())
	return min(clocked.Time(h.hdr.ValueAtPercentile(percentile)), h.max)
}

// rank is ⌈n·permille/1000⌉, in integers so that it is the same on every
// machine.
func rank(n, permille int64) int64 { return n/1000*permille + (n%1000*permille+999)/1000 }

// roundedShare is total/n to the nearest, without overflow.
func roundedShare(total clocked.Time, n int64) clocked.Time {
	whole, rest := int64(total)/n, int64(total)%n
	if rest >= n-rest {
		whole++
	}
	return clocked.Time(whole)
}
