package configs

import "math/big"

// fraction is an exact fraction that is never reduced: thousands of products
// of long decimals cost big.Rat, which reduces each, minutes.
type fraction struct{ num, den *big.Int }

func newFraction(x *big.Rat) *fraction {
	return &fraction{new(big.Int).Set(x.Num()), new(big.Int).Set(x.Denom())}
}

// atMost tells whether x ≤ y.
func (x *fraction) atMost(y *big.Rat) bool {
	left := new(big.Int).Mul(x.num, y.Denom())
	return left.Cmp(new(big.Int).Mul(y.Num(), x.den)) <= 0
}

// multiplier makes a function that multiplies by y.
func multiplier(y *big.Rat) func(*fraction) {
	return func(x *fraction) {
		x.num.Mul(x.num, y.Num())
		x.den.Mul(x.den, y.Denom())
	}
}

// adder makes a function that adds y. After its first call both have one
// denominator, which no longer grows.
func adder(y *big.Rat) func(*fraction) {
	return func(x *fraction) {
		if new(big.Int).Rem(x.den, y.Denom()).Sign() != 0 {
			x.num.Mul(x.num, y.Denom())
			x.den.Mul(x.den, y.Denom())
		}
		scale := new(big.Int).Quo(x.den, y.Denom())
		x.num.Add(x.num, scale.Mul(scale, y.Num()))
	}
}

// integer is x where it is whole.
func (x *fraction) integer() (*big.Int, bool) {
	n, rest := new(big.Int).QuoRem(x.num, x.den, new(big.Int))
	return n, rest.Sign() == 0
}

// fractionBits is the precision at which float divides: more than enough that
// rounding to the 53 bits of a float64 afterwards gives the nearest.
const fractionBits = 256

// float is the float64 nearest to x.
func (x *fraction) float() float64 {
	num := new(big.Float).SetPrec(fractionBits).SetInt(x.num)
	den := new(big.Float).SetPrec(fractionBits).SetInt(x.den)
	f, _ := num.Quo(num, den).Float64()
	return f
}
