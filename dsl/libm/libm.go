// Package libm computes elementary functions with the same bits on every processor, for numbers that go into journals,
// digests and stored vectors. Package math does not: its Exp and Log are assembly on some processors (on amd64 with or
// without fused multiply-adds, as the processor has them; there its Log of numbers below the smallest normal is also
// wrong), and a compiler may fuse the products and additions of the functions that are written in Go.
//
// The package imports math alone, and of math only functions that are exact or correctly rounded by IEEE 754. Every
// product is rounded by a conversion, which the Go specification says prevents fusion.
//
// Enter at [Pow], [Exp], [Exp2], [Log], [Log2], [Tanh] and [Sincos]. Each treats infinities, zeros and NaN as the function
// of that name in package math does. Logarithm and exponential of Pow, Exp2, Log and Log2 work in twice the precision of a
// float64 (T. J. Dekker, "A floating-point technique for extending the available precision", 1971), so that Pow stays within
// 0.51 units in the last place, and is exact where the power is a float64. Sums are Taylor series, long enough for the
// precision of their range.
package libm

import "math"

// double is the unevaluated sum of two floats, the second at most half a unit in the last place of the first.
type double struct{ hi, lo float64 }

var (
	// ln2 is the natural logarithm of 2; its first part has 16 trailing zeros, so that a product with an exponent is exact.
	ln2 = double{0x1.62e42fefap-1, 0x1.cf79abc9e3b3ap-40}
	// log2e is 1 over the natural logarithm of 2.
	log2e = double{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}
)

// sum adds two floats of any size; the result is exact.
func sum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// addSmaller adds a float and one of a smaller size; the result is exact.
func addSmaller(hi, lo float64) double {
	s := hi + lo
	return double{s, lo - (s - hi)}
}

// halves splits a float into two of at most 26 bits, whose products are exact.
func halves(a float64) (hi, lo float64) {
	c := float64(a * (1<<27 + 1))
	hi = c - (c - a)
	return hi, a - hi
}

// product multiplies two floats; the result is exact.
func product(a, b float64) double {
	p := float64(a * b)
	ah, al := halves(a)
	bh, bl := halves(b)
	return double{p, ((float64(ah*bh) - p) + float64(ah*bl) + float64(al*bh)) + float64(al*bl)}
}

func (a double) add(b double) double {
	s := sum(a.hi, b.hi)
	return addSmaller(s.hi, s.lo+(a.lo+b.lo))
}

func (a double) times(b double) double {
	p := product(a.hi, b.hi)
	return addSmaller(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a double) over(b double) double {
	q := a.hi / b.hi
	p := product(q, b.hi)
	return addSmaller(q, (((a.hi-p.hi)-p.lo)+a.lo-float64(q*b.lo))/b.hi)
}

// series is the sum of c[i]*x^i.
func series(x float64, c []float64) (s float64) {
	for i := len(c) - 1; i >= 0; i-- {
		s = float64(s*x) + c[i]
	}
	return s
}

// odd are 1/7, 1/9 and so on: the coefficients of the inverse hyperbolic tangent from the seventh power on.
var odd = [...]float64{1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21, 1. / 23, 1. / 25}

var (
	third = double{0x1.5555555555555p-2, 0x1.5555555555555p-56}
	fifth = double{0x1.999999999999ap-3, -0x1.999999999999ap-57}
)

// logarithm gives k and r of log(x) = k*log(2) + r, for a finite x above 0. The mantissa m lies between √½ and √2, and with
// s = (m-1)/(m+1) its logarithm is 2(s + s³/3 + s⁵/5 + …).
func logarithm(x float64) (k float64, r double) {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = float64(2*m), e-1
	}
	s := double{m - 1, 0}.over(sum(m, 1))
	square := s.times(s)
	cube := square.times(s)
	power5 := cube.times(square)
	tail := float64(float64(power5.hi*square.hi) * series(square.hi, odd[:]))
	r = s.add(cube.times(third).add(power5.times(fifth).add(double{tail, 0})))
	return float64(e), double{float64(2 * r.hi), float64(2 * r.lo)}
}

// log is the natural logarithm of a finite x above 0.
func log(x float64) double {
	k, r := logarithm(x)
	if k == 0 {
		return r
	}
	return double{float64(k * ln2.hi), 0}.add(double{float64(k * ln2.lo), 0}.add(r))
}

// factorials are 1/2!, 1/3!, 1/4! and so on: the coefficients of the exponential function from the square on.
var factorials = func() (f [13]float64) {
	n := 1.0 // exact up to 18!
	for i := range f {
		n = float64(n * float64(i+2))
		f[i] = 1 / n
	}
	return f
}()

// exp is e^(x+k*log(2)) for |x| below 1/2 and a whole k.
func exp(x double, k int) float64 {
	square := x.times(x)
	// 1 + x + x²/2 + x³(1/6 + x/24 + …)
	tail := float64(float64(square.hi*x.hi) * series(x.hi, factorials[1:]))
	s := double{1, 0}.add(x).add(double{float64(square.hi / 2), float64(square.lo / 2)}.add(double{tail, 0}))
	return math.Ldexp(s.hi, k)
}

