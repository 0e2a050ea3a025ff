package workload

import "math"

// ln and exp of package math may change with the version of Go and differ
// between processors, and a compiler may fuse a product with a sum. The
// generators' results must not, so these two are built from single rounded
// operations: the explicit float64 conversions forbid fusing (Go
// specification, "Floating-point operators").

const (
	expSteps = 64
	lnSteps  = 128
)

var (
	expTable [expSteps]float64 // 2^(i/64)
	lnTable  [lnSteps]float64  // ln of the middle of slice i of [1, 2)
	invTable [lnSteps]float64  // 1 / the middle of slice i
)

func init() {
	for i := range expTable {
		expTable[i] = expSeries(float64(float64(i)*math.Ln2) / expSteps)
	}
	for i := range lnTable {
		middle := 1 + (float64(i)+0.5)/lnSteps
		invTable[i] = 1 / middle
		lnTable[i] = lnSeries(1 / invTable[i])
	}
}

// expSeries is e^x by its Taylor series, for 0 <= x < 1.
func expSeries(x float64) float64 {
	sum := 1.0
	for k := 24; k >= 1; k-- {
		sum = 1 + float64(x*sum)/float64(k)
	}
	return sum
}

// lnSeries is ln x = 2 atanh((x-1)/(x+1)) by its series, for 1 <= x <= 2.
func lnSeries(x float64) float64 {
	s := (x - 1) / (x + 1)
	sq, sum := float64(s*s), 0.0
	for k := 41; k >= 1; k -= 2 {
		sum = 1/float64(k) + float64(sq*sum)
	}
	return 2 * float64(s*sum)
}

// ln is the natural logarithm of a positive normal x, to about 1e-13.
func ln(x float64) float64 {
	b := math.Float64bits(x)
	e := float64(int(b>>52) - 1023)
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	i := b >> (52 - 7) & (lnSteps - 1)
	r := float64(m*invTable[i]) - 1
	p := float64(r*(1.0/3-float64(r*(0.25-float64(r*0.2))))) - 0.5
	p = r + float64(float64(r*r)*p)
	return float64(e*math.Ln2) + (lnTable[i] + p)
}

// exp is e^x to about 1e-13, for |x| < 700.
func exp(x float64) float64 {
	const bias = 1 << 20
	n := int(float64(x*(expSteps/math.Ln2))+(bias+0.5)) - bias // nearest, also below 0
	r := x - float64(float64(n)*(math.Ln2/expSteps))
	p := float64(r * (1.0/6 + float64(r*(1.0/24+float64(r*(1.0/120))))))
	p = 1 + (r + float64(float64(r*r)*(0.5+p)))
	scale := math.Float64frombits(uint64(n>>6+1023) << 52)
	return float64(float64(expTable[n&(expSteps-1)]*p) * scale)
}
