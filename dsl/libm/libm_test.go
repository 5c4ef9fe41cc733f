package libm

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

var values = flag.Int("libm.values", 300, "how many random arguments each function is compared at")

// precision is that of the reference, in bits. It leaves 60 bits for what cancels out.
const precision = 256

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func zero() *big.Float { return new(big.Float).SetPrec(precision) }

// bigLn2 is log(2) = 2 atanh(1/3).
var bigLn2 = bigAtanh(zero().Quo(exactly(1), exactly(3)))

// bigAtanh is twice the inverse hyperbolic tangent.
func bigAtanh(s *big.Float) *big.Float {
	total, power, square := zero(), zero().Mul(s, exactly(2)), zero().Mul(s, s)
	for n := 1.0; n < 200 && power.Sign() != 0; n += 2 {
		total.Add(total, zero().Quo(power, exactly(n)))
		power.Mul(power, square)
	}
	return total
}

func bigLog(x float64) *big.Float {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := bigAtanh(zero().Quo(zero().Sub(exactly(m), exactly(1)), zero().Add(exactly(m), exactly(1))))
	return s.Add(s, zero().Mul(exactly(float64(e)), bigLn2))
}

func bigExp(x *big.Float) *big.Float {
	k, _ := zero().Quo(x, bigLn2).Float64()
	k = math.Round(k)
	r := zero().Sub(x, zero().Mul(exactly(k), bigLn2))
	total, term := exactly(1), exactly(1)
	for n := 1.0; n < 80; n++ {
		term.Quo(term.Mul(term, r), exactly(n))
		total.Add(total, term)
	}
	return total.SetMantExp(total, int(k))
}

// bigSincos are sine and cosine, for small angles.
func bigSincos(x float64) (sin, cos *big.Float) {
	sin, cos = zero(), zero()
	for n, term := 0, exactly(1); n < 160; n++ {
		switch n % 4 {
		case 0:
			cos.Add(cos, term)
		case 1:
			sin.Add(sin, term)
		case 2:
			cos.Sub(cos, term)
		case 3:
			sin.Sub(sin, term)
		}
		term.Quo(term.Mul(term, exactly(x)), exactly(float64(n+1)))
	}
	return sin, cos
}

// ulps is how far got lies from want, in units in the last place of want. A result that is not a finite normal number must
// be that to which want rounds.
func ulps(got float64, want *big.Float) float64 {
	nearest, _ := want.Float64()
	if got == nearest && (math.IsInf(got, 0) || math.Abs(got) < 0x1p-1022) {
		return 0
	}
	if math.IsInf(got, 0) || math.IsInf(nearest, 0) || math.IsNaN(got) {
		return math.Inf(1)
	}
	unit := math.Nextafter(math.Abs(nearest), math.Inf(1)) - math.Abs(nearest)
	if want.MantExp(nil) <= -1022 {
		unit = math.SmallestNonzeroFloat64
	}
	off, _ := zero().Quo(zero().Sub(exactly(got), want), exactly(unit)).Float64()
	return math.Abs(off)
}

// TestAccuracy compares each function with sums of 256 bits.
func TestAccuracy(t *testing.T) {
	anyFloat := func(r *rand.Rand) float64 { return math.Ldexp(1+r.Float64(), r.IntN(2098)-1074) }
	for name, c := range map[string]struct {
		bound float64
		draw  func(r *rand.Rand) (got float64, want *big.Float, x, y float64)
	}{
		"exp": {1, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x := (2*r.Float64() - 1) * math.Ldexp(1, r.IntN(11))
			return Exp(x), bigExp(exactly(x)), x, 0
		}},
		"exp2": {0.51, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x := (2*r.Float64() - 1) * math.Ldexp(1, r.IntN(11))
			return Exp2(x), bigExp(zero().Mul(exactly(x), bigLn2)), x, 0
		}},
		"log": {0.51, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x := anyFloat(r)
			return Log(x), bigLog(x), x, 0
		}},
		"log near 1": {0.51, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x := 1 + (2*r.Float64()-1)*math.Ldexp(1, -1-r.IntN(50))
			return Log(x), bigLog(x), x, 0
		}},
		"log2": {0.51, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x := anyFloat(r)
			return Log2(x), zero().Quo(bigLog(x), bigLn2), x, 0
		}},
		"pow": {0.51, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x := anyFloat(r)
			y := (2*r.Float64() - 1) * 750 / math.Abs(math.Log(x))
			return Pow(x, y), bigExp(zero().Mul(exactly(y), bigLog(x))), x, y
		}},
		"pow near 1": {0.51, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x := 1 + (1+r.Float64())*math.Ldexp(1, -2-r.IntN(50))
			y := (2*r.Float64() - 1) * 750 / math.Abs(math.Log(x))
			return Pow(x, y), bigExp(zero().Mul(exactly(y), bigLog(x))), x, y
		}},
		"pow of everyday numbers": {0.51, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x, y := float64(1+r.IntN(100_000))/100, float64(r.IntN(2000)-1000)/100
			return Pow(x, y), bigExp(zero().Mul(exactly(y), bigLog(x))), x, y
		}},
		"tanh": {2, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x := (2*r.Float64() - 1) * math.Ldexp(1, 5-r.IntN(20))
			e := bigExp(exactly(2 * x))
			return Tanh(x), zero().Quo(zero().Sub(e, exactly(1)), zero().Add(e, exactly(1))), x, 0
		}},
		"sin": {1.5, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x := (2*r.Float64() - 1) * math.Ldexp(1, 4-r.IntN(20))
			got, _ := Sincos(x)
			want, _ := bigSincos(x)
			return got, want, x, 0
		}},
		"cos": {1.5, func(r *rand.Rand) (float64, *big.Float, float64, float64) {
			x := (2*r.Float64() - 1) * math.Ldexp(1, 4-r.IntN(20))
			_, got := Sincos(x)
			_, want := bigSincos(x)
			return got, want, x, 0
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, most := rand.New(rand.NewPCG(1, 2)), 0.0
			for range *values {
				got, want, x, y := c.draw(r)
				off := ulps(got, want)
				if math.Abs(got) < 0x1p-1022 { // which is rounded twice: to 53 bits and to fewer
					off -= 0.25
				}
				if most = max(most, off); off > c.bound {
					nearest, _ := want.Float64()
					t.Fatalf("at %v and %v it is %v, want %v: %.3f units in the last place, more than %v", x, y, got, nearest, off, c.bound)
				}
			}
			t.Logf("%d values, at most %.4f units in the last place", *values, most)
		})
	}
}