// The exponents above and below which a power of e is not a finite number or 0; a power of 2 is so from 1024 and below -1075.
const (
	overflow  = 709.8
	underflow = -745.2
)

// exponential is e^x for any x that is a number.
func exponential(x double) float64 {
	switch {
	case x.hi > overflow:
		return math.Inf(1)
	case x.hi < underflow:
		return 0
	}
	k := math.Round(float64(x.hi * log2e.hi))
	r := double{x.hi - float64(k*ln2.hi), 0}.add(double{-float64(k * ln2.lo), 0}.add(double{x.lo, 0}))
	return exp(r, int(k))
}

// Exp returns e^x, within one unit in the last place. It does not work in twice the precision: the embedder calls it 100,000
// times for a long text, which would take twice as long.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x > overflow:
		return math.Inf(1)
	case x < underflow:
		return 0
	}
	k := math.Round(float64(x * log2e.hi))
	hi, lo := x-float64(k*ln2.hi), float64(k*ln2.lo)
	r := hi - lo
	return math.Ldexp(1+(hi+(float64(float64(r*r)*series(r, factorials[:]))-lo)), int(k))
}

// Exp2 returns 2^x. It is exact for a whole x.
func Exp2(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x >= 1024:
		return math.Inf(1)
	case x < -1075:
		return 0
	}
	k := math.Round(x)
	return exp(double{x - k, 0}.times(ln2), int(k))
}

// Log returns the natural logarithm of x: NaN below 0, -Inf for 0.
func Log(x float64) float64 {
	if y, special := logOfSpecial(x); special {
		return y
	}
	return log(x).hi
}

// Log2 returns the binary logarithm of x, as [Log] does the natural one. It is exact for a power of 2.
func Log2(x float64) float64 {
	if y, special := logOfSpecial(x); special {
		return y
	}
	k, r := logarithm(x)
	return double{k, 0}.add(r.times(log2e)).hi
}

func logOfSpecial(x float64) (y float64, special bool) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x, true
	case x < 0:
		return math.NaN(), true
	case x == 0:
		return math.Inf(-1), true
	}
	return 0, false
}

// Pow returns x^y. It is NaN where x is below 0 and y is not whole.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case y == -1:
		return 1 / x // correctly rounded
	}
	whole := y == math.Trunc(y)
	sign := 1.0
	if math.Signbit(x) && whole && math.Mod(y, 2) != 0 && !math.IsInf(y, 0) {
		sign = -1
	}
	size := math.Abs(x)
	switch {
	case size == 1:
		if x < 0 && !whole {
			return math.NaN()
		}
		return sign
	case size == 0 || math.IsInf(size, 0) || math.IsInf(y, 0):
		if (size > 1) == (y > 0) {
			return math.Copysign(math.Inf(1), sign)
		}
		return math.Copysign(0, sign)
	case x < 0 && !whole:
		return math.NaN()
	}
	l := log(size)
	if math.Abs(y) > 1<<65 || math.Abs(l.hi*y) > 800 { // the product of the two below would be too large to split
		l, y = double{math.Copysign(1, l.hi), 0}, math.Copysign(800, y)
	}
	return math.Copysign(exponential(l.times(double{y, 0})), sign)
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) float64 {
	size := math.Abs(x)
	switch {
	case math.IsNaN(x) || x == 0:
		return x
	case size > 20: // 1 to the last bit
		return math.Copysign(1, x)
	case size >= 0.5:
		return math.Copysign(1-2/(Exp(float64(2*size))+1), x)
	}
	square := float64(x * x)
	return x + float64(x*series(square, excess[:]))/series(square, cosines[:])
}

// sines and cosines are the coefficients of the hyperbolic sine over x and of the hyperbolic cosine, by powers of x²;
// excess is their difference. With -x² in the place of x² the first two give the sine and the cosine.
var sines, cosines, excess = func() (s, c, d [9]float64) {
	n := 1.0 // exact up to 18!
	for i := range s {
		c[i] = 1 / n
		n = float64(n * float64(2*i+1))
		s[i] = 1 / n
		d[i] = -float64(float64(2*i) * s[i])
		n = float64(n * float64(2*i+2))
	}
	return s, c, d
}()

// halfPi is π/2 in three parts, of which the first two have 20 trailing zeros and more.
var halfPi = [...]float64{0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69}

// MaxAngle is the largest angle that [Sincos] takes.
const MaxAngle = 1 << 20

// Sincos returns the sine and the cosine of x radians, NaN for an |x| above MaxAngle.
func Sincos(x float64) (sin, cos float64) {
	if !(math.Abs(x) <= MaxAngle) {
		return math.NaN(), math.NaN()
	}
	k := math.Round(float64(x / (math.Pi / 2)))
	r := ((x - float64(k*halfPi[0])) - float64(k*halfPi[1])) - float64(k*halfPi[2])
	square := -float64(r * r)
	sin = r + float64(float64(r*square)*series(square, sines[1:]))
	cos = series(square, cosines[:])
	switch int(k) & 3 {
	case 1:
		return cos, -sin
	case 2:
		return -sin, -cos
	case 3:
		return -cos, sin
	}
	return sin, cos
}
