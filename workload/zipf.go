package workload

import (
	"math"
	"math/bits"
)

// zipf draws ranks 0..n-1 with probability proportional to 1/(rank+1)^theta,
// by rejection-inversion: Hörmann and Derflinger, "Rejection-inversion to
// generate variates from monotone discrete distributions", ACM TOMACS 6(3),
// 1996. It takes theta = 1 and theta = 0 as they come, and no table.
type zipf struct {
	n        float64
	theta    float64
	q, invQ  float64 // 1 - theta and its inverse; q = 0 selects the logarithm
	low, top float64 // the area's bounds, H(1.5) - 1 and H(n + 0.5)
	// accept[bits.Len(k)] is a distance to the rank k under which no test is
	// needed. The article's constant is that of k = 2, the least of all; the
	// distance grows towards 1/2 with k, so that of the power of two at or
	// below k holds for k and spares most logarithms.
	accept [65]float64
}

// squeezes is how many powers of two get a distance of their own; later ones
// would differ by less than rounding.
const squeezes = 10

func newZipf(n uint64, theta float64) zipf {
	z := zipf{n: float64(n), theta: theta, q: 1 - theta}
	if math.Abs(z.q) < 1e-9 {
		z.q = 0
	} else {
		z.invQ = 1 / z.q
	}
	z.low = z.area(1.5) - 1
	z.top = z.area(z.n + 0.5)
	least := z.distance(2)
	z.accept[0], z.accept[1] = least, least
	for i := 2; i < len(z.accept); i++ {
		z.accept[i] = min(max(z.distance(float64(uint64(1)<<min(i-1, squeezes))), least), 0.5)
	}
	return z
}

// distance is how far below rank k the accepted part of its interval begins.
func (z *zipf) distance(k float64) float64 { return k - z.inverse(z.area(k+0.5)-z.density(k)) }

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
		k := min(max(float64(uint64(x+0.5)), 1), z.n) // x > 0
		if k-x <= z.accept[bits.Len64(uint64(k))] || u >= z.area(k+0.5)-z.density(k) {
			return uint64(k) - 1
		}
	}
}
