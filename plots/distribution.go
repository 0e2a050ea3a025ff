package plots

import (
	"math"
	"math/bits"
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// histogram counts times in buckets at most 1/256 of their value wide.
type histogram struct {
	buckets [64 * subBuckets]uint64
	count   uint64
}

const (
	subBits    = 8
	subBuckets = 1 << subBits
)

func (h *histogram) add(t clocked.Time) {
	v := uint64(max(t, 0))
	h.count++
	if v < subBuckets {
		h.buckets[v]++
		return
	}
	shift := bits.Len64(v) - 1 - subBits
	h.buckets[(shift+1)<<subBits+int(v>>shift)-subBuckets]++
}

// top is the largest time of a bucket.
func (h *histogram) top(bucket int) float64 {
	if bucket < subBuckets {
		return float64(bucket)
	}
	shift := bucket>>subBits - 1
	return float64((uint64(bucket&(subBuckets-1)+subBuckets)+1)<<shift - 1)
}

// distribution is, for every bucket in use, its top and the share of all times
// that do not exceed it.
func (h *histogram) distribution() (times, atMost []float64) {
	seen := uint64(0)
	for b, n := range h.buckets {
		if n == 0 {
			continue
		}
		seen += n
		times = append(times, max(h.top(b), 1)) // 0 ps has no place on a logarithmic axis
		atMost = append(atMost, float64(seen)/float64(h.count))
	}
	return times, atMost
}

// step is one leg of an invalidation.
type step struct {
	name string
	mean float64 // picoseconds, over all round trips
	at   float64 // mean instant of its end, for the order
}

var stepNames = [measure.NumSteps]string{
	"checks over", "IOTLB flushed", "command sent", "command received", "entries marked", "DMA drained", "acknowledged",
	"device TLB flushed", "all acknowledged", "frame free",
}

// invalidationSteps averages the legs of all round trips after the warm-up that
// did not time out. A leg runs from the latest instant before it, so legs add
// up to the whole under every scheme's order of steps.
func invalidationSteps(path string) ([]step, uint64, error) {
	var sums, ends [measure.NumSteps]float64
	var n uint64
	err := measure.ReadInvalidations(path, func(rows []measure.Invalidation) {
		for i := range rows {
			if v := &rows[i]; !v.Warmup && !v.TimedOut {
				addLegs(v, &sums, &ends)
				n++
			}
		}
	})
	if err != nil || n == 0 {
		return nil, 0, err
	}
	var steps []step
	for k, sum := range sums {
		if ends[k] > 0 {
			steps = append(steps, step{stepNames[k], sum / float64(n), ends[k] / float64(n)})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return compare(a.at, b.at) })
	return steps, n, nil
}

func addLegs(v *measure.Invalidation, sums, ends *[measure.NumSteps]float64) {
	instants := v.Instants()
	for k, leg := range v.Steps() {
		if instants[k] > 0 {
			sums[k] += float64(leg)
			ends[k] += float64(instants[k] - v.Notified)
		}
	}
}

// distributionScale is the logarithmic axis of a distribution's times.
func distributionScale(times []float64) scale {
	lo, hi := times[0], times[len(times)-1]
	s := scale{log: true, label: "latency"}
	s.unit = unitFor(timeUnits, math.Sqrt(lo*hi))
	s.label += " (" + s.unit.name + ")"
	s.min, s.max = floor125(lo/s.unit.base*0.999), ceil125(hi/s.unit.base*1.001)
	s.ticks = logTicks(s.min, s.max)
	return s
}

func shareTo100(label string) scale {
	return scale{min: 0, max: 100, unit: unit{base: 1}, label: label, ticks: linearTicks(0, 100, 20)}
}

// tailScale reaches down to one access of n.
func tailScale(n uint64) scale {
	s := scale{log: true, unit: unit{base: 1}, label: "accesses over (%)", max: 100}
	s.min = math.Pow(10, math.Floor(math.Log10(100/float64(max(n, 2)))))
	s.ticks = logTicks(s.min, s.max)
	return s
}
