package workload

import "math"

// zipf draws ranks 0..n-1 with probability proportional to 1/(rank+1)^theta,
// by rejection-inversion: Hörmann and Derflinger, "Rejection-inversion to
// generate variates from monotone discrete distributions", ACM TOMACS 6(3),
// 1996. It takes theta = 1 and theta = 0 as they come, and no table.
type zipf struct {
	n        float64
	theta    float64
	q, invQ  float64 // 1 - theta and its inverse; q = 0 selects the logarithm
	low, top float64 // the area's bounds, H(1.5) - 1 and H(n + 0.5)
	accept   float64 // distance to the rank under which no test is needed
}

func newZipf(n uint64, theta float64) zipf {
	z := zipf{n: float64(n), theta: theta, q: 1 - theta}
	if math.Abs(z.q) < 1e-9 {
		z.q = 0
	} else {
		z.invQ = 1 / z.q
	}
	z.low = z.area(1.5) - 1
	z.top = z.area(z.n + 0.5)
	z.accept = 2 - z.inverse(z.area(2.5)-z.density(2))
	return z
}

// area is H, an antiderivative of the density with H(1) = 0.
func (z *zipf) area(x float64) float64 {
	if z.q == 0 {
		return ln(x)
	}
	return float64((exp(float64(z.q*ln(x))) - 1) * z.invQ)
}

// inverse is the inverse of area.
func (z *zipf) inverse(y float64) float64 {
	if z.q == 0 {
		return exp(y)
	}
	return exp(float64(ln(1+float64(z.q*y)) * z.invQ))
}

func (z *zipf) density(x float64) float64 { return exp(float64(-z.theta * ln(x))) }

func (z *zipf) draw(r *rng) uint64 {
	for {
		u := z.top + float64(r.unit()*(z.low-z.top))
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.accept || u >= z.area(k+0.5)-z.density(k) {
			return uint64(k) - 1
		}
	}
}
